// SPDX-License-Identifier: Apache-2.0
// The user's command as a process of its own.
#pragma once

#include <sys/types.h>

#include <string>

#include "takt/base/error.h"
#include "takt/shim/attempt.h"

namespace takt::shim {

/// Forks; the child takes its session, cgroups, limits, mounts and user, sends both streams to the
/// end of `log_path`, and becomes the command. An error says which of these steps failed (the child
/// is gone and reaped then).
Result<pid_t> start_command(const AttemptSpec& spec, const std::string& log_path);

/// What to tell people when exec failed: "cannot run 'pythn': No such file or directory; …".
std::string describe_exec_failure(const std::string& program, int error_number);

}  // namespace takt::shim
