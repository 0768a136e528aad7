// SPDX-License-Identifier: Apache-2.0
#include "takt/store/blobs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "takt/content/pack.h"
#include "takt/content/snapshot.h"
#include "takt/store/internal/local_blobs.h"

namespace takt::store {
namespace {

constexpr std::size_t kManifestBytesMax = std::size_t{1} << 30;
// How much of a folder is held in memory before it is stored.
constexpr std::size_t kFolderBatchBytes = 16 << 20;

ReadBytes read_from_text(std::string_view text) {
  return [text](std::span<char> out) mutable -> Result<std::size_t> {
    const std::size_t size = std::min(out.size(), text.size());
    std::memcpy(out.data(), text.data(), size);
    text.remove_prefix(size);
    return size;
  };
}

ReadBytes read_from_fd(int fd) {
  return [fd](std::span<char> out) -> Result<std::size_t> {
    ssize_t got = 0;
    do {
      got = ::read(fd, out.data(), out.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) return fail(errno_error("reading", errno));
    return static_cast<std::size_t>(got);
  };
}

/// Stores small files many at once, large ones as they come.
class FolderUpload {
 public:
  FolderUpload(BlobStore& blobs, const ProjectId& project) : blobs_(blobs), project_(project) {}

  Status add(const content::SourceFile& file) {
    if (file.size > content::kPackedObjectBytesMax) return add_large(file);
    std::string bytes;
    TAKT_ASSIGN(content::Entry entry, content::read_and_hash(file, &bytes));
    batch_bytes_ += bytes.size();
    batch_.push_back({entry.digest, std::move(bytes)});
    entries_.push_back(std::move(entry));
    return batch_bytes_ >= kFolderBatchBytes ? flush() : Status{};
  }

  Status flush() {
    std::vector<Digest> digests;
    for (const Object& object : batch_) digests.push_back(object.digest);
    TAKT_ASSIGN(std::vector<Digest> missing, blobs_.missing(project_, digests));
    std::ranges::sort(missing);
    content::PackWriter pack;
    for (const Object& object : batch_) {
      if (std::ranges::binary_search(missing, object.digest)) pack.add(object.digest, object.bytes);
    }
    batch_.clear();
    batch_bytes_ = 0;
    if (pack.empty()) return {};
    const std::string bytes = pack.finish();
    return blobs_.add_pack(project_, read_from_text(bytes)).transform([](std::int64_t) {});
  }

  std::vector<content::Entry> take_entries() { return std::move(entries_); }

 private:
  struct Object {
    Digest digest;
    std::string bytes;
  };

  Status add_large(const content::SourceFile& file) {
    TAKT_ASSIGN(content::Entry entry, content::hash_file(file));
    TAKT_ASSIGN(const std::vector<Digest> missing, blobs_.missing(project_, {entry.digest}));
    if (!missing.empty()) {
      const Fd fd(::open(file.source.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
      if (!fd) return fail(errno_error("opening " + file.source.string(), errno));
      TAKT_RETURN_IF_ERROR(blobs_.add(project_, entry.digest, read_from_fd(fd.get()))
                               .transform_error(while_(file.source.string())));
    }
    entries_.push_back(std::move(entry));
    return {};
  }

  BlobStore& blobs_;
  const ProjectId& project_;
  std::vector<Object> batch_;
  std::size_t batch_bytes_ = 0;
  std::vector<content::Entry> entries_;
};

}  // namespace

Result<std::unique_ptr<BlobStore>> BlobStore::open(const std::filesystem::path& folder,
                                                   Database& db) {
  TAKT_ASSIGN(internal::BlobFolder files, internal::BlobFolder::open(folder));
  auto blobs = std::make_unique<internal::LocalBlobStore>(std::move(files), db);
  TAKT_RETURN_IF_ERROR(blobs->sweep());
  return blobs;
}

Result<Digest> BlobStore::add_bytes(const ProjectId& project, std::string_view bytes) {
  return add(project, {}, read_from_text(bytes));
}

Result<std::string> BlobStore::read_bytes(const ProjectId& project, const Digest& digest,
                                          std::size_t bytes_max) {
  TAKT_ASSIGN(const std::int64_t bytes, size(project, digest));
  if (static_cast<std::size_t>(bytes) > bytes_max) {
    return fail(Code::kTooLarge, "blob " + digest.value + " has " + std::to_string(bytes) +
                                     " bytes, over the limit of " + std::to_string(bytes_max));
  }
  std::string text;
  text.reserve(static_cast<std::size_t>(bytes));
  TAKT_RETURN_IF_ERROR(read(project, digest, 0, -1, [&](std::string_view part) -> Status {
    text += part;
    return {};
  }));
  return text;
}

Status BlobStore::read_to_fd(const ProjectId& project, const Digest& digest, int fd) {
  return read(project, digest, 0, -1, [fd](std::string_view part) { return write_all(fd, part); });
}

Result<Digest> BlobStore::add_tree(const ProjectId& project, const content::Manifest& manifest) {
  std::vector<Digest> digests;
  digests.reserve(manifest.entries.size());
  for (const content::Entry& entry : manifest.entries) digests.push_back(entry.digest);
  TAKT_ASSIGN(const std::vector<Digest> absent, missing(project, digests));
  if (!absent.empty()) {
    return fail(Code::kNotFound,
                "project " + project.value + " has no blob " + absent.front().value +
                    (absent.size() == 1 ? "" : ", nor others"),
                "upload the missing blobs before the manifest");
  }
  return add_bytes(project, content::render_manifest(manifest));
}

Result<content::Manifest> BlobStore::read_tree(const ProjectId& project, const Digest& tree) {
  TAKT_ASSIGN(const std::string text, read_bytes(project, tree, kManifestBytesMax));
  return content::parse_manifest(text).transform_error(while_("tree " + tree.value));
}

Result<Digest> BlobStore::add_folder(const ProjectId& project,
                                     const std::filesystem::path& folder) {
  TAKT_ASSIGN(const auto files, content::walk(folder, {}));
  FolderUpload upload(*this, project);
  for (const content::SourceFile& file : files) TAKT_RETURN_IF_ERROR(upload.add(file));
  TAKT_RETURN_IF_ERROR(upload.flush());
  TAKT_ASSIGN(const content::Manifest manifest, content::make_manifest(upload.take_entries()));
  return add_tree(project, manifest);
}

Status BlobStore::checkout(const ProjectId& project, const Digest& tree,
                           const std::filesystem::path& folder, bool read_only) {
  TAKT_ASSIGN(const content::Manifest manifest, read_tree(project, tree));
  std::vector<Digest> digests;
  digests.reserve(manifest.entries.size());
  for (const content::Entry& entry : manifest.entries) digests.push_back(entry.digest);
  const ReadOne read_one = read_in_order(project, std::move(digests));
  return content::materialize(manifest, folder, read_only, [&](const Digest& digest, int fd) {
    return read_one(digest, [fd](std::string_view part) { return write_all(fd, part); });
  });
}

}  // namespace takt::store
