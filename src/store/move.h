// SPDX-License-Identifier: Apache-2.0
// From SQLite to PostgreSQL, once, with every row verified.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "takt/store/database.h"

namespace takt::store {

struct MovedTable {
  std::string name;
  std::int64_t rows = 0;
  std::string digest;  // of its rows, whatever their order
};
struct MoveReport {
  std::vector<MovedTable> tables;
  std::int64_t rows = 0;
};

/// Copies every row of the SQLite database into the PostgreSQL database, which must be unused, in
/// one transaction, and commits only when count and digest of every table are the same on both
/// sides. The SQLite file is only read; nobody may write to it meanwhile.
Result<MoveReport> move_to_postgres(const std::string& sqlite_path, const std::string& uri,
                                    std::span<const Migration> migrations, const Clock& clock);

}  // namespace takt::store
