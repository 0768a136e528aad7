// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/sqlite_connection.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "takt/base/file.h"

namespace takt::store::internal {
namespace {

constexpr std::size_t kSqliteStatementsMax = 512;
constexpr int kSqliteBusyTimeoutMs = 5000;
constexpr int kSqliteOpsPerDeadlineCheck = 10'000;

int compare_bytes(void*, int a_size, const void* a, int b_size, const void* b) {
  const int order = std::memcmp(a, b, static_cast<std::size_t>(std::min(a_size, b_size)));
  return order != 0 ? order : a_size - b_size;
}

Code sqlite_code(int result) {
  switch (result & 0xff) {
    case SQLITE_CONSTRAINT:
      return result == SQLITE_CONSTRAINT_DATATYPE ? Code::kInternal : Code::kConflict;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return Code::kExhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Code::kUnavailable;
    case SQLITE_TOOBIG:
      return Code::kTooLarge;
    case SQLITE_INTERRUPT:
      return Code::kTimeout;
    default:
      return Code::kInternal;
  }
}

Error sqlite_error(sqlite3* db, int result, std::string_view sql) {
  Error error{.code = sqlite_code(result)};
  const std::string said = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(result);
  switch (error.code) {
    case Code::kConflict:
      error.message = "the database refused a row: " + said;
      break;
    case Code::kExhausted:
      error.message = "the database cannot write: " + said;
      error.hint = "free disk space below the data directory";
      break;
    case Code::kUnavailable:
      error.message = "the database is busy: " + said;
      error.hint = "another program holds the database; try again";
      break;
    case Code::kTimeout:
      error.message = "the query took longer than its deadline";
      break;
    default:
      error.message = "database error: " + said;
      if (!sql.empty()) error.message += " in \"" + std::string(sql.substr(0, 120)) + "\"";
  }
  return error;
}

int bind_cell(sqlite3_stmt* stmt, int index, const Cell& cell) {
  if (const auto* i = std::get_if<std::int64_t>(&cell)) return sqlite3_bind_int64(stmt, index, *i);
  if (const auto* d = std::get_if<double>(&cell)) return sqlite3_bind_double(stmt, index, *d);
  if (const auto* s = std::get_if<std::string>(&cell)) {
    return sqlite3_bind_text64(stmt, index, s->data(), s->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  if (const auto* b = std::get_if<Bytes>(&cell)) {
    return sqlite3_bind_blob64(stmt, index, b->value.data(), b->value.size(), SQLITE_STATIC);
  }
  return sqlite3_bind_null(stmt, index);
}

Cell column_cell(sqlite3_stmt* stmt, int i) {
  const auto size = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(stmt, i)); };
  switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(stmt, i));
    case SQLITE_FLOAT:
      return sqlite3_column_double(stmt, i);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(stmt, i));
      return std::string(text, size());
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(stmt, i));
      return Bytes{bytes == nullptr ? std::string() : std::string(bytes, size())};
    }
    default:
      return std::monostate{};
  }
}

Row column_row(sqlite3_stmt* stmt) {
  const int count = sqlite3_column_count(stmt);
  std::vector<Cell> cells;
  cells.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) cells.push_back(column_cell(stmt, i));
  return Row(std::move(cells));
}

/// Copies all pages in one step: a consistent state, without keeping the writer waiting.
int copy_pages(sqlite3* from, sqlite3* to) {
  sqlite3_backup* backup = sqlite3_backup_init(to, "main", from, "main");
  if (backup == nullptr) return sqlite3_errcode(to);
  const int result = sqlite3_backup_step(backup, -1);
  const int end = sqlite3_backup_finish(backup);
  return result == SQLITE_DONE ? end : result;
}

}  // namespace

Result<std::unique_ptr<Connection>> SqliteEngine::connect(Access access) {
  const int flags =
      access == Access::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* db = nullptr;
  const int result = sqlite3_open_v2(path_.c_str(), &db,
                                     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  auto connection = std::make_unique<SqliteConnection>(db, clock_);
  if (result != SQLITE_OK) {
    return fail(while_("opening the database " + path_)(sqlite_error(db, result, {})));
  }
  TAKT_RETURN_IF_ERROR(connection->prepare_session(access, sync_full_)
                           .transform_error(while_("opening the database " + path_)));
  return connection;
}

Status SqliteEngine::backup_to(const std::string& path) {
  if (std::error_code error; std::filesystem::exists(path, error)) {
    return fail(Code::kConflict, "the backup " + path + " exists already");
  }
  TAKT_ASSIGN(auto source, connect(Access::kRead));
  sqlite3* target = nullptr;
  int result =
      sqlite3_open_v2(path.c_str(), &target,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE, nullptr);
  if (result == SQLITE_OK) {
    result = copy_pages(static_cast<SqliteConnection&>(*source).handle(), target);
  }
  const Error error = sqlite_error(target, result, {});
  sqlite3_close_v2(target);
  if (result != SQLITE_OK) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return fail(while_("writing the backup " + path)(error));
  }
  return sync_dir(std::filesystem::absolute(path).parent_path());
}

SqliteConnection::~SqliteConnection() {
  forget_statements();
  sqlite3_close_v2(db_);
}

