// SPDX-License-Identifier: Apache-2.0
// One attempt from its start to its exit record.
#pragma once

#include <string>

#include "takt/base/error.h"
#include "takt/shim/attempt.h"

namespace takt::shim {

/// Starts the command of `spec`, waits for it, for its timeout and for the file `stop` in `folder`
/// (the attempt's), ends whatever it left running, and writes exit.json. Single-threaded; runs in
/// the detached process that holds shim.lock. An error means that exit.json could not be written.
Status supervise(const AttemptSpec& spec, const std::string& folder);

}  // namespace takt::shim
