// SPDX-License-Identifier: Apache-2.0
#include "takt/store/database.h"

#include "takt/base/limits.h"
#include "takt/store/internal/engine_database.h"
#include "takt/store/internal/postgres_connection.h"
#include "takt/store/internal/sqlite_connection.h"

namespace takt::store {
namespace {

const std::string kNoText;

template <class T>
const T& cell_as(const Cell& cell) {
  const T* held = std::get_if<T>(&cell);
  TAKT_CHECK(held != nullptr, "a column has another type than its reader expects");
  return *held;
}

}  // namespace

namespace internal {

bool is_postgres_uri(std::string_view location) {
  return location.starts_with("postgresql://") || location.starts_with("postgres://");
}

std::unique_ptr<Engine> make_engine(const DatabaseOptions& options, const Clock& clock) {
  if (is_postgres_uri(options.location)) return std::make_unique<PostgresEngine>(options.location);
  return std::make_unique<SqliteEngine>(options.location, options.sync_full, clock);
}

}  // namespace internal

std::int64_t Row::integer(std::size_t i) const {
  return is_null(i) ? 0 : cell_as<std::int64_t>(cells_.at(i));
}

double Row::real(std::size_t i) const {
  if (is_null(i)) return 0;
  if (const auto* whole = std::get_if<std::int64_t>(&cells_.at(i))) {
    return static_cast<double>(*whole);
  }
  return cell_as<double>(cells_.at(i));
}

const std::string& Row::text(std::size_t i) const {
  return is_null(i) ? kNoText : cell_as<std::string>(cells_.at(i));
}

const std::string& Row::bytes(std::size_t i) const {
  return is_null(i) ? kNoText : cell_as<Bytes>(cells_.at(i)).value;
}

Result<std::optional<Row>> Reader::find(std::string_view sql, const Params& params) {
  TAKT_ASSIGN(Rows rows, query(sql, params));
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

Result<std::unique_ptr<Database>> Database::open(const DatabaseOptions& options, Clock& clock) {
  return internal::EngineDatabase::open(internal::make_engine(options, clock), options, clock);
}

Status Database::write(const WriteFn& fn) {
  return write(Deadline::after_ms(clock_, limits::kRequestDeadlineMs), fn);
}

Status Database::read(const ReadFn& fn) {
  return read(Deadline::after_ms(clock_, limits::kRequestDeadlineMs), fn);
}

}  // namespace takt::store
