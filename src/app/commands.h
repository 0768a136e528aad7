// SPDX-License-Identifier: Apache-2.0
// The commands that are processes of their own (server, gateway, infer) or open a stopped data
// folder (restore, db); all others are clients of the server and live in cli.
#pragma once

#include <string>
#include <vector>

namespace takt::app {

/// `words`: the command line without the program's name. Returns the exit code.
int run_command(const std::vector<std::string>& words);

}  // namespace takt::app
