// SPDX-License-Identifier: Apache-2.0
// Attempts' logs: files that grow, read by offset; never held in memory as a whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "takt/base/error.h"
#include "takt/net/http.h"

namespace takt::jobs {

/// Bytes from `offset` on, at most `bytes_max`; negative: that many before the end. A log that is
/// not there yet is empty.
struct LogBytes {
  std::string bytes;
  std::int64_t offset = 0;
  std::int64_t size = 0;
};
Result<LogBytes> read_log(const std::filesystem::path& path, std::int64_t offset,
                          std::int64_t bytes_max);

/// The last `count` lines, without their line ends; long ones are cut.
std::vector<std::string> last_log_lines(const std::filesystem::path& path, std::size_t count);

/// One followed log.
struct FollowedLog {
  std::filesystem::path path;
  std::int64_t offset = 0;
  /// Asked when nothing new is there; then the rest is sent and the stream closed.
  std::function<bool()> has_ended;
};

/// Serves all followers from one thread. A reader that is slower than the log is cut off by its
/// sink and asks again from where it stopped.
class LogFollower {
 public:
  LogFollower();
  ~LogFollower();
  void follow(FollowedLog log, std::shared_ptr<net::StreamSink> sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace takt::jobs
