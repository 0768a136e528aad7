// SPDX-License-Identifier: Apache-2.0
// The rows about blobs: where their bytes lie, and which projects may see them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "takt/base/ids.h"
#include "takt/content/pack.h"
#include "takt/store/database.h"

namespace takt::store::internal {

struct BlobPlace {
  std::string pack;  // digest of the pack; empty when the blob lies alone
  std::int64_t offset = 0;
  std::int64_t stored_bytes = 0;
  std::int64_t raw_bytes = 0;
};

struct PackToAdd {
  Digest digest;
  std::int64_t stored_bytes = 0;
  std::vector<content::PackRecord> records;
};

struct AddedPack {
  std::int64_t granted = 0;  // objects that the project did not have
  bool is_used = false;      // some object lies in this pack; otherwise its file is of no use
};

class BlobIndex {
 public:
  explicit BlobIndex(Database& db) : db_(db) {}

  Result<std::vector<Digest>> missing(const ProjectId& project, const std::vector<Digest>& digests);
  /// Of a blob that the project may see.
  Result<std::optional<BlobPlace>> find(const ProjectId& project, const Digest& digest);
  /// Of many, by digest; those that the project may not see are left out.
  using Places = std::unordered_map<std::string, BlobPlace>;
  Result<Places> find_many(const ProjectId& project, std::span<const Digest> digests);
  /// All rows of the pack in one write.
  Result<AddedPack> add_pack(const ProjectId& project, const PackToAdd& pack);
  /// False when the blob lies in a pack already, so that its own file is of no use.
  Result<bool> add_loose(const ProjectId& project, const Digest& digest, std::int64_t bytes);
  /// False when the blob is not stored, for no project at all.
  Result<bool> grant(const ProjectId& project, const Digest& digest);

  Result<bool> is_stored(const Digest& digest);
  Result<bool> is_loose(const Digest& digest);
  Result<bool> has_pack(const Digest& digest);
  Result<std::int64_t> stored_bytes();

 private:
  Result<std::optional<Row>> find_row(std::string_view sql, const Params& params);
  Database& db_;
};

}  // namespace takt::store::internal
