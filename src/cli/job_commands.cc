// SPDX-License-Identifier: Apache-2.0
// takt submit | jobs ls, show, cancel | logs
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

#include "takt/base/clock.h"
#include "takt/base/units.h"
#include "takt/cli/capture.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

constexpr std::int64_t kPollMs = 300;

bool is_final_state(const std::string& state) {
  return state == "succeeded" || state == "failed" || state == "cancelled";
}

std::string job_path(std::int64_t number) { return "/api/v1/jobs/" + std::to_string(number); }

Status print_job_line(Session& session, const Value& job) {
  if (session.json()) {
    print_json(job);
    return {};
  }
  print_line("job " + cell(job, "number") + "  " + cell(job, "name") + "  " + cell(job, "state") +
             (job.has("run") ? "  run " + cell(job, "run") : ""));
  return {};
}

/// Prints what the log has from `offset` on; the offset after it.
Result<std::int64_t> print_log(Session& session, std::int64_t number, int attempt,
                               std::int64_t offset) {
  while (true) {
    std::int64_t got = 0;
    TAKT_ASSIGN(const int status,
                session.client().download(session.with_project(job_path(number) + "/log?attempt=" +
                                                               std::to_string(attempt) +
                                                               "&from=" + std::to_string(offset)),
                                          [&](std::string_view bytes) {
                                            std::fwrite(bytes.data(), 1, bytes.size(), stdout);
                                            got += static_cast<std::int64_t>(bytes.size());
                                            return true;
                                          }));
    if (status == 404) return offset;  // the attempt has no log yet
    if (status >= 400)
      return fail(Code::kInternal, "reading the log answered " + std::to_string(status));
    std::fflush(stdout);
    offset += got;
    if (got == 0) return offset;
  }
}

/// Follows a job to its end; the job then.
Result<Value> follow(Session& session, std::int64_t number, bool with_log) {
  std::int64_t offset = 0;
  int attempt = 0;
  while (true) {
    TAKT_ASSIGN(const Value job, session.get(job_path(number)));
    const int now =
        static_cast<int>(job["attempts"].is_array() ? job["attempts"].as_array().size() : 0);
    for (; with_log && attempt < now; ++attempt) {
      if (attempt > 0) {
        TAKT_RETURN_IF_ERROR(print_log(session, number, attempt, offset));
        print_line("--- attempt " + std::to_string(attempt + 1));
      }
      offset = 0;
    }
    if (with_log && attempt > 0) {
      TAKT_ASSIGN(offset, print_log(session, number, attempt, offset));
    }
    if (is_final_state(cell(job, "state"))) return job;
    takt::system_clock().sleep_ms(kPollMs);
  }
}

Status wait_for(Session& session, const Value& job) {
  TAKT_ASSIGN(const Value ended, follow(session, job.int_or("number", 0), !session.json()));
  if (session.json())
    print_json(ended);
  else if (cell(ended, "state") == "succeeded")
    return print_job_line(session, ended);
  else
    print_error(Error{
        Code::kInternal,
        "job " + cell(ended, "number") + " " + cell(ended, "state") + ": " + cell(ended, "reason"),
        "see `takt why job/" + cell(ended, "number") + "`", ""});
  if (cell(ended, "state") != "succeeded") return fail(work_failed());
  return {};
}

struct SubmitOptions {
  std::vector<std::string> words;
  std::vector<std::string> inputs, params, outputs;
  std::string name, cpu, memory, timeout, experiment;
  std::int64_t priority = 5, seed = 0, retries = 0;
  bool wait = false;
};

Result<std::pair<std::string, std::string>> key_and_value(const std::string& text,
                                                          const char* flag) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(Code::kInvalid, std::string(flag) + " '" + text + "' is not NAME=VALUE");
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

