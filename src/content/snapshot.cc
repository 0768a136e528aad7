// SPDX-License-Identifier: Apache-2.0
#include "takt/content/snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "takt/base/safe_path.h"

namespace takt::content {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;

bool is_same_state(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
         a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

std::unexpected<Error> changed(const SourceFile& file) {
  return fail(Code::kConflict, file.source.string() + " changed while it was read",
              "wait until nothing writes to it, then add it again");
}

// Hands the bytes to `take` chunk by chunk; the file has to stay what it was at the walk.
Result<Entry> read_stable(const SourceFile& file,
                          const std::function<void(std::string_view)>& take) {
  const Fd fd(::open(file.source.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return fail(errno_error("opening " + file.source.string(), errno));
  struct stat before{};
  struct stat after{};
  if (::fstat(fd.get(), &before) != 0) {
    return fail(errno_error("reading " + file.source.string(), errno));
  }
  if (before.st_size != file.size) return changed(file);
  Sha256 hash;
  std::string chunk(kReadBytes, '\0');
  std::int64_t size = 0;
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error("reading " + file.source.string(), errno));
    if (got == 0) break;
    const std::string_view bytes(chunk.data(), static_cast<std::size_t>(got));
    size += got;
    if (size > file.size) return changed(file);
    hash.update(bytes);
    take(bytes);
  }
  if (::fstat(fd.get(), &after) != 0) {
    return fail(errno_error("reading " + file.source.string(), errno));
  }
  if (size != file.size || !is_same_state(before, after)) return changed(file);
  return Entry{file.path, size, file.executable, hash.finish()};
}

Status write_entry(const Entry& entry, const SafePath& path, bool read_only,
                   const FetchToFile& fetch) {
  TAKT_ASSIGN(const Fd file, path.create(0600));
  TAKT_RETURN_IF_ERROR(fetch(entry.digest, file.get()).transform_error(while_(entry.path)));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail(errno_error(entry.path, errno));
  if (info.st_size != entry.size) {
    return fail(Code::kInternal, entry.path + ": got " + std::to_string(info.st_size) +
                                     " bytes of blob " + entry.digest.value + ", expected " +
                                     std::to_string(entry.size));
  }
  const unsigned mode = (read_only ? 0444u : 0644u) | (entry.executable ? 0111u : 0u);
  if (::fchmod(file.get(), mode) != 0) return fail(errno_error(entry.path, errno));
  return {};
}

}  // namespace

Result<Entry> hash_file(const SourceFile& file) {
  return read_stable(file, [](std::string_view) {});
}

Result<Entry> read_and_hash(const SourceFile& file, std::string* bytes) {
  bytes->clear();
  bytes->reserve(static_cast<std::size_t>(file.size));
  return read_stable(file, [bytes](std::string_view chunk) { bytes->append(chunk); });
}

Status materialize(const Manifest& manifest, const std::filesystem::path& folder, bool read_only,
                   const FetchToFile& fetch) {
  TAKT_RETURN_IF_ERROR(make_dirs(folder));
  TAKT_ASSIGN(const SafeRoot root, SafeRoot::open(folder));
  std::string_view made;  // the folder that the entry before lies in
  for (const Entry& entry : manifest.entries) {
    TAKT_ASSIGN(const SafePath path, root.resolve(entry.path));
    const std::string_view parent =
        std::string_view(entry.path).substr(0, entry.path.rfind('/') + 1);
    if (parent != made) TAKT_RETURN_IF_ERROR(path.make_parents());
    made = parent;
    TAKT_RETURN_IF_ERROR(write_entry(entry, path, read_only, fetch));
  }
  return {};
}

}  // namespace takt::content
