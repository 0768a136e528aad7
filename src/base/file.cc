// SPDX-License-Identifier: Apache-2.0
#include "takt/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace takt {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

// Fills, syncs and closes the temporary file; the caller renames it.
Status fill_temporary(int fd, const std::string& name, std::string_view bytes, unsigned mode) {
  Fd file(fd);
  TAKT_RETURN_IF_ERROR(write_all(fd, bytes).transform_error(while_("writing " + name)));
  if (::fchmod(fd, mode) != 0) return fail(errno_error("setting the mode of " + name, errno));
  if (::fsync(fd) != 0) return fail(errno_error("syncing " + name, errno));
  if (::close(file.release()) != 0) return fail(errno_error("closing " + name, errno));
  return {};
}

// Folders without write permission stop a removal by anyone but root: give it back first.
void make_folders_writable(const fs::path& root) {
  std::error_code ignored;
  ::chmod(root.c_str(), 0700);
  for (auto at = fs::recursive_directory_iterator(root, ignored);
       at != fs::recursive_directory_iterator(); at.increment(ignored)) {
    if (ignored) break;
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) ::chmod(at->path().c_str(), 0700);
  }
}

struct ::flock whole_file_lock() {
  struct ::flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Status write_file_durably(const fs::path& path, std::string_view bytes, unsigned mode) {
  const fs::path folder = folder_of(path);
  std::string temporary = (folder / ("." + path.filename().string() + ".XXXXXX")).string();
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return fail(errno_error("creating a file in " + folder.string(), errno));
  if (Status filled = fill_temporary(fd, path.string(), bytes, mode); !filled) {
    ::unlink(temporary.c_str());
    return filled;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error_number = errno;
    ::unlink(temporary.c_str());
    return fail(errno_error("renaming to " + path.string(), error_number));
  }
  return sync_dir(folder);
}

Result<std::string> read_file(const fs::path& path, std::size_t bytes_max) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(errno_error("opening " + path.string(), errno));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail(errno_error("reading " + path.string(), errno));
  std::string bytes;
  std::size_t used = 0;
  // Files in /proc say size 0; others are read in one call plus one that sees the end.
  std::size_t room = static_cast<std::size_t>(info.st_size) + 1;
  for (;;) {
    if (room > bytes_max + 1) room = bytes_max + 1;
    if (room < 4096 && bytes_max >= 4096) room = 4096;
    if (bytes.size() < room) bytes.resize(room);
    const ssize_t got = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error("reading " + path.string(), errno));
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > bytes_max) {
      return fail(Code::kTooLarge, path.string() + " is larger than the limit of " +
                                       std::to_string(bytes_max) + " bytes");
    }
    if (used == bytes.size()) room = used * 2;
  }
  bytes.resize(used);
  return bytes;
}

Status make_dirs(const fs::path& path, unsigned mode) {
  fs::path made;
  for (const fs::path& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), mode) == 0) continue;
    const int error_number = errno;
    struct stat info{};
    if (::stat(made.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    return fail(errno_error("creating the folder " + made.string(), error_number));
  }
  return {};
}

Status sync_dir(const fs::path& path) {
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return fail(errno_error("opening the folder " + path.string(), errno));
  if (::fsync(folder.get()) != 0) {
    return fail(errno_error("syncing the folder " + path.string(), errno));
  }
  return {};
}

Status remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error == std::errc::permission_denied) {
    make_folders_writable(path);
    error.clear();
    fs::remove_all(path, error);
  }
  if (error) return fail(errno_error("removing " + path.string(), error.value()));
  return {};
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail(errno_error("write", errno));
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Result<Fd> lock_file(const fs::path& path) {
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return fail(errno_error("opening " + path.string(), errno));
  // A lock of the open file, not of the process: it is kept by whoever inherits the descriptor.
  struct ::flock lock = whole_file_lock();
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return file;
  if (errno == EAGAIN || errno == EACCES) {
    return fail(Code::kConflict, path.string() + " is locked by another process");
  }
  return fail(errno_error("locking " + path.string(), errno));
}

bool is_locked(const fs::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  struct ::flock lock = whole_file_lock();
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace takt
