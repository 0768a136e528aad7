// SPDX-License-Identifier: Apache-2.0
// What a crash left of attempts that had ended: their folders, and the tokens of their jobs.
#pragma once

#include <filesystem>

#include "takt/jobs/workspace.h"
#include "takt/store/database.h"

namespace takt::jobs {

/// Discards what a server would have discarded right after an attempt's end, had it not been killed
/// there. Attempts that go on are left alone. Takes as long as the folders do: for a side thread.
void discard_leftovers(store::Database& db, Workspace& workspace,
                       const std::filesystem::path& data_dir);

}  // namespace takt::jobs
