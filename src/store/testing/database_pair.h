// SPDX-License-Identifier: Apache-2.0
// Runs a test on SQLite and on a real PostgreSQL:
//   for (auto& db : store::testing::open_both(data::migrations())) {
//     SCOPED_TRACE(db->dialect());
//     store::testing::check_statements(*db, data::sql::kAll);
//     …
//   }
// Without PostgreSQL's programs the test fails, and says what to install.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/store/database.h"

namespace takt::store::testing {

using Migrations = std::span<const Migration>;
using NamedStatement = std::pair<std::string_view, std::string_view>;

/// Fresh databases with the store's own migrations and these; each is removed with its object.
std::vector<std::unique_ptr<Database>> open_both(std::initializer_list<Migrations> migrations = {},
                                                 Clock& clock = system_clock());
std::vector<std::unique_ptr<Database>> open_both(Migrations migrations,
                                                 Clock& clock = system_clock());

/// SQLite alone, for what does not touch SQL of its own.
std::unique_ptr<Database> open_sqlite(std::initializer_list<Migrations> migrations = {},
                                      Clock& clock = system_clock());
/// Null, with a test failure, when there is no PostgreSQL.
std::unique_ptr<Database> open_postgres(std::initializer_list<Migrations> migrations = {},
                                        Clock& clock = system_clock());

/// Has the database compile every statement, without running it; each that it refuses is a failure.
void check_statements(Database& db, std::span<const NamedStatement> statements);

}  // namespace takt::store::testing
