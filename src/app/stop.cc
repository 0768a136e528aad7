// SPDX-License-Identifier: Apache-2.0
#include "takt/app/stop.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "takt/base/clock.h"
#include "takt/base/file.h"
#include "takt/base/lock.h"

namespace takt::app {
namespace {

constexpr int kPauseMs = 20;

// Only a holder of the lock writes the number, so while the lock is held it is the holder's.
Result<pid_t> server_process(const std::filesystem::path& lock) {
  TAKT_ASSIGN(const std::string text, read_file(lock, 64));
  pid_t pid = 0;
  std::from_chars(text.data(), text.data() + text.size(), pid);
  if (pid <= 1)
    return fail(Code::kUnavailable, lock.string() + " does not name the server's process",
                "the server has just begun to start: try again");
  return pid;
}

}  // namespace

Status note_server_process(int lock_fd) {
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock_fd, 0) != 0) return fail(errno_error("writing server.lock", errno));
  return write_all(lock_fd, text);
}

Result<bool> stop_server(const std::filesystem::path& data_dir, std::int64_t patience_ms) {
  const std::filesystem::path lock = data_dir / "server.lock";
  TAKT_ASSIGN(const bool has_server, is_lock_held(lock));
  if (!has_server) return false;
  TAKT_ASSIGN(const pid_t pid, server_process(lock));
  if (::kill(pid, SIGTERM) != 0 && errno != ESRCH)
    return fail(errno_error("stopping process " + std::to_string(pid), errno));
  const Mono until = system_clock().mono() + patience_ms * 1000;
  for (;;) {
    TAKT_ASSIGN(const bool is_held, is_lock_held(lock));
    if (!is_held) return true;
    if (system_clock().mono() >= until)
      return fail(Code::kTimeout,
                  "the server (process " + std::to_string(pid) + ") has not ended within " +
                      std::to_string(patience_ms / 1000) + " s",
                  "it finishes what is in flight; wait, or end it with kill -9: nothing that was "
                  "acknowledged is lost");
    ::poll(nullptr, 0, kPauseMs);
  }
}

}  // namespace takt::app
