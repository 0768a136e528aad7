// SPDX-License-Identifier: Apache-2.0
#include "takt/store/testing/postgres_server.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <vector>

#include "takt/base/clock.h"
#include "takt/base/process.h"

namespace takt::store::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStartTimeoutMs = 60'000;

/// The folder with initdb and postgres of the newest version.
Result<fs::path> find_binaries() {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    if (fs::exists(entry.path() / "bin/initdb")) folders.push_back(entry.path() / "bin");
  }
  if (folders.empty()) {
    return fail(Code::kNotFound,
                "the tests need PostgreSQL's server programs; /usr/lib/postgresql/*/bin has none",
                "run tools/setup.sh test, or apt-get install postgresql");
  }
  return *std::ranges::max_element(folders);
}

/// As root, PostgreSQL refuses to run: its package's user takes over.
std::vector<std::string> as_postgres(std::vector<std::string> command) {
  std::vector<std::string> whole{"setpriv", "--pdeathsig=QUIT"};
  if (::geteuid() == 0) {
    whole.insert(whole.end(), {"--reuid=postgres", "--regid=postgres", "--clear-groups"});
  }
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

Status give_to_postgres(const fs::path& folder) {
  if (::geteuid() != 0) return {};
  TAKT_ASSIGN(const Completed done,
              run({.command = {"chown", "postgres", folder.string()}}, 10'000));
  if (done.exit_code != 0) {
    return fail(Code::kInternal, "there is no user postgres to run PostgreSQL as: " + done.errors);
  }
  return {};
}

}  // namespace

Result<PostgresServer*> PostgresServer::shared() {
  static Result<std::unique_ptr<PostgresServer>> server = start();
  if (!server) return fail(server.error());
  return server->get();
}

Result<std::unique_ptr<PostgresServer>> PostgresServer::start() {
  TAKT_ASSIGN(const fs::path binaries, find_binaries());
  std::unique_ptr<PostgresServer> server(new PostgresServer());
  const std::string folder = server->folder_.path().string();
  const std::string data = folder + "/data";
  TAKT_RETURN_IF_ERROR(give_to_postgres(folder));
  TAKT_ASSIGN(const Completed done,
              run({.command = as_postgres({binaries / "initdb", "-D", data, "-U", "takt", "-E",
                                           "UTF8", "--locale=C", "-N", "--auth=trust"}),
                   .folder = "/"},
                  kStartTimeoutMs));
  if (done.exit_code != 0) return fail(Code::kInternal, "initdb: " + done.errors + done.output);
  const Fd log(::open((folder + "/log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644));
  TAKT_ASSIGN(
      server->pid_,
      spawn({.command = as_postgres({binaries / "postgres", "-D", data, "-k", folder, "-c",
                                     "listen_addresses=", "-c", "fsync=off", "-c",
                                     "synchronous_commit=off", "-c", "full_page_writes=off", "-c",
                                     "shared_buffers=32MB", "-c", "max_connections=200"}),
             .folder = "/",
             .stdout_fd = log.get(),
             .stderr_fd = log.get()}));
  TAKT_RETURN_IF_ERROR(server->wait_until_ready());
  return server;
}

PostgresServer::~PostgresServer() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGQUIT);  // at once: nothing is worth keeping
  ::waitpid(pid_, nullptr, 0);
}

std::string PostgresServer::uri_of(const std::string& database) const {
  return "postgresql:///" + database + "?user=takt&host=" + folder_.path().string();
}

Status PostgresServer::wait_until_ready() {
  const Clock& clock = system_clock();
  const Deadline deadline = Deadline::after_ms(clock, kStartTimeoutMs);
  Status status = run_sql("SELECT 1");
  while (!status && deadline.left_ms(clock) > 0) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = 0;
      const auto log = read_file(folder_.path() / "log");
      return fail(Code::kInternal, "PostgreSQL ended while starting: " + log.value_or("no log"));
    }
    clock.sleep_ms(10);
    status = run_sql("SELECT 1");
  }
  return status;
}

Status PostgresServer::run_sql(const std::string& sql) {
  PGconn* connection = PQconnectdb(uri_of("postgres").c_str());
  PGresult* result = PQexec(connection, sql.c_str());
  const auto answer = PQresultStatus(result);
  Status status;
  if (answer != PGRES_COMMAND_OK && answer != PGRES_TUPLES_OK) {
    status = fail(Code::kInternal, "test PostgreSQL: " + std::string(PQerrorMessage(connection)));
  }
  PQclear(result);
  PQfinish(connection);
  return status;
}

Result<std::string> PostgresServer::create_database() {
  static std::atomic<int> count = 0;
  const std::string name = "test_" + std::to_string(++count);
  TAKT_RETURN_IF_ERROR(run_sql("CREATE DATABASE " + name));
  return uri_of(name);
}

Status PostgresServer::drop_database(const std::string& uri) {
  const std::string name = uri.substr(14, uri.find('?') - 14);
  return run_sql("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
}

Status PostgresServer::cut_connections(const std::string& uri) {
  const std::string name = uri.substr(14, uri.find('?') - 14);
  return run_sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '" +
                 name + "'");
}

}  // namespace takt::store::testing
