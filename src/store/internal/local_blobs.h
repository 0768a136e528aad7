// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/store/blobs.h"
#include "takt/store/internal/blob_folder.h"
#include "takt/store/internal/blob_index.h"

namespace takt::store::internal {

/// Blobs in a local folder.
class LocalBlobStore final : public BlobStore {
 public:
  LocalBlobStore(BlobFolder folder, Database& db) : folder_(std::move(folder)), index_(db) {}
  /// Removes what a crash left behind.
  Status sweep();

  Result<std::vector<Digest>> missing(const ProjectId& project,
                                      const std::vector<Digest>& digests) override;
  Result<std::int64_t> add_pack(const ProjectId& project, const ReadBytes& read) override;
  Result<Digest> add(const ProjectId& project, const Digest& expected,
                     const ReadBytes& read) override;
  Result<std::int64_t> size(const ProjectId& project, const Digest& digest) override;
  Status read(const ProjectId& project, const Digest& digest, std::int64_t offset,
              std::int64_t length, const WriteBytes& write) override;
  Result<std::int64_t> stored_bytes() override { return index_.stored_bytes(); }

 protected:
  ReadOne read_in_order(const ProjectId& project, std::vector<Digest> digests) override;

 private:
  Result<BlobPlace> place(const ProjectId& project, const Digest& digest);
  Result<Digest> verify_known(const ProjectId& project, const Digest& digest,
                              const ReadBytes& read);
  Status read_at(const BlobPlace& place, const Digest& digest, std::int64_t offset,
                 std::int64_t length, const WriteBytes& write);
  Status read_packed(const BlobPlace& place, const Digest& digest, std::int64_t offset,
                     std::int64_t length, const WriteBytes& write);
  Status read_loose(const BlobPlace& place, const Digest& digest, std::int64_t offset,
                    std::int64_t length, const WriteBytes& write);

  BlobFolder folder_;
  BlobIndex index_;
};

}  // namespace takt::store::internal
