// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/blob_index.h"

#include <algorithm>
#include <unordered_set>

#include "takt/store/sql.h"

namespace takt::store::internal {
namespace {

// Lengths of the lists in sql/blobs.sql.
constexpr std::size_t kQueriedDigests = 64;
constexpr std::size_t kInsertedRows = 32;

/// `count` indices from `start`, the last one repeated where the list is shorter.
template <class Fn>
void for_each_filled(std::size_t start, std::size_t count, std::size_t size, Fn fn) {
  for (std::size_t i = 0; i < count; ++i) fn(std::min(start + i, size - 1));
}

Result<std::int64_t> insert_blob_rows(Tx& tx, std::int64_t pack_id,
                                      const std::vector<content::PackRecord>& records) {
  std::int64_t inserted = 0;
  for (std::size_t start = 0; start < records.size(); start += kInsertedRows) {
    Params params{pack_id, tx.now_ms()};
    for_each_filled(start, kInsertedRows, records.size(), [&](std::size_t i) {
      const content::PackRecord& record = records[i];
      params.insert(params.end(),
                    {record.digest.value, record.offset, record.stored_bytes, record.raw_bytes});
    });
    TAKT_ASSIGN(const std::int64_t changed, tx.exec(sql::kInsertBlobs, params));
    inserted += changed;
  }
  return inserted;
}

Result<std::int64_t> insert_grant_rows(Tx& tx, const ProjectId& project,
                                       const std::vector<content::PackRecord>& records) {
  std::int64_t inserted = 0;
  for (std::size_t start = 0; start < records.size(); start += kInsertedRows) {
    Params params{project.value};
    for_each_filled(start, kInsertedRows, records.size(),
                    [&](std::size_t i) { params.emplace_back(records[i].digest.value); });
    TAKT_ASSIGN(const std::int64_t changed, tx.exec(sql::kInsertGrants, params));
    inserted += changed;
  }
  return inserted;
}

BlobPlace place_from_row(const Row& row) {
  return {row.text(0), row.integer(1), row.integer(2), row.integer(3)};
}

/// True when an object of the pack is stored nowhere else.
Result<bool> insert_pack_rows(Tx& tx, const PackToAdd& pack) {
  TAKT_ASSIGN(const auto known, tx.find(sql::kFindPack, {pack.digest.value}));
  if (known) return true;
  TAKT_ASSIGN(const std::int64_t id, tx.next_number("packs"));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertPack, {id, pack.digest.value, pack.stored_bytes}));
  TAKT_ASSIGN(const std::int64_t inserted, insert_blob_rows(tx, id, pack.records));
  if (inserted == 0) TAKT_RETURN_IF_ERROR(tx.exec(sql::kDeletePack, {id}));
  return inserted > 0;
}

}  // namespace

Result<std::optional<Row>> BlobIndex::find_row(std::string_view sql, const Params& params) {
  std::optional<Row> row;
  TAKT_RETURN_IF_ERROR(db_.read([&](Reader& reader) -> Status {
    TAKT_ASSIGN(row, reader.find(sql, params));
    return {};
  }));
  return row;
}

Result<std::vector<Digest>> BlobIndex::missing(const ProjectId& project,
                                               const std::vector<Digest>& digests) {
  std::unordered_set<std::string> known;
  TAKT_RETURN_IF_ERROR(db_.read([&](Reader& reader) -> Status {
    for (std::size_t start = 0; start < digests.size(); start += kQueriedDigests) {
      Params params{project.value};
      for_each_filled(start, kQueriedDigests, digests.size(),
                      [&](std::size_t i) { params.emplace_back(digests[i].value); });
      TAKT_ASSIGN(const Rows rows, reader.query(sql::kGrantedBlobs, params));
      for (const Row& row : rows) known.insert(row.text(0));
    }
    return {};
  }));
  std::vector<Digest> missing;
  for (const Digest& digest : digests) {
    if (known.insert(digest.value).second) missing.push_back(digest);  // each once
  }
  return missing;
}

Result<BlobIndex::Places> BlobIndex::find_many(const ProjectId& project,
                                               std::span<const Digest> digests) {
  Places places;
  TAKT_RETURN_IF_ERROR(db_.read([&](Reader& reader) -> Status {
    for (std::size_t start = 0; start < digests.size(); start += kQueriedDigests) {
      Params params{project.value};
      for_each_filled(start, kQueriedDigests, digests.size(),
                      [&](std::size_t i) { params.emplace_back(digests[i].value); });
      TAKT_ASSIGN(const Rows rows, reader.query(sql::kFindBlobs, params));
      for (const Row& row : rows) places.insert_or_assign(row.text(4), place_from_row(row));
    }
    return {};
  }));
  return places;
}

Result<std::optional<BlobPlace>> BlobIndex::find(const ProjectId& project, const Digest& digest) {
  TAKT_ASSIGN(const auto row, find_row(sql::kFindBlob, {project.value, digest.value}));
  if (!row) return std::nullopt;
  return place_from_row(*row);
}

Result<AddedPack> BlobIndex::add_pack(const ProjectId& project, const PackToAdd& pack) {
  AddedPack added;
  TAKT_RETURN_IF_ERROR(db_.write([&](Tx& tx) -> Status {
    TAKT_ASSIGN(added.is_used, insert_pack_rows(tx, pack));
    TAKT_ASSIGN(added.granted, insert_grant_rows(tx, project, pack.records));
    return {};
  }));
  return added;
}

Result<bool> BlobIndex::add_loose(const ProjectId& project, const Digest& digest,
                                  std::int64_t bytes) {
  bool is_used = true;
  TAKT_RETURN_IF_ERROR(db_.write([&](Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertLooseBlob, {tx.now_ms(), digest.value, bytes}));
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertGrant, {project.value, digest.value}));
    TAKT_ASSIGN(const auto row, tx.find(sql::kFindStoredBlob, {digest.value}));
    is_used = row && row->integer(0) == 0;
    return {};
  }));
  return is_used;
}

Result<bool> BlobIndex::grant(const ProjectId& project, const Digest& digest) {
  bool is_known = false;
  TAKT_RETURN_IF_ERROR(db_.write([&](Tx& tx) -> Status {
    TAKT_ASSIGN(const auto row, tx.find(sql::kFindStoredBlob, {digest.value}));
    is_known = row.has_value();
    if (is_known) TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertGrant, {project.value, digest.value}));
    return {};
  }));
  return is_known;
}

Result<bool> BlobIndex::is_stored(const Digest& digest) {
  TAKT_ASSIGN(const auto row, find_row(sql::kFindStoredBlob, {digest.value}));
  return row.has_value();
}

Result<bool> BlobIndex::is_loose(const Digest& digest) {
  TAKT_ASSIGN(const auto row, find_row(sql::kFindStoredBlob, {digest.value}));
  return row && row->integer(0) == 0;
}

Result<bool> BlobIndex::has_pack(const Digest& digest) {
  TAKT_ASSIGN(const auto row, find_row(sql::kFindPack, {digest.value}));
  return row.has_value();
}

Result<std::int64_t> BlobIndex::stored_bytes() {
  TAKT_ASSIGN(const auto row, find_row(sql::kStoredBlobBytes, {}));
  return row ? row->integer(0) : 0;
}

}  // namespace takt::store::internal
