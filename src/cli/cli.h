// SPDX-License-Identifier: Apache-2.0
// The command line: every command that is a client of the server.
#pragma once

#include <string>
#include <vector>

namespace takt::cli {

/// Runs one command; `words` are the arguments without the program's name. Exit codes: 0 done, 1
/// the work it waited for failed, 2 wrong usage or input, 3 not allowed, 4 not found, 5 conflict,
/// 6 exhausted, 69 server not reachable, 70 internal, 75 timed out.
int run(const std::vector<std::string>& words);

}  // namespace takt::cli
