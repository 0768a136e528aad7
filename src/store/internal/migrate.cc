// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/migrate.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "takt/base/digest.h"
#include "takt/base/log.h"
#include "takt/store/sql.h"

namespace takt::store::internal {
namespace {

// Not a migration itself: it must be there before the first one.
constexpr std::string_view kMigrationsTable =
    "CREATE TABLE IF NOT EXISTS schema_migrations (\n"
    "  name TEXT NOT NULL PRIMARY KEY,\n"
    "  applied_at INTEGER NOT NULL,\n"
    "  digest TEXT NOT NULL\n"
    ") STRICT";

using Applied = std::map<std::string, std::string, std::less<>>;  // name -> digest

Result<Applied> load_applied(Connection& connection) {
  TAKT_ASSIGN(const Rows rows, connection.query(sql::kListMigrations, {}));
  Applied applied;
  for (const Row& row : rows) applied.emplace(row.text(0), row.text(1));
  return applied;
}

/// In name order, each once.
Result<std::vector<Migration>> sorted(std::span<const Migration> migrations) {
  std::vector<Migration> all(migrations.begin(), migrations.end());
  std::ranges::sort(all, {}, &Migration::name);
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].name == all[i - 1].name && all[i].sql != all[i - 1].sql) {
      return fail(Code::kInternal, "two migrations are named " + std::string(all[i].name));
    }
  }
  const auto repeated = std::ranges::unique(all, {}, &Migration::name);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

Status check_applied(const Applied& applied, const std::vector<Migration>& known) {
  for (const auto& [name, digest] : applied) {
    const auto found = std::ranges::find(known, name, &Migration::name);
    if (found == known.end()) {
      return fail(Code::kConflict,
                  "the database is newer than this program: it has the migration " + name,
                  "start the version of takt that wrote it, or a later one");
    }
    if (sha256(found->sql).value != digest) {
      return fail(Code::kConflict,
                  "the migration " + name + " was applied to this database with another text",
                  "restore the released text; a migration never changes once it was applied");
    }
  }
  return {};
}

/// Runs `fn` inside a write transaction.
template <class Fn>
Status in_transaction(Connection& connection, Fn fn) {
  TAKT_RETURN_IF_ERROR(connection.begin_write());
  Status status = fn();
  if (status) status = connection.commit();
  if (!status) connection.rollback();
  return status;
}

Status apply(Connection& connection, const Migration& migration, const Clock& clock) {
  return in_transaction(connection, [&]() -> Status {
    // Another server may have been quicker.
    TAKT_ASSIGN(const Applied applied, load_applied(connection));
    if (applied.contains(migration.name)) return {};
    TAKT_RETURN_IF_ERROR(connection.run_script(migration.sql));
    return connection
        .exec(sql::kInsertMigration,
              {std::string(migration.name), clock.now_ms(), sha256(migration.sql).value})
        .transform([](std::int64_t) {});
  });
}

}  // namespace

Status run_migrations(Connection& connection, std::span<const Migration> migrations,
                      const Clock& clock) {
  TAKT_ASSIGN(const std::vector<Migration> known, sorted(migrations));
  TAKT_RETURN_IF_ERROR(in_transaction(
      connection, [&]() -> Status { return connection.run_script(kMigrationsTable); }));
  TAKT_ASSIGN(const Applied applied, load_applied(connection));
  TAKT_RETURN_IF_ERROR(check_applied(applied, known));
  for (const Migration& migration : known) {
    if (applied.contains(migration.name)) continue;
    TAKT_RETURN_IF_ERROR(apply(connection, migration, clock)
                             .transform_error(while_("migration " + std::string(migration.name))));
    log_debug("migration applied", {{"migration", migration.name}});
  }
  return {};
}

}  // namespace takt::store::internal
