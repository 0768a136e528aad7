// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/local_blobs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

namespace takt::store::internal {
namespace {

constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::size_t kLookupWindow = 1024;

/// Hands the stream on block by block; the number of bytes.
Result<std::int64_t> drain(const ReadBytes& read,
                           const std::function<Status(std::string_view)>& take) {
  std::string block(kBlockBytes, '\0');
  std::int64_t total = 0;
  for (;;) {
    TAKT_ASSIGN(const std::size_t got, read(block));
    if (got == 0) return total;
    total += static_cast<std::int64_t>(got);
    TAKT_RETURN_IF_ERROR(take(std::string_view(block).substr(0, got)));
  }
}

Status check_digest(const Digest& digest) {
  if (is_digest(digest.value)) return {};
  return fail(Code::kInvalid, "\"" + digest.value.substr(0, 100) +
                                  "\" is no digest: 64 lower-case hexadecimal digits");
}

std::unexpected<Error> wrong_digest(const Digest& expected, const Digest& actual) {
  return fail(
      Code::kInvalid,
      "the bytes have the digest " + actual.value + ", not " + expected.value + " as announced",
      "the file changed, or the upload was damaged; upload it again");
}

std::unexpected<Error> corrupted(const Digest& digest, const std::filesystem::path& file,
                                 std::string_view why) {
  return fail(Code::kInternal,
              "corrupted blob " + digest.value + " in " + file.string() + ": " + std::string(why));
}

/// Exactly `size` bytes; kInternal when the file is shorter.
Status pread_all(int fd, char* to, std::int64_t size, std::int64_t offset) {
  while (size > 0) {
    const ssize_t got = ::pread(fd, to, static_cast<std::size_t>(size), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error("reading", errno));
    if (got == 0) return fail(Code::kInternal, "the file is too short");
    to += got;
    size -= got;
    offset += got;
  }
  return {};
}

Result<Fd> open_blob_file(const Digest& digest, const std::filesystem::path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return corrupted(digest, path, "the file is missing");
  if (!fd) return fail(errno_error("opening " + path.string(), errno));
  return fd;
}

}  // namespace

Status LocalBlobStore::sweep() {
  return folder_.sweep([this](BlobKind kind, const Digest& digest) {
    return kind == BlobKind::kPack ? index_.has_pack(digest) : index_.is_loose(digest);
  });
}

Result<std::vector<Digest>> LocalBlobStore::missing(const ProjectId& project,
                                                    const std::vector<Digest>& digests) {
  for (const Digest& digest : digests) TAKT_RETURN_IF_ERROR(check_digest(digest));
  return index_.missing(project, digests);
}

Result<std::int64_t> LocalBlobStore::add_pack(const ProjectId& project, const ReadBytes& read) {
  PackToAdd pack;
  content::PackReader reader(
      [&](const content::PackRecord& record) { pack.records.push_back(record); });
  Sha256 hash;
  TAKT_ASSIGN(NewFile file, folder_.create());
  TAKT_ASSIGN(pack.stored_bytes, drain(read, [&](std::string_view block) -> Status {
                TAKT_RETURN_IF_ERROR(reader.feed(block));
                hash.update(block);
                return file.append(block);
              }));
  TAKT_RETURN_IF_ERROR(reader.finish());
  if (pack.records.empty()) return 0;
  pack.digest = hash.finish();
  TAKT_ASSIGN(const BlobMarker marker,
              folder_.publish(std::move(file), BlobKind::kPack, pack.digest));
  TAKT_ASSIGN(const AddedPack added, index_.add_pack(project, pack));
  if (!added.is_used) folder_.remove(BlobKind::kPack, pack.digest);
  folder_.settle(marker);
  return added.granted;
}

Result<Digest> LocalBlobStore::add(const ProjectId& project, const Digest& expected,
                                   const ReadBytes& read) {
  if (!expected.empty()) {
    TAKT_RETURN_IF_ERROR(check_digest(expected));
    TAKT_ASSIGN(const bool is_stored, index_.is_stored(expected));
    if (is_stored) return verify_known(project, expected, read);
  }
  Sha256 hash;
  TAKT_ASSIGN(NewFile file, folder_.create());
  TAKT_ASSIGN(const std::int64_t size, drain(read, [&](std::string_view block) -> Status {
                hash.update(block);
                return file.append(block);
              }));
  const Digest digest = hash.finish();
  if (!expected.empty() && digest != expected) return wrong_digest(expected, digest);
  if (expected.empty()) {
    TAKT_ASSIGN(const bool is_granted, index_.grant(project, digest));
    if (is_granted) return digest;
  }
  TAKT_ASSIGN(const BlobMarker marker, folder_.publish(std::move(file), BlobKind::kLoose, digest));
  TAKT_ASSIGN(const bool is_used, index_.add_loose(project, digest, size));
  if (!is_used) folder_.remove(BlobKind::kLoose, digest);
  folder_.settle(marker);
  return digest;
}

/// The store has the bytes, perhaps by another project: who can send them may see them.
Result<Digest> LocalBlobStore::verify_known(const ProjectId& project, const Digest& digest,
                                            const ReadBytes& read) {
  Sha256 hash;
  TAKT_RETURN_IF_ERROR(drain(read, [&](std::string_view block) -> Status {
    hash.update(block);
    return {};
  }));
  const Digest actual = hash.finish();
  if (actual != digest) return wrong_digest(digest, actual);
  TAKT_RETURN_IF_ERROR(index_.grant(project, digest));
  return digest;
}

Result<BlobPlace> LocalBlobStore::place(const ProjectId& project, const Digest& digest) {
  TAKT_RETURN_IF_ERROR(check_digest(digest));
  TAKT_ASSIGN(auto place, index_.find(project, digest));
  if (!place) {
    return fail(Code::kNotFound, "project " + project.value + " has no blob " + digest.value);
  }
  return std::move(*place);
}

Result<std::int64_t> LocalBlobStore::size(const ProjectId& project, const Digest& digest) {
  return place(project, digest).transform([](const BlobPlace& place) { return place.raw_bytes; });
}

Status LocalBlobStore::read(const ProjectId& project, const Digest& digest, std::int64_t offset,
                            std::int64_t length, const WriteBytes& write) {
  TAKT_ASSIGN(const BlobPlace found, place(project, digest));
  return read_at(found, digest, offset, length, write);
}

BlobStore::ReadOne LocalBlobStore::read_in_order(const ProjectId& project,
                                                 std::vector<Digest> digests) {
  // Looks up a window of the list whenever it comes to a digest that the last window did not have.
  return [this, project, digests = std::move(digests), next = std::size_t{0},
          places = BlobIndex::Places()](const Digest& digest, const WriteBytes& write) mutable {
    auto found = places.find(digest.value);
    if (found == places.end() && next < digests.size()) {
      const auto window =
          std::span(digests).subspan(next, std::min(kLookupWindow, digests.size() - next));
      next += window.size();
      auto looked_up = index_.find_many(project, window);
      if (!looked_up) return Status(fail(std::move(looked_up).error()));
      places = std::move(*looked_up);
      found = places.find(digest.value);
    }
    if (found == places.end()) return read(project, digest, 0, -1, write);
    return read_at(found->second, digest, 0, -1, write);
  };
}

Status LocalBlobStore::read_at(const BlobPlace& found, const Digest& digest, std::int64_t offset,
                               std::int64_t length, const WriteBytes& write) {
  if (offset < 0 || offset > found.raw_bytes) {
    return fail(Code::kInvalid, "offset " + std::to_string(offset) + " is outside of the blob's " +
                                    std::to_string(found.raw_bytes) + " bytes");
  }
  const std::int64_t rest = found.raw_bytes - offset;
  length = length < 0 ? rest : std::min(length, rest);
  if (!found.pack.empty()) return read_packed(found, digest, offset, length, write);
  return read_loose(found, digest, offset, length, write);
}

Status LocalBlobStore::read_packed(const BlobPlace& place, const Digest& digest,
                                   std::int64_t offset, std::int64_t length,
                                   const WriteBytes& write) {
  const auto path = folder_.path_of(BlobKind::kPack, {place.pack});
  TAKT_ASSIGN(const Fd fd, open_blob_file(digest, path));
  std::string record(static_cast<std::size_t>(place.stored_bytes), '\0');
  if (const Status got = pread_all(fd.get(), record.data(), place.stored_bytes, place.offset);
      !got) {
    return corrupted(digest, path, got.error().message);
  }
  const Result<std::string> raw = content::decode_record(record, digest);
  if (!raw) return fail(Code::kInternal, raw.error().message + " (in " + path.string() + ")");
  return write(std::string_view(*raw).substr(static_cast<std::size_t>(offset),
                                             static_cast<std::size_t>(length)));
}

Status LocalBlobStore::read_loose(const BlobPlace& place, const Digest& digest, std::int64_t offset,
                                  std::int64_t length, const WriteBytes& write) {
  const auto path = folder_.path_of(BlobKind::kLoose, digest);
  TAKT_ASSIGN(const Fd fd, open_blob_file(digest, path));
  const bool is_whole = offset == 0 && length == place.raw_bytes;
  Sha256 hash;
  std::string block(std::min(kBlockBytes, static_cast<std::size_t>(length)), '\0');
  for (std::int64_t done = 0; done < length;) {
    const std::int64_t size = std::min(static_cast<std::int64_t>(block.size()), length - done);
    if (const Status got = pread_all(fd.get(), block.data(), size, offset + done); !got) {
      return corrupted(digest, path, got.error().message);
    }
    const auto bytes = std::string_view(block).substr(0, static_cast<std::size_t>(size));
    if (is_whole) hash.update(bytes);
    TAKT_RETURN_IF_ERROR(write(bytes));
    done += size;
  }
  if (is_whole && hash.finish() != digest) {
    return corrupted(digest, path, "the bytes have another digest");
  }
  return {};
}

}  // namespace takt::store::internal
