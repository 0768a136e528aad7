// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/engine_database.h"

#include <vector>

#include "takt/store/internal/migrate.h"
#include "takt/store/migrations.h"

namespace takt::store::internal {

Result<std::unique_ptr<Database>> EngineDatabase::open(std::unique_ptr<Engine> engine,
                                                       const DatabaseOptions& options,
                                                       Clock& clock) {
  TAKT_ASSIGN(const CommitFault fault, CommitFault::from_environment());
  TAKT_ASSIGN(auto writing, engine->connect(Access::kWrite));
  return std::make_unique<EngineDatabase>(std::move(engine), std::move(writing), options, clock,
                                          fault);
}

Status EngineDatabase::migrate(std::span<const Migration> migrations) {
  const std::span<const Migration> own = store::migrations();
  std::vector<Migration> all(own.begin(), own.end());
  all.insert(all.end(), migrations.begin(), migrations.end());
  TAKT_ASSIGN(auto connection, engine_->connect(Access::kMigrate));
  return run_migrations(*connection, all, clock());
}

}  // namespace takt::store::internal
