// SPDX-License-Identifier: Apache-2.0
// Copies of a live data folder, and their way back.
#pragma once

#include <cstdint>
#include <filesystem>

#include "takt/base/clock.h"
#include "takt/store/database.h"

namespace takt::app {

struct Backup {
  std::filesystem::path path;  // DATA/backups/<time>
  std::int64_t bytes = 0;
  UnixMs created_ms = 0;
};

/// The database first, then content: blobs are only ever added, so all that the copied rows name
/// is there. Appears under its name only when complete and durable.
Result<Backup> make_backup(store::Database& db, const std::filesystem::path& data_dir);

/// Copies a backup into a data folder that does not exist yet or is empty; checks the database.
Status restore_backup(const std::filesystem::path& backup, const std::filesystem::path& data_dir);

}  // namespace takt::app
