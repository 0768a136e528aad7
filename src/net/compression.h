// SPDX-License-Identifier: Apache-2.0
// gzip and deflate bodies of HTTP, whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "takt/base/error.h"

namespace takt::net {

enum class Encoding { kIdentity, kGzip, kDeflate };

/// Of a Content-Encoding header; kInvalid names an unknown one.
Result<Encoding> parse_encoding(std::string_view header);
/// The best one of an Accept-Encoding header, by its q-values; identity unless another is
/// preferred.
Encoding choose_encoding(std::string_view accept);
std::string_view encoding_name(Encoding encoding);

/// kInvalid for broken data, kTooLarge when more than `bytes_max` come out. Deflate is taken with
/// zlib's frame, as it should be, and without, as some clients send it.
Result<std::string> decompress(std::string_view bytes, Encoding encoding, std::size_t bytes_max);
/// At a level that is quick rather than small; deflate with zlib's frame.
Result<std::string> compress(std::string_view bytes, Encoding encoding);

}  // namespace takt::net
