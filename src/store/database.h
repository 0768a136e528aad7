// SPDX-License-Identifier: Apache-2.0
// Statements on SQLite or PostgreSQL, written once in SQLite's spelling (?1, ?2 …).
// Writes are gathered: one writer thread commits many closures at once, each under a savepoint,
// and acknowledges none before the commit is durable. Reads use a pool.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/base/clock.h"
#include "takt/base/error.h"
#include "takt/store/migration.h"

namespace takt::store {

/// Bytes, for BLOB columns; text goes as std::string.
struct Bytes {
  std::string value;
  bool operator==(const Bytes&) const = default;
};

/// A bound parameter or a cell. Doubles may be any but NaN: rooms keep a flag column for that.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Bytes>;
using Params = std::vector<Cell>;

class Row {
 public:
  explicit Row(std::vector<Cell> cells) : cells_(std::move(cells)) {}
  std::size_t size() const { return cells_.size(); }
  bool is_null(std::size_t i) const { return std::holds_alternative<std::monostate>(cells_.at(i)); }
  // Typed reads; null gives 0 or "". A wrong type aborts: a statement and its reader stand
  // together.
  std::int64_t integer(std::size_t i) const;
  double real(std::size_t i) const;  // also from an integer cell
  const std::string& text(std::size_t i) const;
  const std::string& bytes(std::size_t i) const;
  const Cell& cell(std::size_t i) const { return cells_.at(i); }

 private:
  std::vector<Cell> cells_;
};
using Rows = std::vector<Row>;

/// What both a read snapshot and a write transaction can do.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<Rows> query(std::string_view sql, const Params& params = {}) = 0;
  /// The first row, if any.
  Result<std::optional<Row>> find(std::string_view sql, const Params& params = {});
};

/// Where an event goes: its number, and the hash of the event before it ("" for the first).
struct EventPlace {
  std::int64_t sequence = 0;
  std::string previous_hash;
};

/// An open write transaction. Only valid inside the closure that got it. After a statement failed,
/// all later ones of the closure fail with the same error, and so does the closure: where a
/// conflict is expected, write ON CONFLICT.
class Tx : public Reader {
 public:
  /// Rows changed. A violated constraint is kConflict.
  virtual Result<std::int64_t> exec(std::string_view sql, const Params& params = {}) = 0;
  /// 1, 2, 3 … per name, in commit order, without gaps for committed transactions.
  virtual Result<std::int64_t> next_number(std::string_view counter) = 0;
  /// The next place in the event log; for append_event alone.
  virtual Result<EventPlace> next_event() = 0;
  /// Time of this transaction; the same for all its rows.
  virtual UnixMs now_ms() const = 0;
};

using WriteFn = std::function<Status(Tx&)>;
using ReadFn = std::function<Status(Reader&)>;

struct DatabaseOptions {
  std::string location;  // path of a SQLite file, or postgresql://…
  int readers = 4;
  std::size_t queue_max = 10'000;  // waiting writes; more are refused with kUnavailable
  bool sync_full = true;           // SQLite synchronous=FULL; false only in tests that do not care
};

/// Thread-safe. Owns the writer thread.
class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const DatabaseOptions& options, Clock& clock);
  virtual ~Database() = default;

  /// Runs `fn` in a transaction and returns when it is durable. `fn` does SQL only, is bounded,
  /// and may run more than once. Its error rolls back just its own changes.
  virtual Status write(Deadline deadline, const WriteFn& fn) = 0;
  /// Runs `fn` on a consistent snapshot.
  virtual Status read(Deadline deadline, const ReadFn& fn) = 0;

  /// Brings the schema up to date; each migration in a transaction of its own, in name order.
  virtual Status migrate(std::span<const Migration> migrations) = 0;
  /// Called on the writer thread after each commit that appended events; must only wake others.
  virtual void on_commit(std::function<void()> wake) = 0;
  /// Consistent copy of a live SQLite database; kInvalid on PostgreSQL (use pg_dump).
  virtual Status backup_to(const std::string& path) = 0;
  virtual std::string_view dialect() const = 0;  // "sqlite" | "postgresql"

  // Conveniences with the default deadline (limits::kRequestDeadlineMs).
  Status write(const WriteFn& fn);
  Status read(const ReadFn& fn);
  Clock& clock() const { return clock_; }

 protected:
  explicit Database(Clock& clock) : clock_(clock) {}
  Clock& clock_;
};

}  // namespace takt::store
