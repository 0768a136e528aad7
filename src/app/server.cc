// SPDX-License-Identifier: Apache-2.0
#include "takt/app/server.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "takt/app/platform.h"
#include "takt/app/stop.h"
#include "takt/base/file.h"
#include "takt/base/log.h"

namespace takt::app {
namespace {

namespace fs = std::filesystem;

void block_stop_signals(sigset_t& signals) {
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

Result<LogLevel> log_level_of(const std::string& name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "info") return LogLevel::kInfo;
  if (name == "warn") return LogLevel::kWarn;
  if (name == "error") return LogLevel::kError;
  return fail(Code::kInvalid, "log_level: '" + name + "' is no level",
              "use debug, info, warn or error", "log_level");
}

Result<LogFormat> log_format_of(const std::string& name) {
  if (name == "auto") return LogFormat::kAuto;
  if (name == "text") return LogFormat::kText;
  if (name == "json") return LogFormat::kJson;
  return fail(Code::kInvalid, "log_format: '" + name + "' is no format", "use text, json or auto",
              "log_format");
}

/// The folder, made on first use, and its lock: one server per data folder.
Result<Fd> claim_data_dir(const fs::path& data_dir) {
  TAKT_RETURN_IF_ERROR(make_dirs(data_dir, 0700));
  auto lock = lock_file(data_dir / "server.lock");
  if (!lock && lock.error().code == Code::kConflict)
    return fail(Code::kConflict, "another takt server runs on " + data_dir.string(),
                "stop it (takt stop), or choose another folder with --data-dir");
  if (lock) TAKT_RETURN_IF_ERROR(note_server_process(lock->get()));
  return lock;
}

void greet(const Platform& platform, const fs::path& data_dir, const Settings& settings) {
  log_info(
      "the server is ready",
      {{"url", platform.url()}, {"data_dir", data_dir.string()}, {"auth", settings.text("auth")}});
  if (!settings.is_on("auth"))
    log_warn("authentication is off: everyone who reaches this port is admin",
             {{"url", platform.url()}});
  // The token itself is shown on a terminal only, never in a log file.
  if (isatty(STDOUT_FILENO) == 0 || !settings.is_on("auth")) return;
  const auto token = read_file(data_dir / "admin-token", 4096);
  if (token)
    std::printf("\nconsole: %s\nsign in with the admin token: %s\n", platform.url().c_str(),
                token->c_str());
  std::fflush(stdout);
}

Result<int> serve(const Settings& settings) {
  TAKT_ASSIGN(const LogLevel level, log_level_of(settings.text("log_level")));
  TAKT_ASSIGN(const LogFormat format, log_format_of(settings.text("log_format")));
  log_setup(level, format);
  sigset_t signals;
  block_stop_signals(signals);
  const fs::path data_dir = fs::absolute(data_dir_of(settings.text("data_dir")));
  TAKT_ASSIGN(const Fd lock, claim_data_dir(data_dir));
  TAKT_ASSIGN(const auto platform, Platform::open(settings, data_dir, system_clock()));
  TAKT_RETURN_IF_ERROR(platform->start());
  greet(*platform, data_dir, settings);
  int received = 0;
  sigwait(&signals, &received);
  log_info("stopping: finishing what is in flight", {{"signal", received}});
  platform->stop();
  log_info("stopped; jobs, replicas and the gateway go on (takt stop --all ends them)");
  return 0;
}

}  // namespace

std::string data_dir_of(const std::string& setting) {
  if (!setting.empty()) return setting;
  if (const char* home = std::getenv("TAKT_HOME"); home != nullptr && *home != '\0') return home;
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != '\0')
    return std::string(data) + "/takt";
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "/root" : home) + "/.local/share/takt";
}

int run_server(const Settings& settings) {
  const auto code = serve(settings);
  if (code) return *code;
  std::fprintf(stderr, "takt server: %s\n", code.error().text().c_str());
  return code_names(code.error().code).exit_code;
}

}  // namespace takt::app
