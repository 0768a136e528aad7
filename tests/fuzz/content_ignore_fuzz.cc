// SPDX-License-Identifier: Apache-2.0
// No rules and no path make matching crash or take long.
#include <cstddef>
#include <cstdint>

#include "takt/content/ignore.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.rfind('\n');
  const std::string_view path = split == std::string_view::npos ? text : text.substr(split + 1);
  const auto rules = takt::content::IgnoreRules::parse(text.substr(0, split));
  (void)rules.is_ignored(path, false);
  (void)rules.is_ignored(path, true);
  return 0;
}
