// SPDX-License-Identifier: Apache-2.0
// The files about blobs: packs, loose objects and what is being written.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/digest.h"
#include "takt/base/file.h"

namespace takt::store::internal {

enum class BlobKind { kPack, kLoose };

/// A file below tmp/; removed with the object unless it was published.
class NewFile {
 public:
  NewFile(std::filesystem::path path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  Status append(std::string_view bytes);

 private:
  friend class BlobFolder;
  std::filesystem::path path_;
  Fd fd_;
};

/// Published bytes whose rows are not committed yet: a second name of the file in tmp/, by which
/// the next open finds what a crash left behind.
struct BlobMarker {
  std::filesystem::path path;  // empty: there is none to remove
};

/// blobs/{packs,loose,tmp}. Thread-safe; one server at a time.
class BlobFolder {
 public:
  static Result<BlobFolder> open(const std::filesystem::path& root);

  Result<NewFile> create() const;
  /// fsync, then the final name, then fsync of its folder.
  Result<BlobMarker> publish(NewFile file, BlobKind kind, const Digest& digest) const;
  /// After the rows are committed.
  void settle(const BlobMarker& marker) const;
  void remove(BlobKind kind, const Digest& digest) const;
  std::filesystem::path path_of(BlobKind kind, const Digest& digest) const;

  /// Empties tmp/, asking of each published file whether its rows were committed.
  using IsCommitted = std::function<Result<bool>(BlobKind, const Digest&)>;
  Status sweep(const IsCommitted& is_committed) const;

 private:
  explicit BlobFolder(std::filesystem::path root) : root_(std::move(root)) {}
  Status make_loose_folder(const std::filesystem::path& folder) const;

  std::filesystem::path root_;
  // Of loose/00 … loose/ff: known to survive a power cut.
  std::unique_ptr<std::array<std::atomic<bool>, 256>> durable_folders_ =
      std::make_unique<std::array<std::atomic<bool>, 256>>();
};

}  // namespace takt::store::internal
