// SPDX-License-Identifier: Apache-2.0
// takt db check | migrate: on the data folder itself, without a server.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace takt::app {

/// `words`: what follows `takt db`. Returns the exit code.
int db_command(const std::vector<std::string>& words,
               const std::map<std::string, std::string>& environment);

}  // namespace takt::app