Status SqliteConnection::prepare_session(Access access, bool sync_full) {
  sqlite3_busy_timeout(db_, kSqliteBusyTimeoutMs);
  sqlite3_create_collation_v2(db_, "C", SQLITE_UTF8, nullptr, compare_bytes, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_progress_handler(
      db_, kSqliteOpsPerDeadlineCheck,
      [](void* self) { return static_cast<SqliteConnection*>(self)->is_late() ? 1 : 0; }, this);
  std::string pragmas = "PRAGMA temp_store=MEMORY; PRAGMA case_sensitive_like=ON;";
  if (access == Access::kRead) {
    pragmas += "PRAGMA cache_size=-8192; PRAGMA query_only=ON;";
  } else {
    pragmas += "PRAGMA journal_mode=WAL; PRAGMA cache_size=-65536;";
    pragmas += "PRAGMA journal_size_limit=67108864;";
    pragmas += sync_full ? "PRAGMA synchronous=FULL;" : "PRAGMA synchronous=OFF;";
  }
  // A migration may rebuild a table that others refer to; run_script checks the keys at its end.
  pragmas += access == Access::kMigrate ? "PRAGMA foreign_keys=OFF;" : "PRAGMA foreign_keys=ON;";
  const int result = sqlite3_exec(db_, pragmas.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return fail(sqlite_error(db_, result, {}));
  return {};
}

bool SqliteConnection::is_late() const { return has_deadline_ && clock_.mono() > deadline_.at; }

void SqliteConnection::forget_statements() {
  for (auto& [text, stmt] : statements_) sqlite3_finalize(stmt);
  statements_.clear();
}

Result<sqlite3_stmt*> SqliteConnection::statement(std::string_view sql) {
  if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
  if (statements_.size() >= kSqliteStatementsMax) forget_statements();
  sqlite3_stmt* stmt = nullptr;
  const char* rest = nullptr;
  const int result = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &stmt, &rest);
  if (result != SQLITE_OK) return fail(sqlite_error(db_, result, sql));
  if (stmt == nullptr) return fail(Code::kInternal, "empty database statement");
  statements_.emplace(sql, stmt);
  return stmt;
}

Status SqliteConnection::run(std::string_view sql, const Params& params, const TakeRow& take) {
  TAKT_RETURN_IF_ERROR(check_params(params));
  TAKT_ASSIGN(sqlite3_stmt * stmt, statement(sql));
  const int wanted = sqlite3_bind_parameter_count(stmt);
  if (static_cast<std::size_t>(wanted) != params.size()) {
    return fail(Code::kInternal, "statement with " + std::to_string(wanted) + " parameters got " +
                                     std::to_string(params.size()) + ": \"" +
                                     std::string(sql.substr(0, 120)) + "\"");
  }
  int result = SQLITE_OK;
  for (int i = 0; i < wanted && result == SQLITE_OK; ++i) {
    result = bind_cell(stmt, i + 1, params[static_cast<std::size_t>(i)]);
  }
  Status status;
  if (result == SQLITE_OK) {
    while ((result = sqlite3_step(stmt)) == SQLITE_ROW && status) {
      if (take) status = take(column_row(stmt));
    }
  }
  if (status && result != SQLITE_DONE) status = fail(sqlite_error(db_, result, sql));
  sqlite3_reset(stmt);
  sqlite3_clear_bindings(stmt);
  return status;
}

Result<Rows> SqliteConnection::query(std::string_view sql, const Params& params) {
  Rows rows;
  TAKT_RETURN_IF_ERROR(run(sql, params, [&rows](Row row) -> Status {
    rows.push_back(std::move(row));
    return {};
  }));
  return rows;
}

Result<std::int64_t> SqliteConnection::exec(std::string_view sql, const Params& params) {
  TAKT_RETURN_IF_ERROR(run(sql, params, {}));
  return static_cast<std::int64_t>(sqlite3_changes64(db_));
}

Status SqliteConnection::each_row(std::string_view sql,
                                  const std::function<Status(const Row&)>& take) {
  return run(sql, {}, take);
}

Status SqliteConnection::run_script(std::string_view script) {
  const int result = sqlite3_exec(db_, std::string(script).c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return fail(sqlite_error(db_, result, {}));
  TAKT_ASSIGN(const Rows broken, query("PRAGMA foreign_key_check", {}));
  if (!broken.empty()) {
    return fail(Code::kInternal, "the migration leaves a row of " + broken[0].text(0) +
                                     " that refers to a missing row of " + broken[0].text(2));
  }
  return {};
}

Status SqliteConnection::begin_write() { return run_plain("BEGIN IMMEDIATE"); }

Status SqliteConnection::begin_read(std::int64_t timeout_ms) {
  deadline_ = Deadline::after_ms(clock_, timeout_ms);
  has_deadline_ = true;
  return run_plain("BEGIN");
}

Status SqliteConnection::commit() {
  has_deadline_ = false;
  return run_plain("COMMIT");
}

void SqliteConnection::rollback() {
  has_deadline_ = false;
  if (in_transaction()) static_cast<void>(run_plain("ROLLBACK"));
}

Status SqliteConnection::begin_part() { return run_plain("SAVEPOINT part"); }

Status SqliteConnection::keep_part() { return run_plain("RELEASE part"); }

Status SqliteConnection::drop_part() {
  TAKT_RETURN_IF_ERROR(run_plain("ROLLBACK TO part"));
  return run_plain("RELEASE part");
}

bool SqliteConnection::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

}  // namespace takt::store::internal
