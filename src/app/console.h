// SPDX-License-Identifier: Apache-2.0
// The console's files, from memory.
#pragma once

#include "takt/app/assets.h"
#include "takt/net/http.h"

namespace takt::app {

/// The file's bytes as the client takes them: compressed as stored, or unfolded.
net::Response asset_bytes(const Asset& asset, const net::Request& request);

/// Answers what no route took: assets by name, index.html for the console's own paths, 404 for
/// everything else (and for all of it in a build without the console).
Result<net::Response> serve_console(net::Request& request);

}  // namespace takt::app
