// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/blob_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "takt/base/log.h"

namespace takt::store::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPackMark = "pack-";
constexpr std::string_view kLooseMark = "loose-";
constexpr std::size_t kDigestLength = 64;

std::string marker_name(BlobKind kind, const Digest& digest) {
  return std::string(kind == BlobKind::kPack ? kPackMark : kLooseMark) + digest.value + "." +
         random_hex(4);
}

struct MarkedBlob {
  BlobKind kind;
  Digest digest;
};

/// What a file of tmp/ is a marker of, if it is one.
std::optional<MarkedBlob> parse_marker(std::string_view name) {
  const bool is_pack = name.starts_with(kPackMark);
  if (!is_pack && !name.starts_with(kLooseMark)) return std::nullopt;
  const std::string_view digest =
      name.substr(is_pack ? kPackMark.size() : kLooseMark.size()).substr(0, kDigestLength);
  if (!is_digest(digest)) return std::nullopt;
  return MarkedBlob{is_pack ? BlobKind::kPack : BlobKind::kLoose, {std::string(digest)}};
}

/// Gives the file its final name and keeps the marker; false when no marker is left.
Result<bool> link_or_rename(const fs::path& marker, const fs::path& final_path) {
  if (::link(marker.c_str(), final_path.c_str()) == 0) return true;
  // There already: equal bytes, or a damaged copy that these, just verified, are to replace.
  // Other errors: a file system without hard links.
  if (::rename(marker.c_str(), final_path.c_str()) == 0) return false;
  return fail(errno_error("renaming to " + final_path.string(), errno));
}

}  // namespace

NewFile::~NewFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::move(other.fd_)) {
  other.path_.clear();
}

Status NewFile::append(std::string_view bytes) {
  return write_all(fd_.get(), bytes).transform_error(while_("writing " + path_.string()));
}

Result<BlobFolder> BlobFolder::open(const fs::path& root) {
  for (const char* part : {"packs", "loose", "tmp"}) {
    TAKT_RETURN_IF_ERROR(make_dirs(root / part));
  }
  TAKT_RETURN_IF_ERROR(sync_dir(root));
  return BlobFolder(root);
}

/// fsync of the parent before a folder is used by anyone, once per folder and program.
Status BlobFolder::make_loose_folder(const fs::path& folder) const {
  const std::string name = folder.filename().string();
  std::atomic<bool>& is_durable =
      (*durable_folders_)[static_cast<std::size_t>(std::stoi(name, nullptr, 16))];
  if (is_durable) return {};
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail(errno_error("creating the folder " + folder.string(), errno));
  }
  TAKT_RETURN_IF_ERROR(sync_dir(folder.parent_path()));
  is_durable = true;
  return {};
}

Result<NewFile> BlobFolder::create() const {
  const fs::path path = root_ / "tmp" / ("new-" + random_hex(12));
  Fd fd(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
  if (!fd) return fail(errno_error("creating " + path.string(), errno));
  return NewFile(path, std::move(fd));
}

Result<BlobMarker> BlobFolder::publish(NewFile file, BlobKind kind, const Digest& digest) const {
  if (::fdatasync(file.fd_.get()) != 0) {
    return fail(errno_error("syncing " + file.path_.string(), errno));
  }
  const fs::path marker = root_ / "tmp" / marker_name(kind, digest);
  if (::rename(file.path_.c_str(), marker.c_str()) != 0) {
    return fail(errno_error("renaming to " + marker.string(), errno));
  }
  file.path_ = marker;  // removed should the next steps fail
  const fs::path final_path = path_of(kind, digest);
  if (kind == BlobKind::kLoose) TAKT_RETURN_IF_ERROR(make_loose_folder(final_path.parent_path()));
  TAKT_ASSIGN(const bool has_marker, link_or_rename(marker, final_path));
  file.path_.clear();
  TAKT_RETURN_IF_ERROR(sync_dir(final_path.parent_path()));
  return BlobMarker{has_marker ? marker : fs::path()};
}

void BlobFolder::settle(const BlobMarker& marker) const {
  if (!marker.path.empty()) ::unlink(marker.path.c_str());
}

void BlobFolder::remove(BlobKind kind, const Digest& digest) const {
  ::unlink(path_of(kind, digest).c_str());
}

fs::path BlobFolder::path_of(BlobKind kind, const Digest& digest) const {
  if (kind == BlobKind::kPack) return root_ / "packs" / (digest.value + ".pack");
  return root_ / "loose" / digest.value.substr(0, 2) / digest.value.substr(2);
}

Status BlobFolder::sweep(const IsCommitted& is_committed) const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root_ / "tmp", error)) {
    const std::string name = entry.path().filename().string();
    if (const auto marked = parse_marker(name)) {
      TAKT_ASSIGN(const bool is_kept, is_committed(marked->kind, marked->digest));
      if (!is_kept) {
        remove(marked->kind, marked->digest);
        log_info("removed an upload that was never acknowledged", {{"blob", marked->digest.value}});
      }
    }
    ::unlink(entry.path().c_str());
  }
  if (error) return fail(errno_error("reading " + (root_ / "tmp").string(), error.value()));
  return {};
}

}  // namespace takt::store::internal
