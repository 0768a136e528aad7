// SPDX-License-Identifier: Apache-2.0
// A SQLite VFS that remembers what was written since the last sync, to show what a power cut
// would have left: unlike kill -9, which loses nothing that the kernel holds.
#pragma once

#include <cstdint>
#include <filesystem>

#include "takt/base/error.h"

namespace takt::store::testing {

/// While one exists it is SQLite's default VFS; one at a time.
class LossyVfs {
 public:
  LossyVfs();
  /// All databases opened through it must be closed.
  ~LossyVfs();
  LossyVfs(const LossyVfs&) = delete;
  LossyVfs& operator=(const LossyVfs&) = delete;

  /// Writes to `target` what the disk would hold of the database `source` (and its log), had the
  /// power failed just now. The database goes on.
  Status copy_as_after_power_cut(const std::filesystem::path& source,
                                 const std::filesystem::path& target);
  /// From now on every write ends in this SQLite result (SQLITE_FULL, SQLITE_IOERR_WRITE); 0 ends
  /// it.
  void fail_writes(int sqlite_result);
  std::int64_t syncs() const;
};

}  // namespace takt::store::testing
