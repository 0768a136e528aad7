// SPDX-License-Identifier: Apache-2.0
// A text that parses as a manifest is exactly the text that rendering it writes.
#include <cstddef>
#include <cstdint>

#include "takt/content/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Most of the search should go into the lines, not into finding the first one.
  std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::string& candidate : {text, "takt manifest 1\n" + text}) {
    const auto manifest = takt::content::parse_manifest(candidate);
    if (!manifest) continue;
    TAKT_CHECK(takt::content::render_manifest(*manifest) == candidate, "two texts of one tree");
    TAKT_CHECK(takt::content::make_manifest(manifest->entries).has_value(), "parsed but not valid");
    const auto diff = takt::content::diff_manifests(*manifest, *manifest);
    TAKT_CHECK(diff.added.empty() && diff.removed.empty() && diff.changed.empty(),
               "differs from itself");
  }
  return 0;
}
