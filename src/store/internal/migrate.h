// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "takt/store/internal/connection.h"

namespace takt::store::internal {

/// Applies what is missing, in name order, each in a transaction with its row in schema_migrations.
/// kConflict when the database has a migration that is unknown here or was applied with other text.
Status run_migrations(Connection& connection, std::span<const Migration> migrations,
                      const Clock& clock);

}  // namespace takt::store::internal
