// SPDX-License-Identifier: Apache-2.0
// Bytes by their SHA-256: small ones in packs, large ones alone. Nothing refers to bytes that are
// not yet durable (pack -> fsync -> rename -> fsync folder -> row). docs/formats/blobs.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/digest.h"
#include "takt/base/file.h"
#include "takt/content/manifest.h"
#include "takt/store/database.h"

namespace takt::store {

/// Pulls the next bytes of an upload: how many were put into the span, 0 at the end.
using ReadBytes = std::function<Result<std::size_t>(std::span<char>)>;
/// Takes bytes of a download.
using WriteBytes = std::function<Status(std::string_view)>;

/// Local directory now; the same interface will stand before an S3 bucket. Thread-safe.
/// A project sees only digests that it uploaded or was granted (no probing of others' content).
class BlobStore {
 public:
  /// Removes what a crash left behind. `db` has to be migrated.
  static Result<std::unique_ptr<BlobStore>> open(const std::filesystem::path& folder, Database& db);
  virtual ~BlobStore() = default;

  /// Those of `digests` that the project still has to upload.
  virtual Result<std::vector<Digest>> missing(const ProjectId& project,
                                              const std::vector<Digest>& digests) = 0;
  /// Stores a pack as it streams in, every digest checked; returns how many objects the project
  /// did not have (never what other projects have).
  virtual Result<std::int64_t> add_pack(const ProjectId& project, const ReadBytes& read) = 0;
  /// Stores one object of any size in constant memory; kInvalid when the digest does not match
  /// (`expected` may be empty: then the digest is computed and returned).
  virtual Result<Digest> add(const ProjectId& project, const Digest& expected,
                             const ReadBytes& read) = 0;
  Result<Digest> add_bytes(const ProjectId& project, std::string_view bytes);

  virtual Result<std::int64_t> size(const ProjectId& project, const Digest& digest) = 0;
  /// Streams a range (a negative length: to the end); whole objects are checked against the digest
  /// at their end: a corrupted one ends in kInternal naming the digest and the file.
  virtual Status read(const ProjectId& project, const Digest& digest, std::int64_t offset,
                      std::int64_t length, const WriteBytes& write) = 0;
  /// All of it in memory; kTooLarge over the limit.
  Result<std::string> read_bytes(const ProjectId& project, const Digest& digest,
                                 std::size_t bytes_max = 64 << 20);
  Status read_to_fd(const ProjectId& project, const Digest& digest, int fd);

  /// Stores the manifest's text; kNotFound names a digest that the project does not have.
  Result<Digest> add_tree(const ProjectId& project, const content::Manifest& manifest);
  Result<content::Manifest> read_tree(const ProjectId& project, const Digest& tree);
  /// Stores a folder of the server's own (job outputs): hash, pack, commit; returns its tree.
  Result<Digest> add_folder(const ProjectId& project, const std::filesystem::path& folder);
  /// Writes a tree below `folder`.
  Status checkout(const ProjectId& project, const Digest& tree, const std::filesystem::path& folder,
                  bool read_only);
  virtual Result<std::int64_t> stored_bytes() = 0;

 protected:
  using ReadOne = std::function<Status(const Digest&, const WriteBytes&)>;
  /// For reading many whole blobs in about this order: they may be looked up many at once.
  virtual ReadOne read_in_order(const ProjectId& project, std::vector<Digest> digests) = 0;
};

}  // namespace takt::store
