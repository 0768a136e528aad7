// SPDX-License-Identifier: Apache-2.0
#include "takt/cli/cli.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "takt/base/file.h"
#include "takt/base/version.h"
#include "takt/cli/command.h"
#include "takt/cli/completion.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

constexpr std::string_view kWorkFailed = "the work failed";
constexpr std::string_view kDifferent = "the outcome differs";

constexpr const char* kFooter =
    "Processes: takt server, takt gateway, takt infer (each has its own --help).\n"
    "On a data folder: takt stop, takt restore, takt db check, takt db migrate.\n"
    "Exit codes: 0 done, 1 the awaited work failed, 2 wrong input, 3 not allowed, 4 not found,\n"
    "5 conflict, 6 exhausted, 7 reproduced but different, 69 server not reachable, 70 internal, 75 "
    "timed out.";

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

/// "takt dat ls", "takt data sl" -> the nearest command, before CLI11's own wording.
Status check_command(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  std::string path = "takt";
  for (const std::string& word : words) {
    const auto names = command_names(*app);
    if (names.empty() || word.starts_with("-")) return {};
    if (std::ranges::find(names, word) == names.end()) {
      const std::string near = nearest_name(word, names);
      const std::string called = (path + " " + word).substr(5);
      return fail(
          Code::kInvalid, "there is no command '" + called + "'",
          near.empty() ? "see `" + path + " --help`" : "did you mean '" + path + " " + near + "'?");
    }
    app = app->get_subcommand(word);
    path += " " + word;
  }
  return {};
}

/// "data add" of {"--json", "data", "add", "x"}: the command that the words name, for its --help.
std::string command_path(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  std::string path = "takt";
  for (const std::string& word : words) {
    const auto names = command_names(*app);
    if (std::ranges::find(names, word) == names.end()) continue;
    app = app->get_subcommand(word);
    path += " " + word;
  }
  return path;
}

int finish(const Status& status) {
  if (status) return 0;
  if (is_work_failed(status.error())) return 1;
  if (status.error().message == kDifferent) return 7;
  print_error(status.error());
  return code_names(status.error().code).exit_code;
}

int parse_and_run(CLI::App& app, Chosen& chosen, CommonFlags& flags,
                  const std::vector<std::string>& words) {
  if (const Status known = check_command(app, words); !known) return finish(known);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error);
      return 0;
    }
    return finish(
        fail(Code::kInvalid, error.what(), "see `" + command_path(app, words) + " --help`"));
  }
  if (!chosen.command) {
    print_line(app.help());
    return 2;
  }
  auto session = Session::open(flags);
  if (!session) return finish(std::unexpected(session.error()));
  return finish(chosen.command(*session));
}

}  // namespace

void declare(CLI::App* on, Chosen& chosen, Command command) {
  // A group that is a command too (`jobs`) is called after its subcommand, which stays chosen.
  on->callback([&chosen, command = std::move(command)] {
    if (!chosen.command) chosen.command = command;
  });
}

Error work_failed() { return Error{Code::kInternal, std::string(kWorkFailed), "", ""}; }
Error outcome_differs() { return Error{Code::kInternal, std::string(kDifferent), "", ""}; }
bool is_work_failed(const Error& error) { return error.message == kWorkFailed; }

Result<std::vector<Value>> read_documents(const std::string& path) {
  TAKT_ASSIGN(const std::string text, read_file(path, 1 << 20));
  return parse_yaml_documents(text).transform_error(while_(path));
}

bool is_document_name(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json");
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

int run(const std::vector<std::string>& words) {
  CLI::App app{"takt: from raw data to a live service, one line", "takt"};
  app.footer(kFooter);
  app.set_version_flag("--version", "takt " + std::string(kVersion));
  app.fallthrough();
  app.require_subcommand(0, 1);
  CommonFlags flags;
  app.add_option("--url", flags.url, "address of the server [TAKT_URL]");
  app.add_option("--project", flags.project, "project to act in [TAKT_PROJECT]");
  app.add_flag("--json", flags.json, "print one JSON document");
  Chosen chosen;
  add_data_commands(app, chosen);
  add_job_commands(app, chosen);
  add_model_commands(app, chosen);
  add_run_commands(app, chosen);
  add_reproduce_commands(app, chosen);
  add_service_commands(app, chosen);
  add_pipeline_commands(app, chosen);
  add_spine_commands(app, chosen);
  add_access_commands(app, chosen);
  auto* version = app.add_subcommand("version", "print the version");
  declare(version, chosen, [](Session&) -> Status {
    print_line(kVersion);
    return {};
  });
  auto shell = std::make_shared<std::string>("bash");
  auto* completion =
      app.add_subcommand("completion", "print a completion script for bash, zsh or fish");
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  declare(completion, chosen, [&app, shell](Session&) -> Status {
    print_line(completion_script(app, *shell));
    return {};
  });
  return parse_and_run(app, chosen, flags, words);
}

}  // namespace takt::cli
