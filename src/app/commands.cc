// SPDX-License-Identifier: Apache-2.0
#include "takt/app/commands.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

#include "takt/app/backup.h"
#include "takt/app/db_commands.h"
#include "takt/app/server.h"
#include "takt/app/stop.h"
#include "takt/base/file.h"
#include "takt/base/log.h"
#include "takt/cli/cli.h"
#include "takt/gateway/gateway.h"
#include "takt/jobs/halt.h"
#include "takt/serve/server.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace takt::app {
namespace {

constexpr std::int64_t kStopGraceMs = 5'000;
constexpr std::int64_t kStopPatienceMs = 60'000;

std::map<std::string, std::string> environment_map() {
  std::map<std::string, std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry(*at);
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos)
      variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

int print_failure(const char* command, const Error& error) {
  std::fprintf(stderr, "takt %s: %s\n", command, error.text().c_str());
  return code_names(error.code).exit_code;
}

bool asks_for_help(const std::vector<std::string>& words) {
  return std::ranges::find(words, "--help") != words.end() ||
         std::ranges::find(words, "-h") != words.end();
}

int server_command(const std::vector<std::string>& words) {
  if (asks_for_help(words)) {
    std::fputs(settings_help().c_str(), stdout);
    return 0;
  }
  const auto settings = Settings::load(words, environment_map());
  if (!settings) return print_failure("server", settings.error());
  return run_server(*settings);
}

/// Parses flags with CLI11; -1 to go on, else the exit code.
int parse_flags(CLI::App& app, const std::vector<std::string>& words) {
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    const bool is_wrong = error.get_exit_code() != 0;
    app.exit(error);
    return is_wrong ? 2 : 0;
  }
  return -1;
}

int infer_command(const std::vector<std::string>& words) {
  serve::InferOptions options;
  std::string model, ports_dir;
  CLI::App app{"one model behind HTTP and gRPC (Open Inference Protocol v2)", "takt infer"};
  app.add_option("--model,--model-dir", model, "ONNX file, or a folder that holds one")->required();
  app.add_option("--model-name", options.model_name, "default: the folder's or file's name");
  app.add_option("--model-version", options.model_version, "as clients see it");
  app.add_option("--host", options.host, "address to listen on");
  app.add_option("--http-port", options.http_port, "0: any free one");
  app.add_option("--grpc-port", options.grpc_port, "0: any free one, -1: none");
  app.add_option("--max-batch-size", options.batch_rows_max,
                 "rows gathered into one run; 0: no batching");
  app.add_option("--max-delay-us", options.batch_delay_us, "how long a batch waits for more");
  app.add_option("--threads", options.threads, "within one run of the model");
  app.add_option("--instances", options.instances, "runs at the same time");
  app.add_option("--queue-requests-max", options.queue_requests_max,
                 "waiting requests; more are refused");
  app.add_option("--body-bytes-max", options.body_bytes_max, "largest request body");
  app.add_option("--deadline-ms", options.deadline_ms, "of one inference");
  app.add_option("--drain-ms", options.drain_ms, "for requests in flight at SIGTERM");
  app.add_option("--revision", options.revision, "header Takt-Revision of every answer");
  app.add_option("--ports-dir", ports_dir, "folder that gets files http and grpc with host:port");
  app.add_option("--token", options.token,
                 "service token; needed on other addresses than loopback");
  if (const int code = parse_flags(app, words); code >= 0) return code;
  options.model = model;
  options.ports_dir = ports_dir;
  log_setup(LogLevel::kInfo, LogFormat::kAuto);
  return serve::infer_main(std::move(options));
}

int gateway_command(const std::vector<std::string>& words) {
  gateway::GatewayOptions options;
  std::string folder;
  CLI::App app{"the data path of services; the server starts it", "takt gateway"};
  app.add_option("--folder", folder, "DATA/gateway: holds snapshot.json, gets stats.json")
      ->required();
  app.add_option("--http", options.http, "host:port");
  app.add_option("--grpc", options.grpc, "host:port; empty: none");
  app.add_option("--network-threads", options.network_threads, "threads that move bytes");
  app.add_option("--body-bytes-max", options.body_bytes_max, "largest request body");
  app.add_option("--deadline-ms", options.deadline_ms, "of one request");
  app.add_option("--drain-ms", options.drain_ms, "for requests in flight at SIGTERM");
  if (const int code = parse_flags(app, words); code >= 0) return code;
  options.folder = folder;
  log_setup(LogLevel::kInfo, LogFormat::kAuto);
  return gateway::gateway_main(std::move(options));
}

int restore_command(const std::vector<std::string>& words) {
  std::string backup, data_dir;
  CLI::App app{"copy a backup into a new data folder", "takt restore"};
  app.add_option("backup", backup, "folder that `takt backup` printed")->required();
  app.add_option("--data-dir", data_dir, "new data folder; default: as takt server has it");
  if (const int code = parse_flags(app, words); code >= 0) return code;
  const std::string target = data_dir_of(data_dir);
  if (const Status restored = restore_backup(backup, target); !restored)
    return print_failure("restore", restored.error());
  std::printf("restored %s into %s\n", backup.c_str(), target.c_str());
  return 0;
}

/// Jobs, replicas and the gateway, while the folder's lock keeps a new server away.
Status stop_the_rest(const std::filesystem::path& data_dir) {
  TAKT_ASSIGN(const Fd lock, lock_file(data_dir / "server.lock"));
  TAKT_ASSIGN(const jobs::Halted halted,
              jobs::halt_attempts(data_dir, kStopGraceMs, kStopPatienceMs));
  if (halted.still_runs > 0)
    return fail(Code::kTimeout,
                std::to_string(halted.still_runs) + " of " + std::to_string(halted.asked) +
                    " processes have not ended within " + std::to_string(kStopPatienceMs / 1000) +
                    " s",
                "call it again");
  std::printf("ended %d running jobs, replicas and gateways\n", halted.asked);
  return {};
}

int stop_command(const std::vector<std::string>& words) {
  std::string folder;
  bool is_all = false;
  CLI::App app{"end the server of a data folder; jobs, replicas and the gateway go on",
               "takt stop"};
  app.add_option("--data-dir", folder, "default: as takt server has it");
  app.add_flag("--all", is_all,
               "end jobs, replicas and the gateway too; the next server runs them again");
  if (const int code = parse_flags(app, words); code >= 0) return code;
  const std::filesystem::path data_dir = std::filesystem::absolute(data_dir_of(folder));
  if (!std::filesystem::is_directory(data_dir))
    return print_failure("stop", Error{Code::kNotFound, "no data folder " + data_dir.string(),
                                       "name it with --data-dir", ""});
  const auto stopped = stop_server(data_dir, kStopPatienceMs);
  if (!stopped) return print_failure("stop", stopped.error());
  std::printf(*stopped ? "the server of %s has ended\n" : "no server runs on %s\n",
              data_dir.c_str());
  if (!is_all) {
    if (*stopped) std::printf("jobs, replicas and the gateway go on; --all ends them too\n");
    return 0;
  }
  const Status rest = stop_the_rest(data_dir);
  return rest ? 0 : print_failure("stop", rest.error());
}

}  // namespace

int run_command(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words[0];
  const std::vector<std::string> rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (command == "server") return server_command(rest);
  if (command == "gateway") return gateway_command(rest);
  if (command == "infer") return infer_command(rest);
  if (command == "stop") return stop_command(rest);
  if (command == "restore") return restore_command(rest);
  if (command == "db") return db_command(rest, environment_map());
  return cli::run(words);
}

}  // namespace takt::app
