// SPDX-License-Identifier: Apache-2.0
// Opaque page tokens: where a search goes on, and which search it was.
#pragma once

#include <string>
#include <string_view>

#include "takt/base/value.h"

namespace takt::track {

/// `search` is any text that tells one search from another; `place` where the next page begins.
std::string make_page_token(std::string_view search, Value place);
/// The place; kInvalid for what make_page_token did not write, or wrote for another search.
Result<Value> read_page_token(std::string_view token, std::string_view search);

}  // namespace takt::track
