// SPDX-License-Identifier: Apache-2.0
// takt stop: ends the server of a data folder, and with --all everything that runs for it.
#pragma once

#include <filesystem>

#include "takt/base/error.h"

namespace takt::app {

/// Notes the calling server's process in the lock file that it holds, for `stop_server`.
Status note_server_process(int lock_fd);

/// Asks the server of `data_dir` to end and waits for it. False when none runs. kTimeout when it
/// does not end in `patience_ms`.
Result<bool> stop_server(const std::filesystem::path& data_dir, std::int64_t patience_ms);

}  // namespace takt::app
