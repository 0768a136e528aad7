// SPDX-License-Identifier: Apache-2.0
// Whether a process that holds a lock (lock_file) lives still.
#pragma once

#include <filesystem>

#include "takt/base/error.h"

namespace takt {

/// True when another process holds the lock of the file; without the file nobody does. An error
/// says nothing about the lock: no descriptor was left, say.
Result<bool> is_lock_held(const std::filesystem::path& path);

}  // namespace takt
