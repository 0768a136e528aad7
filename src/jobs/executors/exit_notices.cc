// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/executors/exit_notices.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>

#include "takt/base/file.h"

namespace takt::jobs {
namespace {

class InotifyNotices final : public ExitNotices {
 public:
  InotifyNotices(Fd notices, Fd stop) : notices_(std::move(notices)), stop_(std::move(stop)) {
    thread_ = std::thread([this] { loop(); });
  }
  ~InotifyNotices() override {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }

  void on_notice(std::function<void()> wake) override {
    const std::lock_guard guard(mutex_);
    wake_ = std::move(wake);
  }

  void watch(const std::filesystem::path& folder) override {
    ::inotify_add_watch(notices_.get(), folder.c_str(), IN_MOVED_TO | IN_ONLYDIR);
  }

 private:
  void loop() {
    pollfd fds[2] = {{notices_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    for (;;) {
      if (::poll(fds, 2, -1) < 0 && errno != EINTR) return;
      if (fds[1].revents != 0) return;
      if (read_notices()) wake();
    }
  }

  // True when an exit record came.
  bool read_notices() {
    alignas(inotify_event) char buffer[16'384];
    bool any = false;
    for (;;) {
      const ssize_t got = ::read(notices_.get(), buffer, sizeof buffer);
      if (got <= 0) return any;
      for (ssize_t at = 0; at < got;) {
        inotify_event event;
        std::memcpy(&event, buffer + at, sizeof event);
        const char* name = buffer + at + sizeof event;
        if ((event.mask & IN_Q_OVERFLOW) != 0) any = true;
        if (event.len > 0 && std::string_view(name) == "exit.json") {
          any = true;
          ::inotify_rm_watch(notices_.get(), event.wd);
        }
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
  }

  void wake() {
    const std::lock_guard guard(mutex_);
    if (wake_) wake_();
  }

  Fd notices_, stop_;
  std::mutex mutex_;
  std::function<void()> wake_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<ExitNotices>> ExitNotices::open() {
  Fd notices(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!notices) return fail(errno_error("opening inotify", errno));
  Fd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return fail(errno_error("opening an eventfd", errno));
  return std::make_unique<InotifyNotices>(std::move(notices), std::move(stop));
}

}  // namespace takt::jobs
