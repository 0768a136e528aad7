// SPDX-License-Identifier: Apache-2.0
#include "takt/base/lock.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>

#include "takt/base/file.h"

namespace takt {

Result<bool> is_lock_held(const std::filesystem::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return false;
  if (!file) return fail(errno_error("opening " + path.string(), errno));
  struct ::flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_OFD_GETLK, &lock) == 0) return lock.l_type != F_UNLCK;
  return fail(errno_error("looking at the lock " + path.string(), errno));
}

}  // namespace takt
