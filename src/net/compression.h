// SPDX-License-Identifier: Apache-2.0
// gzip and deflate of whole bodies.
#pragma once

#include <string>
#include <string_view>

#include "takt/base/error.h"

namespace takt::net {

/// A request's body by its Content-Encoding ("", identity, gzip, deflate): kInvalid for another or
/// a damaged one, kTooLarge when it unfolds to more than `bytes_max`.
Result<std::string> decode_body(std::string_view encoding, std::string_view body,
                                std::size_t bytes_max);

/// gzip at a level that is quick rather than small.
std::string gzip_body(std::string_view body);

}  // namespace takt::net
