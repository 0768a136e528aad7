// SPDX-License-Identifier: Apache-2.0
// Ends what runs in a data folder that no server holds.
#pragma once

#include <filesystem>

#include "takt/base/error.h"

namespace takt::jobs {

struct Halted {
  int asked = 0;       // attempts that ran and were asked to end
  int still_runs = 0;  // of those, when patience ran out
};

/// Asks the supervisor of each running attempt in `data_dir` to end it (TERM, then KILL after
/// `grace_ms`) and waits until they are gone, `patience_ms` at most. The next server notes the ends
/// and runs jobs that were not done again. The caller holds the folder's lock.
Result<Halted> halt_attempts(const std::filesystem::path& data_dir, std::int64_t grace_ms,
                             std::int64_t patience_ms);

}  // namespace takt::jobs
