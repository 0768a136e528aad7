// SPDX-License-Identifier: Apache-2.0
// One session with a database engine, behind which SQLite and PostgreSQL look alike.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "takt/store/database.h"

namespace takt::store::internal {

enum class Access { kWrite, kRead, kMigrate };

/// Used by one thread at a time. Statements come in SQLite's spelling.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual Result<Rows> query(std::string_view sql, const Params& params) = 0;
  virtual Result<std::int64_t> exec(std::string_view sql, const Params& params) = 0;
  /// Row by row, in constant memory, inside the open transaction.
  virtual Status each_row(std::string_view sql, const std::function<Status(const Row&)>& take) = 0;
  /// Several statements that may change the schema, inside the open transaction.
  virtual Status run_script(std::string_view script) = 0;

  /// After begin_write nobody else writes until commit or rollback.
  virtual Status begin_write() = 0;
  /// A snapshot; statements after `timeout_ms` end in kTimeout.
  virtual Status begin_read(std::int64_t timeout_ms) = 0;
  virtual Status commit() = 0;
  virtual void rollback() = 0;
  /// A part of a write transaction that can be dropped alone. Parts do not nest.
  virtual Status begin_part() = 0;
  virtual Status keep_part() = 0;
  virtual Status drop_part() = 0;

  /// Names the open write transaction, so that another session can ask what became of it.
  virtual std::string transaction_id() const = 0;
  /// For a commit whose answer was lost with the connection.
  virtual Result<bool> was_committed(const std::string& transaction_id) = 0;

  /// False when the engine has thrown the transaction away by itself.
  virtual bool in_transaction() const = 0;
  /// True when the session is broken and only a new one helps.
  virtual bool is_lost() const = 0;
};

/// Reads on a connection of one's own.
class ConnectionReader final : public Reader {
 public:
  explicit ConnectionReader(Connection& connection) : connection_(connection) {}
  Result<Rows> query(std::string_view sql, const Params& params) override {
    return connection_.query(sql, params);
  }

 private:
  Connection& connection_;
};

/// Where connections come from.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Result<std::unique_ptr<Connection>> connect(Access access) = 0;
  virtual Status backup_to(const std::string& path) = 0;
  virtual std::string_view dialect() const = 0;
};

/// By the location: SQLite for a path, PostgreSQL for a URI.
bool is_postgres_uri(std::string_view location);
std::unique_ptr<Engine> make_engine(const DatabaseOptions& options, const Clock& clock);

/// What both engines refuse alike: NaN, and text with a NUL character.
Status check_params(const Params& params);

}  // namespace takt::store::internal
