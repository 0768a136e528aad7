// SPDX-License-Identifier: Apache-2.0
// `takt server`: from settings to objects, to routes, to running.
#pragma once

#include "takt/app/settings.h"

namespace takt::app {

/// Runs until SIGTERM or SIGINT, which drain; the exit code.
int run_server(const Settings& settings);

/// The data folder: the setting, else $TAKT_HOME, else $XDG_DATA_HOME/takt, else
/// ~/.local/share/takt.
std::string data_dir_of(const std::string& setting);

}  // namespace takt::app
