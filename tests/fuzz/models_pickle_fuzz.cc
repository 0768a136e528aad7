// SPDX-License-Identifier: Apache-2.0
// Pickles, archives of them and joblib's files from bytes: whatever they are, the walk ends, stays
// in its bounds, and says the same however the bytes come.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "takt/models/code_scan.h"

namespace {

takt::Value scan(const char* path, const std::string& bytes, std::size_t step) {
  const takt::models::ReadAt read = [&](std::int64_t offset,
                                        std::span<char> into) -> takt::Result<std::size_t> {
    TAKT_CHECK(offset >= 0, "read before the beginning");
    const auto at = std::min(static_cast<std::size_t>(offset), bytes.size());
    const std::size_t count = std::min({into.size(), bytes.size() - at, step});
    std::memcpy(into.data(), bytes.data() + at, count);
    return count;
  };
  takt::models::CodeScan found;
  const auto status =
      takt::models::scan_file(path, read, static_cast<std::int64_t>(bytes.size()), found);
  TAKT_CHECK(status.has_value(), "an error though reading had none");
  return takt::models::to_value(found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const char* path : {"model.pkl", "weights.bin"}) {
    const takt::Value whole = scan(path, bytes, 1 << 20);
    TAKT_CHECK(scan(path, bytes, 7) == whole, "what is found depends on how it is read");
  }
  return 0;
}