Result<Value> document_of_command(const SubmitOptions& options) {
  Array command;
  for (const std::string& word : options.words) command.push_back(word);
  Object spec{{"command", std::move(command)}, {"code", "."}};
  Object inputs, params, outputs, resources;
  for (const std::string& text : options.inputs) {
    TAKT_ASSIGN(const auto pair, key_and_value(text, "--input"));
    inputs[pair.first] = pair.second;
  }
  for (const std::string& text : options.params) {
    TAKT_ASSIGN(const auto pair, key_and_value(text, "--param"));
    TAKT_ASSIGN(params[pair.first], parse_yaml(pair.second));
  }
  for (const std::string& text : options.outputs) {
    TAKT_ASSIGN(const auto pair, key_and_value(text, "--output"));
    outputs[pair.first] = Object{{"kind", pair.second}};
  }
  if (!options.cpu.empty()) resources["cpu"] = options.cpu;
  if (!options.memory.empty()) resources["memory"] = options.memory;
  if (!inputs.empty()) spec["inputs"] = std::move(inputs);
  if (!params.empty()) spec["params"] = std::move(params);
  if (!outputs.empty()) spec["outputs"] = std::move(outputs);
  if (!resources.empty()) spec["resources"] = std::move(resources);
  if (!options.timeout.empty()) spec["timeout"] = options.timeout;
  if (!options.experiment.empty()) spec["experiment"] = options.experiment;
  if (options.retries > 0) spec["retries"] = Object{{"max", options.retries}};
  if (options.seed != 0) spec["seed"] = options.seed;
  spec["priority"] = options.priority;
  std::string name = options.name;
  if (name.empty()) name = std::filesystem::path(options.words.front()).filename().string();
  return Value(Object{{"kind", "Job"}, {"name", name}, {"spec", std::move(spec)}});
}

Result<Value> send_document(Session& session, Value document, const std::string& folder) {
  if (document["spec"].is_object())
    TAKT_RETURN_IF_ERROR(complete_job_spec(session, document["spec"], folder));
  return session.post("/api/v1/jobs", document);
}

Status submit(Session& session, const SubmitOptions& options) {
  const bool is_file = options.words.size() == 1 && is_document_name(options.words[0]);
  Value document;
  std::string folder = ".";
  if (is_file) {
    TAKT_ASSIGN(const auto documents, read_documents(options.words[0]));
    if (documents.size() != 1)
      return fail(Code::kInvalid, options.words[0] + " holds " + std::to_string(documents.size()) +
                                      " documents, one job is wanted");
    document = documents[0];
    folder = folder_of(options.words[0]);
  } else {
    TAKT_ASSIGN(document, document_of_command(options));
  }
  TAKT_ASSIGN(const Value job, send_document(session, std::move(document), folder));
  if (options.wait) return wait_for(session, job);
  return print_job_line(session, job);
}

Status jobs_ls(Session& session, const std::string& state, const std::string& text) {
  std::string query = "/api/v1/jobs?page_size=100";
  if (!state.empty()) query += "&state=" + segment(state);
  if (!text.empty()) query += "&q=" + segment(text);
  TAKT_ASSIGN(const Value answer, session.get(query));
  if (session.json()) {
    print_json(answer);
    return {};
  }
  Table table({"JOB", "STATE", "NAME", "BY", "SUBMITTED", "REASON"});
  for (const Value& job : answer["items"].as_array())
    table.add({cell(job, "number"), cell(job, "state"), cell(job, "name"),
               cell(job, "submitted_by"), short_time(cell(job, "submitted_at")),
               cell(job, "reason")});
  if (table.empty())
    print_line("no jobs; submit one with `takt submit -- COMMAND`");
  else
    table.print();
  return {};
}

Status jobs_show(Session& session, std::int64_t number) {
  TAKT_ASSIGN(const Value job, session.get(job_path(number)));
  if (session.json()) {
    print_json(job);
    return {};
  }
  print_line("job " + cell(job, "number") + "  " + cell(job, "name") + "  " + cell(job, "state"));
  if (job.has("reason") && !cell(job, "reason").empty())
    print_line("  reason     " + cell(job, "reason"));
  print_line("  submitted  " + short_time(cell(job, "submitted_at")) + " by " +
             cell(job, "submitted_by"));
  if (job.has("run")) print_line("  run        " + cell(job, "run"));
  if (job["attempts"].is_array())
    for (const Value& attempt : job["attempts"].as_array())
      print_line("  attempt " + cell(attempt, "number") + "  " + cell(attempt, "state") +
                 (attempt.has("exit_code") ? "  exit code " + cell(attempt, "exit_code") : "") +
                 (cell(attempt, "reason").empty() ? "" : "  " + cell(attempt, "reason")));
  for (const char* side : {"inputs", "outputs"})
    if (job[side].is_object())
      for (const auto& [name, value] : job[side].as_object())
        print_line("  " + std::string(side).substr(0, std::string(side).size() - 1) + " " + name +
                   "  " + cell(value, "ref"));
  return {};
}

