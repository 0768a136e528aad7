// SPDX-License-Identifier: Apache-2.0
// SQLite behind Connection: WAL, prepared statements kept per connection.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>

#include "takt/store/internal/connection.h"

struct sqlite3;
struct sqlite3_stmt;

namespace takt::store::internal {

/// The file is created by the first writing connection.
class SqliteEngine final : public Engine {
 public:
  SqliteEngine(std::string path, bool sync_full, const Clock& clock)
      : path_(std::move(path)), sync_full_(sync_full), clock_(clock) {}
  Result<std::unique_ptr<Connection>> connect(Access access) override;
  Status backup_to(const std::string& path) override;
  std::string_view dialect() const override { return "sqlite"; }

 private:
  std::string path_;
  bool sync_full_;
  const Clock& clock_;
};

class SqliteConnection final : public Connection {
 public:
  /// Takes the handle over.
  SqliteConnection(sqlite3* db, const Clock& clock) : db_(db), clock_(clock) {}
  ~SqliteConnection() override;
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;
  /// Collation, pragmas and the interrupt check.
  Status prepare_session(Access access, bool sync_full);

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
  bool is_lost() const override { return false; }  // a commit always gets its answer
  std::string transaction_id() const override { return {}; }
  Result<bool> was_committed(const std::string&) override { return false; }
  sqlite3* handle() { return db_; }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  Result<sqlite3_stmt*> statement(std::string_view sql);
  using TakeRow = std::function<Status(Row)>;
  /// Binds and steps to the end; rows go to `take` unless it is empty.
  Status run(std::string_view sql, const Params& params, const TakeRow& take);
  Status run_plain(std::string_view sql) { return run(sql, {}, {}); }
  bool is_late() const;
  void forget_statements();

  sqlite3* db_;
  const Clock& clock_;
  std::unordered_map<std::string, sqlite3_stmt*, TextHash, std::equal_to<>> statements_;
  bool has_deadline_ = false;
  Deadline deadline_;
};

}  // namespace takt::store::internal
