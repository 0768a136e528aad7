// SPDX-License-Identifier: Apache-2.0
#include "takt/shim/isolate.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "takt/base/file.h"

namespace takt::shim {
namespace {

bool is_within(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

bool is_within_any(const std::string& path, const std::vector<std::string>& folders) {
  return std::ranges::any_of(folders, [&](const std::string& f) { return is_within(path, f); });
}

// May `uid` go through this folder?
bool can_pass(const std::string& folder, const AttemptSpec& spec) {
  struct stat info{};
  if (::stat(folder.c_str(), &info) != 0) return true;  // the open of the path itself reports it
  if (info.st_uid == spec.uid) return (info.st_mode & S_IXUSR) != 0;
  if (info.st_gid == spec.gid) return (info.st_mode & S_IXGRP) != 0;
  return (info.st_mode & S_IXOTH) != 0;
}

// The folders to cover: those hidden by wish, and those that stand in the way of a visible path.
std::vector<std::string> covers_of(const AttemptSpec& spec) {
  std::vector<std::string> covers;
  const auto add = [&covers](const std::string& folder) {
    if (is_within_any(folder, covers)) return;
    std::erase_if(covers, [&](const std::string& known) { return is_within(known, folder); });
    covers.push_back(folder);
  };
  for (const std::string& folder : spec.hidden) add(folder);
  for (const VisiblePath& visible : spec.visible) {
    for (std::size_t slash = visible.path.find('/', 1); slash != std::string::npos;
         slash = visible.path.find('/', slash + 1)) {
      const std::string above = visible.path.substr(0, slash);
      if (is_within_any(above, covers)) break;
      if (!can_pass(above, spec)) {
        add(above);
        break;
      }
    }
  }
  return covers;
}

Status make_mount_point(const std::string& path, bool is_folder) {
  const std::size_t slash = path.rfind('/');
  TAKT_RETURN_IF_ERROR(make_dirs(is_folder ? path : path.substr(0, slash)));
  if (is_folder) return {};
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0444));
  if (!file) return fail(errno_error("creating " + path, errno));
  return {};
}

struct Opened {
  const VisiblePath* visible = nullptr;
  Fd fd;
  bool is_folder = true;
};

Result<std::vector<Opened>> open_visible(const AttemptSpec& spec) {
  std::vector<Opened> opened;
  for (const VisiblePath& visible : spec.visible) {
    Opened one{&visible, Fd(::open(visible.path.c_str(), O_PATH | O_CLOEXEC)), true};
    if (!one.fd) return fail(errno_error("opening " + visible.path, errno));
    struct stat info{};
    if (::fstat(one.fd.get(), &info) != 0)
      return fail(errno_error("reading " + visible.path, errno));
    one.is_folder = S_ISDIR(info.st_mode);
    opened.push_back(std::move(one));
  }
  return opened;
}

Status show(const Opened& opened, bool is_covered) {
  const std::string& path = opened.visible->path;
  if (!is_covered && !opened.visible->read_only) return {};
  if (is_covered) TAKT_RETURN_IF_ERROR(make_mount_point(path, opened.is_folder));
  const std::string source = "/proc/self/fd/" + std::to_string(opened.fd.get());
  if (::mount(source.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return fail(errno_error("mounting " + path, errno));
  const unsigned long access = opened.visible->read_only ? MS_RDONLY : 0;
  if (::mount(nullptr, path.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_NOSUID | access, nullptr) !=
      0)
    return fail(errno_error("remounting " + path, errno));
  return {};
}

}  // namespace

Status isolate_mounts(const AttemptSpec& spec) {
  if (::unshare(CLONE_NEWNS) != 0) return fail(errno_error("taking an own mount namespace", errno));
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fail(errno_error("making the mounts private", errno));
  // Opened before anything is covered; of this namespace, or the kernel refuses to bind them.
  TAKT_ASSIGN(const std::vector<Opened> opened, open_visible(spec));
  const std::vector<std::string> covers = covers_of(spec);
  for (const std::string& cover : covers) {
    if (::mount("takt", cover.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0)
      return fail(errno_error("covering " + cover, errno));
  }
  for (const Opened& one : opened)
    TAKT_RETURN_IF_ERROR(show(one, is_within_any(one.visible->path, covers)));
  for (const std::string& cover : covers) {
    constexpr unsigned long kFlags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
    if (::mount(nullptr, cover.c_str(), nullptr, kFlags, nullptr) != 0)
      return fail(errno_error("closing " + cover, errno));
  }
  return {};
}

Status drop_user(const AttemptSpec& spec) {
  if (spec.change_user) {
    if (::setgroups(0, nullptr) != 0) return fail(errno_error("dropping groups", errno));
    if (::setresgid(spec.gid, spec.gid, spec.gid) != 0)
      return fail(errno_error("setting the group", errno));
    if (::setresuid(spec.uid, spec.uid, spec.uid) != 0)
      return fail(errno_error("setting the user", errno));
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(errno_error("setting no_new_privs", errno));
  return {};
}

}  // namespace takt::shim
