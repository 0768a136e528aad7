// SPDX-License-Identifier: Apache-2.0
// PostgreSQL behind Connection, through libpq. Statements arrive in SQLite's spelling.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "takt/store/internal/connection.h"
#include "takt/store/internal/sql_text.h"

struct pg_conn;
struct pg_result;

namespace takt::store::internal {

class PostgresEngine final : public Engine {
 public:
  /// `location` is a URI, postgresql://…
  explicit PostgresEngine(std::string location) : location_(std::move(location)) {}
  Result<std::unique_ptr<Connection>> connect(Access access) override;
  Status backup_to(const std::string& path) override;
  std::string_view dialect() const override { return "postgresql"; }

 private:
  std::string location_;
};

class PostgresConnection final : public Connection {
 public:
  /// Takes the handle over.
  explicit PostgresConnection(pg_conn* connection) : connection_(connection) {}
  ~PostgresConnection() override;
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  Result<Rows> query(std::string_view sql, const Params& params) override;
  Result<std::int64_t> exec(std::string_view sql, const Params& params) override;
  Status each_row(std::string_view sql, const std::function<Status(const Row&)>& take) override;
  Status run_script(std::string_view script) override;
  Status begin_write() override;
  Status begin_read(std::int64_t timeout_ms) override;
  Status commit() override;
  void rollback() override;
  Status begin_part() override;
  Status keep_part() override;
  Status drop_part() override;
  bool in_transaction() const override;
  bool is_lost() const override;
  std::string transaction_id() const override { return transaction_id_; }
  Result<bool> was_committed(const std::string& transaction_id) override;

  /// `COPY table (…) FROM STDIN`, then its rows, then the end; inside the open transaction.
  Status begin_copy(const std::string& sql);
  Status copy_row(const Row& row);
  Status end_copy();

 private:
  struct ResultDeleter {
    void operator()(pg_result* result) const;
  };
  using Answer = std::unique_ptr<pg_result, ResultDeleter>;
  using TypeIds = std::vector<unsigned>;
  struct Statement {
    PostgresStatement text;
    TypeIds inferred;  // of parameters that were null when it was first needed
    std::unordered_map<std::string, std::string> names;  // types -> name of the prepared statement
  };

  Result<Answer> run(std::string_view sql, const Params& params);
  Result<Answer> check(pg_result* raw, std::string_view sql);
  /// One or more statements without parameters.
  Status run_plain(const std::string& sql);
  Statement& statement(std::string_view sql);
  /// The declared type of each parameter; a null takes the one that the rest of the statement
  /// implies.
  Result<TypeIds> parameter_types(Statement& statement, const Params& params);
  Result<std::string> prepared(Statement& statement, const TypeIds& types);

  pg_conn* connection_;
  std::unordered_map<std::string, Statement> statements_;
  std::int64_t names_given_ = 0;
  std::string transaction_id_;
  std::string copy_buffer_;
  bool has_open_part_ = false;
  bool is_shut_down_ = false;  // the server announced the end of this session
};

}  // namespace takt::store::internal
