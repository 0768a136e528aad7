// SPDX-License-Identifier: Apache-2.0
#include "takt/store/check.h"

#include <algorithm>

#include "takt/store/event_chain.h"
#include "takt/store/internal/blob_check.h"
#include "takt/store/internal/connection.h"
#include "takt/store/sql.h"

namespace takt::store {
namespace {

using internal::Access;
using internal::Connection;
using internal::ConnectionReader;

constexpr std::int64_t kStatementMs = 3600'000;

/// Runs `fn` on a snapshot; a statement that the engine cannot answer is a problem, not a failure.
template <class Fn>
bool looked_at(Connection& connection, CheckReport& report, std::string_view what, Fn fn) {
  Status status = connection.begin_read(kStatementMs);
  if (status) status = fn();
  connection.rollback();
  if (!status) report.add_problem(std::string(what) + ": " + status.error().message);
  return status.has_value();
}

Status check_pages(Connection& sqlite, const CheckOptions& options, CheckReport& report) {
  TAKT_ASSIGN(const Rows said, sqlite.query(options.is_quick ? "PRAGMA quick_check(100)"
                                                             : "PRAGMA integrity_check(100)",
                                            {}));
  for (const Row& row : said)
    if (row.text(0) != "ok") report.add_problem("database: " + row.text(0));
  return {};
}

Status check_references(Connection& sqlite, CheckReport& report) {
  TAKT_ASSIGN(const Rows broken, sqlite.query("PRAGMA foreign_key_check", {}));
  for (const Row& row : broken)
    report.add_problem("database: a row of " + row.text(0) + " refers to a missing row of " +
                       row.text(2));
  return {};
}

Result<Rows> table_names(Connection& connection, std::string_view dialect) {
  if (dialect == "sqlite")
    return connection.query(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' "
        "ESCAPE '!' ORDER BY name",
        {});
  return connection.query(
      "SELECT CAST(table_name AS TEXT) FROM information_schema.tables WHERE table_schema = "
      "current_schema() ORDER BY 1",
      {});
}

/// Reading every row of a table also finds pages that cannot be read.
void count_rows(Connection& connection, const std::string& table, CheckReport& report) {
  looked_at(connection, report, "table " + table, [&]() -> Status {
    TAKT_ASSIGN(const Rows counted, connection.query("SELECT COUNT(*) FROM \"" + table + "\"", {}));
    ++report.tables;
    report.rows += counted.at(0).integer(0);
    return {};
  });
}

void check_tables(Connection& connection, const CheckOptions& options, CheckReport& report) {
  if (report.dialect == "sqlite") {
    looked_at(connection, report, "database",
              [&] { return check_pages(connection, options, report); });
    looked_at(connection, report, "database", [&] { return check_references(connection, report); });
  }
  Rows names;
  looked_at(connection, report, "database", [&]() -> Status {
    TAKT_ASSIGN(names, table_names(connection, report.dialect));
    return {};
  });
  for (const Row& name : names) count_rows(connection, name.text(0), report);
}

void check_events(Connection& connection, CheckReport& report) {
  ChainWalk walk;
  ConnectionReader reader(connection);
  bool is_done = false, is_readable = true;
  while (!is_done && is_readable)
    is_readable = looked_at(connection, report, "event log", [&]() -> Status {
      TAKT_ASSIGN(is_done, walk.step(reader));
      return {};
    });
  report.events = walk.found().events;
  report.head = walk.found().head;
  if (!walk.found().is_intact()) report.add_problem("event log: " + walk.found().broken_reason);
}

}  // namespace

void CheckReport::add_problem(std::string text) {
  ++problems_found;
  if (problems.size() < kCheckProblemsMax) problems.push_back(std::move(text));
}

Result<CheckReport> check_store(const CheckOptions& options, const Clock& clock) {
  const bool is_file = !internal::is_postgres_uri(options.database);
  if (std::error_code error; is_file && !std::filesystem::exists(options.database, error))
    return fail(Code::kNotFound, "there is no database " + options.database,
                "name the data folder with --data-dir, or the database with --database");
  const auto engine = internal::make_engine({.location = options.database}, clock);
  CheckReport report{.dialect = std::string(engine->dialect())};
  auto connection = engine->connect(Access::kRead);
  if (!connection) {
    if (!is_file) return fail(std::move(connection).error());
    report.add_problem("database: " + connection.error().message);
    return report;
  }
  check_tables(**connection, options, report);
  check_events(**connection, report);
  internal::BlobCheck blobs(**connection, options, report);
  looked_at(**connection, report, "blobs", [&] { return blobs.load(); });
  looked_at(**connection, report, "blobs", [&] { return blobs.check_grants(); });
  blobs.check_content();
  blobs.check_orphans();
  return report;
}

}  // namespace takt::store
