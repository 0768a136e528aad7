// SPDX-License-Identifier: Apache-2.0
// From folders to trees and back: walking, hashing, materialising.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "takt/content/manifest.h"

namespace takt::content {

/// A file found by a walk: where it lies and what it is called in the tree.
struct SourceFile {
  std::filesystem::path source;
  std::string path;
  std::int64_t size = 0;
  bool executable = false;
};

struct WalkOptions {
  /// Leaves out what .taktignore (gitignore syntax) at the folder's root says, and always .git and
  /// __pycache__.
  bool use_ignore_file = false;
  std::int64_t files_max = 5'000'000;
};
/// Regular files below `root` (a folder, or one file), sorted by path. Symlinks that leave the
/// root, sockets and devices are refused by name.
Result<std::vector<SourceFile>> walk(const std::filesystem::path& root, const WalkOptions& options);

/// Reads once, hashing; notices a file that changed since the walk or changes while it is read
/// (kConflict, naming it).
Result<Entry> hash_file(const SourceFile& file);
/// As hash_file, giving the bytes too; for files that go into packs.
Result<Entry> read_and_hash(const SourceFile& file, std::string* bytes);

/// Where the bytes of digests come from, when a tree is written to disk.
using FetchToFile = std::function<Status(const Digest&, int fd)>;
/// Writes the tree below `folder` (created); read-only files when asked (0444/0555). A file that is
/// there already is kConflict; after an error the folder is incomplete and the caller's to remove.
Status materialize(const Manifest& manifest, const std::filesystem::path& folder, bool read_only,
                   const FetchToFile& fetch);

/// Git facts of a code folder, empty when it is no work tree.
struct GitState {
  std::string commit;
  std::string remote;  // of origin, without credentials
  std::string diff;    // uncommitted changes, unified
};
GitState git_state(const std::filesystem::path& folder);

}  // namespace takt::content
