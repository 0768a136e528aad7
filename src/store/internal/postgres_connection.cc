// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/postgres_connection.h"

#include <libpq-fe.h>

#include <algorithm>
#include <array>

#include "takt/store/internal/postgres_cells.h"

namespace takt::store::internal {
namespace {

constexpr std::size_t kPostgresStatementsMax = 512;
constexpr int kPostgresLockTimeoutMs = 10'000;
constexpr int kStatusAttemptsMax = 50;
constexpr std::size_t kFetchRows = 2000;
constexpr std::size_t kCopyBufferBytes = 256 << 10;

// Serialises all writing transactions of all servers on one database, so that event sequence
// follows commit order. The number is "takt" in ASCII.
constexpr std::int64_t kWriterLock = 0x74616b74;

/// Ends sessions of a server that hung or was cut off, so that it does not keep the writer lock.
constexpr std::string_view kSessionSettings =
    "SET client_encoding = 'UTF8'; SET bytea_output = 'hex'; SET extra_float_digits = 1; "
    "SET standard_conforming_strings = on; SET client_min_messages = warning; "
    "SET idle_in_transaction_session_timeout = '60s'";

}  // namespace

void PostgresConnection::ResultDeleter::operator()(pg_result* result) const { PQclear(result); }

Result<std::unique_ptr<Connection>> PostgresEngine::connect(Access) {
  const std::array<const char*, 5> keys{"dbname", "connect_timeout", "application_name",
                                        "tcp_user_timeout", nullptr};
  const std::array<const char*, 5> values{location_.c_str(), "5", "takt", "30000", nullptr};
  PGconn* raw = PQconnectdbParams(keys.data(), values.data(), 1);
  auto connection = std::make_unique<PostgresConnection>(raw);
  if (PQstatus(raw) != CONNECTION_OK) {
    // libpq's message names host and port, never the password.
    return fail(postgres_error("08001", PQerrorMessage(raw), {}, {}));
  }
  PQsetNoticeProcessor(raw, [](void*, const char*) {}, nullptr);
  TAKT_RETURN_IF_ERROR(connection->run_script(kSessionSettings));
  return connection;
}

Status PostgresEngine::backup_to(const std::string&) {
  return fail(Code::kInvalid, "a PostgreSQL database is not backed up by takt", "use pg_dump");
}

PostgresConnection::~PostgresConnection() { PQfinish(connection_); }

bool PostgresConnection::is_lost() const {
  return is_shut_down_ || PQstatus(connection_) != CONNECTION_OK;
}

bool PostgresConnection::in_transaction() const {
  const auto status = PQtransactionStatus(connection_);
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

Result<PostgresConnection::Answer> PostgresConnection::check(pg_result* raw, std::string_view sql) {
  Answer answer(raw);
  const auto status = PQresultStatus(raw);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return answer;
  const auto field = [&](int code) {
    const char* text = raw == nullptr ? nullptr : PQresultErrorField(raw, code);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string state = field(PG_DIAG_SQLSTATE);
  // admin_shutdown, crash_shutdown, idle_in_transaction_session_timeout
  if (state == "57P01" || state == "57P02" || state == "25P03") is_shut_down_ = true;
  std::string message = field(PG_DIAG_MESSAGE_PRIMARY);
  if (message.empty()) message = PQerrorMessage(connection_);
  return fail(postgres_error(state, std::move(message), field(PG_DIAG_CONSTRAINT_NAME), sql));
}

Status PostgresConnection::run_plain(const std::string& sql) {
  return check(PQexec(connection_, sql.c_str()), sql).transform([](const Answer&) {});
}

PostgresConnection::Statement& PostgresConnection::statement(std::string_view sql) {
  const auto [entry, is_new] = statements_.try_emplace(std::string(sql));
  if (is_new) entry->second.text = to_postgres(sql);
  return entry->second;
}

Result<PostgresConnection::TypeIds> PostgresConnection::parameter_types(Statement& statement,
                                                                        const Params& params) {
  TypeIds types(params.size());
  bool needs_probe = false;
  for (std::size_t i = 0; i < params.size(); ++i) {
    types[i] = postgres_type_of(params[i]);
    if (types[i] != 0) continue;
    if (!statement.text.used_elsewhere[i]) types[i] = kPgText;
    // `$1 IS NULL` alone says nothing about a type, and makes PostgreSQL refuse the statement.
    needs_probe = needs_probe || (types[i] == 0 && statement.text.has_null_tests);
  }
  if (!needs_probe) return types;
  if (statement.inferred.empty()) {
    TAKT_RETURN_IF_ERROR(check(PQprepare(connection_, "", statement.text.probe.c_str(),
                                         static_cast<int>(types.size()), types.data()),
                               statement.text.sql));
    TAKT_ASSIGN(const Answer description,
                check(PQdescribePrepared(connection_, ""), statement.text.sql));
    for (std::size_t i = 0; i < types.size(); ++i) {
      statement.inferred.push_back(PQparamtype(description.get(), static_cast<int>(i)));
    }
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == 0) types[i] = statement.inferred[i];
  }
  return types;
}

Result<std::string> PostgresConnection::prepared(Statement& statement, const TypeIds& types) {
  std::string key;
  for (const unsigned type : types) key += std::to_string(type) + ",";
  if (const auto found = statement.names.find(key); found != statement.names.end()) {
    return found->second;
  }
  const std::string name = "s" + std::to_string(++names_given_);
  TAKT_RETURN_IF_ERROR(check(PQprepare(connection_, name.c_str(), statement.text.sql.c_str(),
                                       static_cast<int>(types.size()), types.data()),
                             statement.text.sql));
  statement.names.emplace(std::move(key), name);
  return name;
}

Result<PostgresConnection::Answer> PostgresConnection::run(std::string_view sql,
                                                           const Params& params) {
  TAKT_RETURN_IF_ERROR(check_params(params));
  if (statements_.size() >= kPostgresStatementsMax) {
    TAKT_RETURN_IF_ERROR(run_plain("DEALLOCATE ALL"));
    statements_.clear();
  }
  Statement& statement = this->statement(sql);
  const std::size_t wanted = statement.text.used_elsewhere.size();
  if (wanted != params.size()) {
    return fail(Code::kInternal, "statement with " + std::to_string(wanted) + " parameters got " +
                                     std::to_string(params.size()) + ": \"" +
                                     std::string(sql.substr(0, 120)) + "\"");
  }
  TAKT_ASSIGN(const TypeIds types, parameter_types(statement, params));
  TAKT_ASSIGN(const std::string name, prepared(statement, types));
  const PostgresParams bound(params);
  return check(PQexecPrepared(connection_, name.c_str(), static_cast<int>(params.size()),
                              bound.values.data(), bound.lengths.data(), bound.formats.data(), 0),
               sql);
}

Result<Rows> PostgresConnection::query(std::string_view sql, const Params& params) {
  TAKT_ASSIGN(const Answer answer, run(sql, params));
  const PGresult* result = answer.get();
  const int columns = PQnfields(result);
  Rows rows;
  rows.reserve(static_cast<std::size_t>(PQntuples(result)));
  for (int r = 0; r < PQntuples(result); ++r) {
    std::vector<Cell> cells;
    cells.reserve(static_cast<std::size_t>(columns));
    for (int c = 0; c < columns; ++c) {
      if (PQgetisnull(result, r, c) != 0) {
        cells.emplace_back();
        continue;
      }
      const auto length = static_cast<std::size_t>(PQgetlength(result, r, c));
      cells.push_back(cell_from_postgres(PQftype(result, c), {PQgetvalue(result, r, c), length}));
    }
    rows.emplace_back(std::move(cells));
  }
  return rows;
}

Result<std::int64_t> PostgresConnection::exec(std::string_view sql, const Params& params) {
  TAKT_ASSIGN(const Answer answer, run(sql, params));
  const std::string count = PQcmdTuples(answer.get());
  return count.empty() ? 0 : std::stoll(count);
}

Status PostgresConnection::each_row(std::string_view sql,
                                    const std::function<Status(const Row&)>& take) {
  const std::string cursor = "r" + std::to_string(++names_given_);
  TAKT_RETURN_IF_ERROR(
      run_plain("DECLARE " + cursor + " NO SCROLL CURSOR FOR " + std::string(sql)));
  const std::string fetch = "FETCH " + std::to_string(kFetchRows) + " FROM " + cursor;
  for (bool is_end = false; !is_end;) {
    TAKT_ASSIGN(const Rows rows, query(fetch, {}));
    for (const Row& row : rows) TAKT_RETURN_IF_ERROR(take(row));
    is_end = rows.size() < kFetchRows;
  }
  return run_plain("CLOSE " + cursor);
}

Status PostgresConnection::begin_copy(const std::string& sql) {
  const Answer answer(PQexec(connection_, sql.c_str()));
  if (PQresultStatus(answer.get()) == PGRES_COPY_IN) return {};
  const char* state = PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE);
  return fail(postgres_error(state == nullptr ? "" : state, PQerrorMessage(connection_), {}, sql));
}

Status PostgresConnection::copy_row(const Row& row) {
  append_copy_line(copy_buffer_, row);
  if (copy_buffer_.size() < kCopyBufferBytes) return {};
  const int sent =
      PQputCopyData(connection_, copy_buffer_.data(), static_cast<int>(copy_buffer_.size()));
  copy_buffer_.clear();
  if (sent == 1) return {};
  return fail(postgres_error("", PQerrorMessage(connection_), {}, "COPY"));
}

Status PostgresConnection::end_copy() {
  const bool is_sent =
      PQputCopyData(connection_, copy_buffer_.data(), static_cast<int>(copy_buffer_.size())) == 1 &&
      PQputCopyEnd(connection_, nullptr) == 1;
  copy_buffer_.clear();
  Status status;
  if (!is_sent) status = fail(postgres_error("", PQerrorMessage(connection_), {}, "COPY"));
  while (pg_result* result = PQgetResult(connection_)) {
    const auto answer = check(result, "COPY");
    if (status && !answer) status = fail(answer.error());
  }
  return status;
}

Status PostgresConnection::run_script(std::string_view script) {
  return run_plain(to_postgres_schema(script));
}

Status PostgresConnection::begin_write() {
  has_open_part_ = false;
  // READ COMMITTED: once the lock is held, every statement sees what the previous holder committed.
  const std::string begin = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = " +
                            std::to_string(kPostgresLockTimeoutMs) +
                            "; SELECT pg_advisory_xact_lock(" + std::to_string(kWriterLock) +
                            "), pg_current_xact_id()::text";
  TAKT_ASSIGN(const Answer answer, check(PQexec(connection_, begin.c_str()), begin));
  transaction_id_ = PQgetvalue(answer.get(), 0, 1);
  return {};
}

Status PostgresConnection::begin_read(std::int64_t timeout_ms) {
  const std::int64_t bounded_ms = std::clamp<std::int64_t>(timeout_ms, 1, 3'600'000);
  return run_plain(
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
      "SET LOCAL statement_timeout = " +
      std::to_string(bounded_ms));
}

Status PostgresConnection::commit() {
  // COMMIT of a failed transaction answers "ROLLBACK" without an error.
  if (PQtransactionStatus(connection_) == PQTRANS_INERROR) {
    return fail(Code::kInternal, "the transaction failed earlier");
  }
  return run_plain("COMMIT");
}

void PostgresConnection::rollback() {
  if (in_transaction()) static_cast<void>(run_plain("ROLLBACK"));
}

Result<bool> PostgresConnection::was_committed(const std::string& transaction_id) {
  for (int attempt = 0; attempt < kStatusAttemptsMax; ++attempt) {
    TAKT_ASSIGN(const Rows rows,
                query("SELECT pg_xact_status(CAST(?1 AS xid8))", {transaction_id}));
    if (rows.at(0).text(0) != "in progress") return rows.at(0).text(0) == "committed";
    // Its session does not know yet that the client is gone.
    TAKT_RETURN_IF_ERROR(run_plain("SELECT pg_sleep(0.1)"));
  }
  return fail(Code::kUnavailable, "the transaction is still in progress");
}

Status PostgresConnection::begin_part() {
  const bool must_release = std::exchange(has_open_part_, true);
  return run_plain(must_release ? "RELEASE SAVEPOINT part; SAVEPOINT part" : "SAVEPOINT part");
}

Status PostgresConnection::keep_part() {
  // Released together with the next part's start, or by the commit: saves a round trip.
  return {};
}

Status PostgresConnection::drop_part() {
  has_open_part_ = false;
  return run_plain("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part");
}

}  // namespace takt::store::internal
