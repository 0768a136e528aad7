// SPDX-License-Identifier: Apache-2.0
#include "takt/base/safe_path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "takt/base/limits.h"
#include "takt/base/utf8.h"

namespace takt {
namespace {

constexpr std::size_t kSegmentBytesMax = 255;

std::string shown_path(std::string_view path) {
  std::string text = "\"";
  for (const char c : shorten(path, 200)) {
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return text + "\"";
}

std::string_view first_segment(std::string_view path) { return path.substr(0, path.find('/')); }

// For kernels and sandboxes without openat2: one segment at a time, none of them a link.
int open_by_segments(int root, std::string_view path, int flags, unsigned mode) {
  Fd folder;
  for (;;) {
    const std::string segment(first_segment(path));
    const int at = folder ? folder.get() : root;
    if (segment.size() == path.size()) {
      return ::openat(at, segment.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
    }
    Fd next(::openat(at, segment.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return -1;
    folder = std::move(next);
    path.remove_prefix(segment.size() + 1);
  }
}

int open_beneath(int root, const std::string& path, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (;;) {
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    if (errno == EINTR || errno == EAGAIN) continue;  // EAGAIN: something was renamed meanwhile
    if (errno == ENOSYS || errno == EPERM) return open_by_segments(root, path, flags, mode);
    return -1;
  }
}

Error open_error(std::string_view doing, const std::string& path, int error_number) {
  if (error_number == ELOOP || error_number == EXDEV) {
    return Error{Code::kDenied,
                 shown_path(path) + " leads through a symbolic link",
                 "symbolic links are not followed here",
                 {}};
  }
  return errno_error(std::string(doing) + " " + shown_path(path), error_number);
}

}  // namespace

Status check_relative_path(std::string_view path) {
  const auto refuse = [&](std::string_view why) -> Status {
    return fail(Code::kInvalid, "path " + shown_path(path) + " " + std::string(why),
                "use a relative path with / between names");
  };
  if (path.empty()) return fail(Code::kInvalid, "the path is empty");
  if (path.size() > limits::kPathBytesMax) {
    return refuse("is longer than " + std::to_string(limits::kPathBytesMax) + " bytes");
  }
  if (path.front() == '/') return refuse("is absolute");
  if (find_invalid_utf8(path)) return fail(Code::kInvalid, "the path is not UTF-8");
  for (const char c : path) {
    if (c == '\\') return refuse("has a back-slash");
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return refuse("has a control character");
  }
  for (std::string_view rest = path;;) {
    const std::string_view segment = first_segment(rest);
    if (segment.empty()) return refuse("has an empty name");
    if (segment == "." || segment == "..") {
      return refuse("has the name " + std::string(segment));
    }
    if (segment.size() > kSegmentBytesMax) {
      return refuse("has a name longer than " + std::to_string(kSegmentBytesMax) + " bytes");
    }
    if (segment.size() == rest.size()) return {};
    rest.remove_prefix(segment.size() + 1);
  }
}

Result<SafeRoot> SafeRoot::open(const std::filesystem::path& folder) {
  Fd fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail(errno_error("opening the folder " + folder.string(), errno));
  SafeRoot root;
  root.fd_ = std::make_shared<Fd>(std::move(fd));
  return root;
}

Result<SafePath> SafeRoot::resolve(std::string_view relative) const {
  TAKT_CHECK(fd_ != nullptr, "a SafeRoot that was not opened");
  TAKT_RETURN_IF_ERROR(check_relative_path(relative));
  return SafePath(fd_, std::string(relative));
}

Result<Fd> SafePath::open_read() const {
  // Non-blocking, so that a pipe in place of a file cannot hang us before the check.
  Fd file(open_beneath(root_->get(), relative_, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0));
  if (!file) return fail(open_error("opening", relative_, errno));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail(open_error("reading", relative_, errno));
  if (!S_ISREG(info.st_mode)) {
    return fail(Code::kInvalid, shown_path(relative_) + " is not a regular file");
  }
  return file;
}

Result<Fd> SafePath::create(unsigned mode) const {
  Fd file(open_beneath(root_->get(), relative_, O_WRONLY | O_CREAT | O_EXCL, mode));
  if (!file) return fail(open_error("creating", relative_, errno));
  return file;
}

Status SafePath::make_parents(unsigned mode) const {
  std::string_view rest = relative_;
  Fd folder;
  for (;;) {
    const std::string segment(first_segment(rest));
    if (segment.size() == rest.size()) return {};
    const int at = folder ? folder.get() : root_->get();
    if (::mkdirat(at, segment.c_str(), mode) != 0 && errno != EEXIST) {
      return fail(open_error("creating the folders of", relative_, errno));
    }
    Fd next(::openat(at, segment.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return fail(open_error("creating the folders of", relative_, errno));
    folder = std::move(next);
    rest.remove_prefix(segment.size() + 1);
  }
}

}  // namespace takt
