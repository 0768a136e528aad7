// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/executors/job_users.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string>

namespace takt::jobs {
namespace {

// From the choice until the command runs under it, and can be seen.
constexpr std::int64_t kPromiseMs = 60'000;

// The users of all processes: each has a folder, which belongs to its user.
std::set<uid_t> users_of_processes(const std::filesystem::path& proc) {
  std::set<uid_t> users;
  std::error_code error;
  for (std::filesystem::directory_iterator at(proc, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    struct stat info{};
    const bool is_process = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (is_process && ::stat(at->path().c_str(), &info) == 0) users.insert(info.st_uid);
  }
  return users;
}

}  // namespace

uid_t JobUsers::choose(JobId job) {
  const std::set<uid_t> taken = users_of_processes(proc_);
  const std::lock_guard guard(mutex_);
  const Mono now = clock_.mono();
  std::erase_if(promised_, [&](const auto& entry) { return entry.second.until < now; });
  const auto own = static_cast<uid_t>(job.value % count_);
  for (uid_t step = 0; step < count_; ++step) {
    const uid_t user = first_ + (own + step) % count_;
    const auto promised = promised_.find(user);
    const bool is_promised = promised != promised_.end() && promised->second.job != job;
    if (is_promised || taken.contains(user)) continue;
    promised_[user] = {job, now + kPromiseMs * 1000};
    return user;
  }
  return first_ + own;
}

}  // namespace takt::jobs
