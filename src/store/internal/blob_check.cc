// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/blob_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "takt/base/digest.h"
#include "takt/content/pack.h"
#include "takt/store/sql.h"

namespace takt::store::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCheckBlockBytes = 1 << 20;
constexpr std::int64_t kLookAgainMs = 60'000;

fs::path pack_path(const fs::path& root, const std::string& digest) {
  return root / "packs" / (digest + ".pack");
}

fs::path loose_path(const fs::path& root, const std::string& digest) {
  return root / "loose" / digest.substr(0, 2) / digest.substr(2);
}

std::int64_t size_of(const Fd& fd) {
  struct stat info{};
  return ::fstat(fd.get(), &info) == 0 ? info.st_size : -1;
}

Fd open_to_read(const fs::path& path) { return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

std::string why_not_open(const fs::path& path) {
  return errno == ENOENT ? "the file " + path.string() + " is missing"
                         : errno_error("opening " + path.string(), errno).message;
}

/// False when the file ends or cannot be read before `size` bytes came.
bool read_at(const Fd& fd, char* to, std::size_t size, std::int64_t offset) {
  while (size > 0) {
    const ssize_t got = ::pread(fd.get(), to, size, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
    offset += got;
  }
  return true;
}

}  // namespace

Status BlobCheck::load() {
  TAKT_RETURN_IF_ERROR(connection_.each_row(sql::kAllPacks, [&](const Row& row) -> Status {
    packs_[row.integer(0)] = {row.text(1), row.integer(2)};
    return {};
  }));
  TAKT_RETURN_IF_ERROR(connection_.each_row(sql::kAllBlobs, [&](const Row& row) -> Status {
    blobs_.push_back({row.text(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4)});
    return {};
  }));
  report_.packs = static_cast<std::int64_t>(packs_.size());
  report_.blobs = static_cast<std::int64_t>(blobs_.size());
  return {};
}

Status BlobCheck::check_grants() {
  TAKT_ASSIGN(const Rows lost, connection_.query(sql::kGrantsWithoutBlob, {}));
  if (lost.at(0).integer(0) > 0)
    report_.add_problem("blobs: " + lost.at(0).text(1) + " is granted to a project but not stored" +
                        (lost.at(0).integer(0) > 1
                             ? ", as are " + std::to_string(lost.at(0).integer(0) - 1) + " others"
                             : ""));
  return {};
}

bool BlobCheck::is_still_there(const BlobRow& blob) {
  bool is_there = true;
  if (connection_.begin_read(kLookAgainMs)) {
    const auto rows = connection_.query(sql::kFindBlobPlace, {blob.digest});
    if (rows)
      is_there = !rows->empty() && rows->at(0).integer(0) == blob.pack &&
                 rows->at(0).integer(1) == blob.offset;
  }
  connection_.rollback();
  return is_there;
}

bool BlobCheck::is_to_read(std::size_t index) const {
  const auto wanted = options_.read_blobs;
  const auto all = static_cast<std::int64_t>(blobs_.size());
  if (wanted < 0 || wanted >= all) return true;
  const auto at = static_cast<std::int64_t>(index);
  // One in each of `wanted` equal parts.
  return wanted > 0 && (at + 1) * wanted / all != at * wanted / all;
}

void BlobCheck::check_content() {
  for (std::size_t i = 0; i < blobs_.size(); ++i) {
    const std::string fault = fault_of(blobs_[i], is_to_read(i));
    if (!fault.empty() && is_still_there(blobs_[i]))
      report_.add_problem("blob " + blobs_[i].digest + ": " + fault);
  }
}

std::string BlobCheck::fault_of(const BlobRow& blob, bool is_to_read) {
  const std::string fault =
      blob.pack == 0 ? fault_of_loose(blob, is_to_read) : fault_of_packed(blob, is_to_read);
  if (fault.empty() && is_to_read) {
    ++report_.blobs_read;
    report_.bytes_read += blob.stored_bytes;
  }
  return fault;
}

std::string BlobCheck::open_pack(std::int64_t id) {
  if (open_.id == id && open_.fd) return {};
  const auto row = packs_.find(id);
  if (row == packs_.end()) return "it lies in pack " + std::to_string(id) + ", which has no row";
  const fs::path path = pack_path(options_.blobs, row->second.digest);
  open_ = {id, open_to_read(path)};
  if (!open_.fd) return why_not_open(path);
  return {};
}

std::string BlobCheck::fault_of_packed(const BlobRow& blob, bool is_to_read) {
  if (std::string fault = open_pack(blob.pack); !fault.empty()) return fault;
  const fs::path path = pack_path(options_.blobs, packs_.at(blob.pack).digest);
  if (blob.offset + blob.stored_bytes > size_of(open_.fd)) return path.string() + " ends before it";
  if (!is_to_read) return {};
  std::string record(static_cast<std::size_t>(blob.stored_bytes), '\0');
  if (!read_at(open_.fd, record.data(), record.size(), blob.offset))
    return path.string() + " cannot be read";
  const auto raw = content::decode_record(record, {blob.digest});
  if (!raw) return raw.error().message + " (in " + path.string() + ")";
  return {};
}

std::string BlobCheck::fault_of_loose(const BlobRow& blob, bool is_to_read) {
  const fs::path path = loose_path(options_.blobs, blob.digest);
  const Fd fd = open_to_read(path);
  if (!fd) return why_not_open(path);
  if (const std::int64_t size = size_of(fd); size != blob.raw_bytes)
    return path.string() + " has " + std::to_string(size) + " bytes instead of " +
           std::to_string(blob.raw_bytes);
  if (!is_to_read) return {};
  Sha256 hash;
  std::string block(kCheckBlockBytes, '\0');
  for (std::int64_t done = 0; done < blob.raw_bytes;) {
    const auto size =
        static_cast<std::size_t>(std::min<std::int64_t>(kCheckBlockBytes, blob.raw_bytes - done));
    if (!read_at(fd, block.data(), size, done)) return path.string() + " cannot be read";
    hash.update(std::string_view(block).substr(0, size));
    done += static_cast<std::int64_t>(size);
  }
  if (hash.finish().value != blob.digest)
    return "the bytes of " + path.string() + " have another digest";
  return {};
}

bool BlobCheck::is_known_file(std::string_view sql, const std::string& digest) {
  bool is_known = true;
  if (connection_.begin_read(kLookAgainMs)) {
    if (const auto rows = connection_.query(sql, {digest})) is_known = !rows->empty();
  }
  connection_.rollback();
  return is_known;
}

void BlobCheck::check_file(const fs::path& path, const std::string& digest, std::string_view sql,
                           const std::unordered_set<std::string>& known) {
  if (known.contains(digest)) return;
  std::error_code error;
  // A marker beside it (a second name) says that an upload is under way.
  if (fs::hard_link_count(path, error) > 1 || is_known_file(sql, digest)) return;
  const auto bytes = fs::file_size(path, error);
  if (error) return;
  ++report_.orphans;
  report_.orphan_bytes += static_cast<std::int64_t>(bytes);
}

void BlobCheck::check_orphans() {
  std::unordered_set<std::string> loose, packs;
  for (const BlobRow& blob : blobs_)
    if (blob.pack == 0) loose.insert(blob.digest);
  for (const auto& [id, pack] : packs_) packs.insert(pack.digest);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options_.blobs / "packs", error))
    check_file(entry.path(), entry.path().stem().string(), sql::kFindPack, packs);
  for (const auto& folder : fs::directory_iterator(options_.blobs / "loose", error))
    for (const auto& entry : fs::directory_iterator(folder.path(), error))
      check_file(entry.path(), folder.path().filename().string() + entry.path().filename().string(),
                 sql::kFindBlobPlace, loose);
}

}  // namespace takt::store::internal