Status logs(Session& session, std::int64_t number, bool is_following, int attempt) {
  if (is_following) {
    TAKT_ASSIGN(const Value job, follow(session, number, true));
    return cell(job, "state") == "succeeded" ? Status() : Status(fail(work_failed()));
  }
  TAKT_RETURN_IF_ERROR(session.get(job_path(number)));  // kNotFound names the job
  TAKT_RETURN_IF_ERROR(print_log(session, number, attempt, 0));
  return {};
}

}  // namespace

Result<Value> follow_job(Session& session, std::int64_t number, bool with_log) {
  return follow(session, number, with_log);
}

Status submit_document(Session& session, Value document, const std::string& folder) {
  TAKT_ASSIGN(const Value job, send_document(session, std::move(document), folder));
  return print_job_line(session, job);
}

void add_job_commands(CLI::App& app, Chosen& chosen) {
  const auto o = std::make_shared<SubmitOptions>();
  auto* submit_command =
      app.add_subcommand("submit", "submit a job: takt submit job.yaml, or takt submit -- COMMAND");
  submit_command->add_option("words", o->words, "a Job file, or after -- the command")->required();
  submit_command->add_option("--name", o->name, "name of the job");
  submit_command->add_option("--input", o->inputs, "NAME=DATASET@N")->allow_extra_args(false);
  submit_command->add_option("-p,--param", o->params, "NAME=VALUE")->allow_extra_args(false);
  submit_command->add_option("--output", o->outputs, "NAME=KIND (model, artifact, json, dataset)")
      ->allow_extra_args(false);
  submit_command->add_option("--cpu", o->cpu, "such as 500m");
  submit_command->add_option("--memory", o->memory, "such as 1GiB");
  submit_command->add_option("--timeout", o->timeout, "such as 10m");
  submit_command->add_option("--experiment", o->experiment, "where its run goes");
  submit_command->add_option("--priority", o->priority, "1 to 9, 9 first");
  submit_command->add_option("--retries", o->retries, "attempts after a failed one");
  submit_command->add_option("--seed", o->seed, "of the job");
  submit_command->add_flag("--wait", o->wait, "print the log and wait for the end");
  declare(submit_command, chosen, [o](Session& s) { return submit(s, *o); });

  struct Options {
    std::string state, text;
    std::int64_t number = 0;
    bool follow = false;
    int attempt = 0;
  };
  const auto j = std::make_shared<Options>();
  auto* jobs = app.add_subcommand("jobs", "submitted work");
  jobs->add_option("--state", j->state, "waiting, running, … or open");
  declare(jobs, chosen, [j](Session& s) { return jobs_ls(s, j->state, j->text); });
  auto* ls = jobs->add_subcommand("ls", "list jobs");
  ls->add_option("--state", j->state, "waiting, running, … or open");
  ls->add_option("-q", j->text, "text in the name");
  declare(ls, chosen, [j](Session& s) { return jobs_ls(s, j->state, j->text); });
  auto* show = jobs->add_subcommand("show", "show a job");
  show->add_option("job", j->number, "number")->required();
  declare(show, chosen, [j](Session& s) { return jobs_show(s, j->number); });
  auto* cancel = jobs->add_subcommand("cancel", "stop a job and its whole process tree");
  cancel->add_option("job", j->number, "number")->required();
  declare(cancel, chosen, [j](Session& s) -> Status {
    TAKT_ASSIGN(const Value job, s.post(job_path(j->number) + "/cancel", Object{}));
    return print_job_line(s, job);
  });
  auto* logs_command = app.add_subcommand("logs", "print a job's log");
  logs_command->add_option("job", j->number, "number")->required();
  logs_command->add_flag("-f,--follow", j->follow, "until the job ends");
  logs_command->add_option("--attempt", j->attempt, "default: the last");
  declare(logs_command, chosen,
          [j](Session& s) { return logs(s, j->number, j->follow, j->attempt); });
}

}  // namespace takt::cli
