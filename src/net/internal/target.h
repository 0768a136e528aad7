// SPDX-License-Identifier: Apache-2.0
// Splits a request target into path and query and refuses what could be read in two ways.
#pragma once

#include <string_view>

#include "takt/net/http.h"

namespace takt::net::internal {

/// Fills path and query from `target`. kInvalid for absolute forms, bad escapes, %00, control
/// characters and fragments; kTooLarge over the path limit.
Status parse_target(std::string_view target, Request& request);

}  // namespace takt::net::internal
