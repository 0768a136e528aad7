// SPDX-License-Identifier: Apache-2.0
// A view of the file system for one command: the server's data hidden, its own folders shown.
#pragma once

#include "takt/base/error.h"
#include "takt/shim/attempt.h"

namespace takt::shim {

/// Called in the command's process while it is still root: takes an own mount namespace, covers
/// each hidden folder (and each folder above a visible path that the command's user may not pass)
/// with an empty read-only one, and puts the visible paths back in, read-only where asked.
Status isolate_mounts(const AttemptSpec& spec);

/// Gives up root: no supplementary groups, the spec's user and group, no new privileges.
Status drop_user(const AttemptSpec& spec);

}  // namespace takt::shim
