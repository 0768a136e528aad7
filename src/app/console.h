// SPDX-License-Identifier: Apache-2.0
// The console's files, from memory.
#pragma once

#include "takt/net/http.h"

namespace takt::app {

/// Answers what no route took: assets by name, index.html for the console's own paths, 404 for
/// everything else (and for all of it in a build without the console).
Result<net::Response> serve_console(net::Request& request);

}  // namespace takt::app
