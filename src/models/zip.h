// SPDX-License-Identifier: Apache-2.0
// The list of a zip archive's members, by its central directory; for archives that models come in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/models/pickle.h"

namespace takt::models {

struct ZipMember {
  std::string name;
  std::int64_t offset = 0;  // of its bytes in the archive
  std::int64_t packed_bytes = 0;
  bool is_stored = false, is_deflated = false;
};
struct ZipListing {
  std::vector<ZipMember> members;
  std::string trouble;  // why it is no archive that can be read; "" when it is one
};
/// Of the members whose name is wanted. An error only when `read` gives one.
Result<ZipListing> list_zip(const ReadAt& read, std::int64_t size,
                            const std::function<bool(std::string_view)>& is_wanted);

}  // namespace takt::models
