// SPDX-License-Identifier: Apache-2.0
// How a station's commands are declared: the parser is built, the chosen command kept, then run.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "takt/cli/session.h"

namespace CLI {
class App;
}

namespace takt::cli {

/// Runs with an open session. An Error is printed, its code becomes the exit code.
using Command = std::function<Status(Session&)>;

/// Collects what the parser chose.
struct Chosen {
  Command command;
};

/// Declares a command: `on` is its sub-parser.
void declare(CLI::App* on, Chosen& chosen, Command command);

// One per station, each in its own file.
void add_data_commands(CLI::App& app, Chosen& chosen);
void add_job_commands(CLI::App& app, Chosen& chosen);
void add_model_commands(CLI::App& app, Chosen& chosen);
void add_run_commands(CLI::App& app, Chosen& chosen);
/// rules, check, approve, rollback … below `models`.
void add_gate_commands(CLI::App* models, Chosen& chosen);
/// runs diff, reproduce.
void add_reproduce_commands(CLI::App& app, Chosen& chosen);
void add_service_commands(CLI::App& app, Chosen& chosen);
void add_pipeline_commands(CLI::App& app, Chosen& chosen);
void add_access_commands(CLI::App& app, Chosen& chosen);
void add_audit_commands(CLI::App& app, Chosen& chosen);  // called by add_access_commands
void add_spine_commands(CLI::App& app, Chosen& chosen);

/// The work a command waited for ended badly; nothing more is printed, exit code 1.
Error work_failed();
/// The work ended well and gave something else than before; nothing more is printed, exit code 7.
Error outcome_differs();
bool is_work_failed(const Error& error);

/// Reads the documents of a YAML file; kInvalid names file and line.
Result<std::vector<Value>> read_documents(const std::string& path);
/// The folder of a file.
std::string folder_of(const std::string& path);
/// A file of documents rather than the name of a stored thing or a command.
bool is_document_name(const std::string& word);

/// Follows a job to its end, its log printed when wanted; the job then.
Result<Value> follow_job(Session& session, std::int64_t number, bool with_log);

// `apply -f` dispatches on `kind`.
Status submit_document(Session& session, Value document, const std::string& folder);
Status apply_service(Session& session, const Value& document);
Status apply_model(Session& session, const Value& document);
Result<Value> apply_pipeline(Session& session, Value definition, const std::string& folder,
                             std::optional<bool> arm);

}  // namespace takt::cli
