// SPDX-License-Identifier: Apache-2.0
// User ids for jobs, so that two that run at once never share one: they could end, trace and read
// each other.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "takt/base/clock.h"
#include "takt/base/ids.h"

namespace takt::jobs {

/// Thread-safe.
class JobUsers {
 public:
  /// `proc`: where the processes are listed.
  JobUsers(uid_t first, uid_t count, const Clock& clock = system_clock(),
           std::filesystem::path proc = "/proc")
      : first_(first), count_(count), clock_(clock), proc_(std::move(proc)) {}

  /// Job N gets first + N mod count, or the next one after it that no process has and that no other
  /// job was given a moment ago; when all are taken, its own.
  uid_t choose(JobId job);

 private:
  const uid_t first_, count_;
  const Clock& clock_;
  const std::filesystem::path proc_;
  std::mutex mutex_;
  struct Promise {
    JobId job;
    Mono until;
  };
  std::map<uid_t, Promise> promised_;  // guarded by mutex_
};

}  // namespace takt::jobs
