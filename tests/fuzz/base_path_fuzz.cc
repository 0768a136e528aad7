// SPDX-License-Identifier: Apache-2.0
// A path that passes cannot leave its root, and small texts of all kinds are read without a crash.
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "takt/base/clock.h"
#include "takt/base/digest.h"
#include "takt/base/ids.h"
#include "takt/base/safe_path.h"
#include "takt/base/units.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (takt::check_relative_path(text)) {
    const std::filesystem::path path(text);
    TAKT_CHECK(path.is_relative(), "an absolute path passed");
    TAKT_CHECK(path.lexically_normal() == path, "a path passed that means another");
  }
  if (const auto selector = takt::parse_version_selector(text)) {
    TAKT_CHECK(takt::check_name("name", selector->name).has_value(), "a bad name passed");
  }
  (void)takt::parse_ref(text);
  (void)takt::parse_cpu(text);
  (void)takt::parse_bytes(text);
  (void)takt::parse_duration_ms(text);
  (void)takt::from_hex(text);
  if (const auto time = takt::parse_time(text)) {
    TAKT_CHECK(takt::parse_time(takt::format_time(*time)) == *time, "a time does not round trip");
  }
  if (const auto bytes = takt::base64_decode(text)) {
    TAKT_CHECK(takt::base64_encode(*bytes) == text, "base64 does not round trip");
  }
  return 0;
}
