// SPDX-License-Identifier: Apache-2.0
// Paths from outside, kept inside their root by the kernel (openat2, RESOLVE_BENEATH, no symlinks).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "takt/base/file.h"

namespace takt {

class SafePath;

/// An opened folder that paths from outside may name things in. Copies share the descriptor.
class SafeRoot {
 public:
  static Result<SafeRoot> open(const std::filesystem::path& folder);
  /// kInvalid, naming the path, when it is empty, absolute, has `..`, a back-slash or control
  /// characters.
  Result<SafePath> resolve(std::string_view relative) const;

 private:
  friend class SafePath;
  std::shared_ptr<Fd> fd_;
};

/// A relative path beneath a root; can only be had from SafeRoot::resolve.
class SafePath {
 public:
  const std::string& relative() const { return relative_; }
  /// Regular files only; kDenied when the path leads through a symbolic link.
  Result<Fd> open_read() const;
  /// A new file, for writing; kConflict when something of that name is there.
  Result<Fd> create(unsigned mode = 0644) const;
  /// The folders above it, those that are missing.
  Status make_parents(unsigned mode = 0755) const;

 private:
  friend class SafeRoot;
  SafePath(std::shared_ptr<Fd> root, std::string relative)
      : root_(std::move(root)), relative_(std::move(relative)) {}
  std::shared_ptr<Fd> root_;
  std::string relative_;
};

/// The lexical part of the check alone, for paths that name rows, not files (artifact paths).
Status check_relative_path(std::string_view path);

}  // namespace takt
