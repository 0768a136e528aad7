// SPDX-License-Identifier: Apache-2.0
#include "takt/store/move.h"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <set>

#include "takt/base/digest.h"
#include "takt/base/log.h"
#include "takt/store/internal/migrate.h"
#include "takt/store/internal/postgres_connection.h"
#include "takt/store/internal/sqlite_connection.h"
#include "takt/store/migrations.h"
#include "takt/store/sql.h"

namespace takt::store {
namespace {

using internal::Access;
using internal::Connection;
using internal::PostgresConnection;

constexpr std::int64_t kMoveTimeoutMs = 24ll * 3600 * 1000;

struct TableShape {
  std::string name;
  std::vector<std::string> columns;
  std::string number_key;  // the INTEGER PRIMARY KEY, which numbers itself; else ""
  std::set<std::string> parents;
};

std::string quoted_name(std::string_view name) { return "\"" + std::string(name) + "\""; }

std::string column_list(const TableShape& table) {
  std::string list;
  for (const std::string& column : table.columns)
    list += (list.empty() ? "" : ", ") + quoted_name(column);
  return list;
}

std::string select_all(const TableShape& table) {
  return "SELECT " + column_list(table) + " FROM " + quoted_name(table.name);
}

/// Of a table's rows, whatever their order: the sum of the rows' hashes modulo 2^256.
class RowsDigest {
 public:
  void add(const Row& row) {
    text_.clear();
    for (std::size_t i = 0; i < row.size(); ++i) append(row.cell(i));
    const std::string hash = from_hex(sha256(text_).value).value_or("");
    unsigned carry = 0;
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      carry += sum_[i] + static_cast<unsigned char>(hash[i]);
      sum_[i] = static_cast<unsigned char>(carry);
      carry >>= 8;
    }
    ++rows_;
  }
  std::int64_t rows() const { return rows_; }
  std::string hex() const {
    return to_hex({reinterpret_cast<const char*>(sum_.data()), sum_.size()});
  }

 private:
  void append(const Cell& cell) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      text_ += "i" + std::to_string(*whole) + ";";
    } else if (const auto* real = std::get_if<double>(&cell)) {
      text_ += "r" + std::to_string(std::bit_cast<std::uint64_t>(*real)) + ";";
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      text_ += "t" + std::to_string(text->size()) + ":" + *text;
    } else if (const auto* bytes = std::get_if<Bytes>(&cell)) {
      text_ += "b" + std::to_string(bytes->value.size()) + ":" + bytes->value;
    } else {
      text_ += "n";
    }
  }

  std::string text_;
  std::array<unsigned char, 32> sum_{};
  std::int64_t rows_ = 0;
};

Result<TableShape> shape_of(Connection& sqlite, const std::string& name) {
  TableShape table{.name = name};
  TAKT_ASSIGN(const Rows columns, sqlite.query("PRAGMA table_info(" + quoted_name(name) + ")", {}));
  int keys = 0;
  for (const Row& column : columns) {
    table.columns.push_back(column.text(1));
    if (column.integer(5) == 0) continue;
    ++keys;
    if (column.text(2) == "INTEGER") table.number_key = column.text(1);
  }
  if (keys != 1) table.number_key.clear();
  TAKT_ASSIGN(const Rows keys_out,
              sqlite.query("PRAGMA foreign_key_list(" + quoted_name(name) + ")", {}));
  for (const Row& key : keys_out)
    if (key.text(2) != name) table.parents.insert(key.text(2));
  return table;
}

/// All tables, each after those that it refers to.
Result<std::vector<TableShape>> tables_in_order(Connection& sqlite) {
  TAKT_ASSIGN(const Rows names,
              sqlite.query("SELECT name FROM sqlite_master WHERE type = 'table' AND "
                           "name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name <> 'schema_migrations' "
                           "ORDER BY name",
                           {}));
  std::vector<TableShape> waiting, ordered;
  for (const Row& row : names) {
    TAKT_ASSIGN(TableShape table, shape_of(sqlite, row.text(0)));
    waiting.push_back(std::move(table));
  }
  std::set<std::string> placed;
  while (!waiting.empty()) {
    const auto next = std::ranges::find_if(waiting, [&](const TableShape& table) {
      return std::ranges::includes(placed, table.parents);
    });
    if (next == waiting.end())
      return fail(Code::kInternal,
                  "the tables refer to each other in a circle, from " + waiting.front().name);
    placed.insert(next->name);
    ordered.push_back(std::move(*next));
    waiting.erase(next);
  }
  return ordered;
}

Result<Rows> applied_migrations(Connection& connection) {
  return connection.query("SELECT name, digest FROM schema_migrations ORDER BY name", {});
}

