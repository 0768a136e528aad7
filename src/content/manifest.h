// SPDX-License-Identifier: Apache-2.0
// A tree of files as text: what a dataset version, model version or code snapshot is.
// Format: docs/formats/manifest.md. The digest of the text is the tree's name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/digest.h"

namespace takt::content {

struct Entry {
  std::string path;  // relative, '/'-separated, checked as SafeRoot does
  std::int64_t size = 0;
  bool executable = false;
  Digest digest;
  bool operator==(const Entry&) const = default;
};

/// Entries sorted by path bytes, no path twice, none a folder of another.
struct Manifest {
  std::vector<Entry> entries;
  std::int64_t total_bytes() const;
  const Entry* find(std::string_view path) const;
};

/// Sorts and checks; kInvalid names the path.
Result<Manifest> make_manifest(std::vector<Entry> entries);
std::string render_manifest(const Manifest& manifest);
/// Accepts exactly what render_manifest writes; kInvalid names the line.
Result<Manifest> parse_manifest(std::string_view text);
Digest manifest_digest(const Manifest& manifest);

struct ManifestDiff {
  std::vector<Entry> added, removed;
  struct Changed {
    Entry before, after;
  };
  std::vector<Changed> changed;
};
ManifestDiff diff_manifests(const Manifest& before, const Manifest& after);

}  // namespace takt::content
