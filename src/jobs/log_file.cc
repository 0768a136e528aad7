// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "takt/base/file.h"

namespace takt::jobs {
namespace {

constexpr std::int64_t kTailBytes = 64 << 10;
constexpr std::size_t kLineBytesMax = 500;
constexpr auto kFollowTick = std::chrono::milliseconds(100);
constexpr std::int64_t kFollowBytesPerTick = 256 << 10;

}  // namespace

Result<LogBytes> read_log(const std::filesystem::path& path, std::int64_t offset,
                          std::int64_t bytes_max) {
  LogBytes log;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return log;
  if (!file) return fail(errno_error("opening " + path.string(), errno));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail(errno_error("reading " + path.string(), errno));
  log.size = info.st_size;
  log.offset =
      offset < 0 ? std::max<std::int64_t>(log.size + offset, 0) : std::min(offset, log.size);
  log.bytes.resize(
      static_cast<std::size_t>(std::clamp<std::int64_t>(log.size - log.offset, 0, bytes_max)));
  std::size_t used = 0;
  while (used < log.bytes.size()) {
    const ssize_t got = ::pread(file.get(), log.bytes.data() + used, log.bytes.size() - used,
                                log.offset + static_cast<std::int64_t>(used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error("reading " + path.string(), errno));
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  log.bytes.resize(used);
  return log;
}

std::vector<std::string> last_log_lines(const std::filesystem::path& path, std::size_t count) {
  std::vector<std::string> lines;
  const Result<LogBytes> tail = read_log(path, -kTailBytes, kTailBytes);
  if (!tail) return lines;
  std::string_view rest(tail->bytes);
  while (rest.ends_with('\n')) rest.remove_suffix(1);
  while (!rest.empty() && lines.size() < count) {
    const std::size_t end = rest.rfind('\n');
    const std::string_view line = end == std::string_view::npos ? rest : rest.substr(end + 1);
    lines.emplace_back(line.substr(0, kLineBytesMax));
    if (end == std::string_view::npos) break;
    rest = rest.substr(0, end);
  }
  std::ranges::reverse(lines);
  return lines;
}

struct LogFollower::Impl {
  struct Follower {
    FollowedLog log;
    std::shared_ptr<net::StreamSink> sink;
  };

  // False when the follower is done.
  static bool serve(Follower& follower) {
    FollowedLog& log = follower.log;
    const auto read_on = [&log] { return read_log(log.path, log.offset, kFollowBytesPerTick); };
    Result<LogBytes> more = read_on();
    // Read once more after the question: what was written until the end is then surely read.
    const bool is_over = more && more->bytes.empty() && log.has_ended();
    if (is_over) more = read_on();
    const bool is_done = !more || (is_over && more->bytes.empty());
    if (is_done || !follower.sink->is_open()) {
      follower.sink->close();
      return false;
    }
    if (more->bytes.empty()) return true;
    log.offset = more->offset + static_cast<std::int64_t>(more->bytes.size());
    return follower.sink->send(std::move(more->bytes));
  }

  void loop() {
    std::vector<Follower> mine;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        if (mine.empty())
          changed.wait(lock, [this] { return is_over || !arrived.empty(); });
        else
          changed.wait_for(lock, kFollowTick, [this] { return is_over || !arrived.empty(); });
        if (is_over) break;
        for (Follower& follower : arrived) mine.push_back(std::move(follower));
        arrived.clear();
      }
      std::erase_if(mine, [](Follower& follower) { return !serve(follower); });
    }
    for (Follower& follower : mine) follower.sink->close();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Follower> arrived;  // guarded by mutex
  bool is_over = false;           // guarded by mutex
  std::thread thread;
};

LogFollower::LogFollower() : impl_(std::make_unique<Impl>()) {
  impl_->thread = std::thread([this] { impl_->loop(); });
}

LogFollower::~LogFollower() {
  {
    const std::lock_guard guard(impl_->mutex);
    impl_->is_over = true;
  }
  impl_->changed.notify_all();
  impl_->thread.join();
}

void LogFollower::follow(FollowedLog log, std::shared_ptr<net::StreamSink> sink) {
  {
    const std::lock_guard guard(impl_->mutex);
    impl_->arrived.push_back({std::move(log), std::move(sink)});
  }
  impl_->changed.notify_all();
}

}  // namespace takt::jobs