Status check_same_schema(Connection& sqlite, Connection& postgres) {
  TAKT_ASSIGN(const Rows here, applied_migrations(sqlite));
  TAKT_ASSIGN(const Rows there, applied_migrations(postgres));
  const auto is_same = [](const Row& a, const Row& b) {
    return a.text(0) == b.text(0) && a.text(1) == b.text(1);
  };
  if (std::ranges::equal(here, there, is_same)) return {};
  return fail(Code::kConflict,
              "the SQLite database has " + std::to_string(here.size()) +
                  " migrations, this program " + std::to_string(there.size()),
              "start and stop `takt server` of this version on it once, then move it");
}

/// Every installation that was ever started has events.
Status check_unused(Connection& postgres) {
  TAKT_ASSIGN(const Rows counted, postgres.query("SELECT COUNT(*) FROM events", {}));
  if (counted.at(0).integer(0) == 0) return {};
  return fail(Code::kConflict,
              "the PostgreSQL database is in use: it holds " +
                  std::to_string(counted.at(0).integer(0)) + " events",
              "name an empty one");
}

Result<MovedTable> copy_table(Connection& sqlite, PostgresConnection& postgres,
                              const TableShape& table) {
  TAKT_RETURN_IF_ERROR(postgres.begin_copy("COPY " + quoted_name(table.name) + " (" +
                                           column_list(table) + ") FROM STDIN"));
  RowsDigest here;
  const Status sent = sqlite.each_row(select_all(table), [&](const Row& row) {
    here.add(row);
    return postgres.copy_row(row);
  });
  const Status ended = postgres.end_copy();
  TAKT_RETURN_IF_ERROR(sent);
  TAKT_RETURN_IF_ERROR(ended);
  RowsDigest there;
  TAKT_RETURN_IF_ERROR(postgres.each_row(select_all(table), [&](const Row& row) -> Status {
    there.add(row);
    return {};
  }));
  if (here.rows() != there.rows() || here.hex() != there.hex())
    return fail(Code::kInternal, std::to_string(here.rows()) + " rows with the digest " +
                                     here.hex() + " were read, but " +
                                     std::to_string(there.rows()) + " with " + there.hex() +
                                     " arrived");
  if (!table.number_key.empty()) {
    TAKT_RETURN_IF_ERROR(postgres.query("SELECT setval(pg_get_serial_sequence('" + table.name +
                                            "', '" + table.number_key + "'), COALESCE(MAX(" +
                                            quoted_name(table.number_key) +
                                            "), 0) + 1, false) FROM " + quoted_name(table.name),
                                        {}));
  }
  return MovedTable{table.name, here.rows(), here.hex()};
}

/// Inside the open transaction of `postgres`.
Result<MoveReport> copy_all(Connection& sqlite, PostgresConnection& postgres) {
  TAKT_RETURN_IF_ERROR(check_unused(postgres));
  TAKT_ASSIGN(const std::vector<TableShape> tables, tables_in_order(sqlite));
  // What migrations put in themselves comes with the rest.
  for (auto table = tables.rbegin(); table != tables.rend(); ++table)
    TAKT_RETURN_IF_ERROR(postgres.exec("DELETE FROM " + quoted_name(table->name), {}));
  MoveReport report;
  for (const TableShape& table : tables) {
    TAKT_ASSIGN(MovedTable moved,
                copy_table(sqlite, postgres, table).transform_error(while_("table " + table.name)));
    report.rows += moved.rows;
    report.tables.push_back(std::move(moved));
  }
  return report;
}

}  // namespace

Result<MoveReport> move_to_postgres(const std::string& sqlite_path, const std::string& uri,
                                    std::span<const Migration> migrations, const Clock& clock) {
  if (std::error_code error; !std::filesystem::exists(sqlite_path, error))
    return fail(Code::kNotFound, "there is no SQLite database " + sqlite_path);
  if (!internal::is_postgres_uri(uri))
    return fail(Code::kInvalid, "the target must be a postgresql:// address");
  internal::SqliteEngine from(sqlite_path, true, clock);
  internal::PostgresEngine to(uri);
  TAKT_ASSIGN(const auto sqlite, from.connect(Access::kRead));
  TAKT_ASSIGN(const auto target, to.connect(Access::kMigrate));
  auto& postgres = static_cast<PostgresConnection&>(*target);
  const std::span<const Migration> own = store::migrations();
  std::vector<Migration> all(own.begin(), own.end());
  all.insert(all.end(), migrations.begin(), migrations.end());
  TAKT_RETURN_IF_ERROR(internal::run_migrations(postgres, all, clock)
                           .transform_error(while_("preparing the PostgreSQL database")));
  TAKT_RETURN_IF_ERROR(sqlite->begin_read(kMoveTimeoutMs));
  TAKT_RETURN_IF_ERROR(check_same_schema(*sqlite, postgres));
  TAKT_RETURN_IF_ERROR(postgres.begin_write());
  Result<MoveReport> report = copy_all(*sqlite, postgres);
  if (report) {
    if (const Status committed = postgres.commit(); !committed) report = fail(committed.error());
  }
  if (!report) postgres.rollback();
  sqlite->rollback();
  return report;
}

}  // namespace takt::store
