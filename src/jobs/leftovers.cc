// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/leftovers.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "takt/base/log.h"
#include "takt/jobs/attempt_folder.h"
#include "takt/jobs/job_store.h"

namespace takt::jobs {
namespace {

namespace fs = std::filesystem;

// The numbers that name folders in `folder`.
std::vector<std::int64_t> numbers_in(const fs::path& folder) {
  std::vector<std::int64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::int64_t number = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

bool is_present(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Attempts of the job whose work folder is there still: it goes last.
std::vector<int> attempts_left(const fs::path& data_dir, JobId job) {
  std::vector<int> left;
  const fs::path attempts = AttemptFolder(data_dir, job, 1).root().parent_path();
  for (const std::int64_t number : numbers_in(attempts)) {
    const auto attempt = static_cast<int>(number);
    if (is_present(AttemptFolder(data_dir, job, attempt).work())) left.push_back(attempt);
  }
  return left;
}

std::optional<Job> find(store::Database& db, JobId id) {
  std::optional<Job> job;
  const Status read = db.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(job, get_job(reader, id));
    return {};
  });
  if (!read && read.error().code != Code::kNotFound)
    log_warn("leftovers of a job stay", {{"job", id.value}, {"error", read.error().text()}});
  return job;
}

}  // namespace

void discard_leftovers(store::Database& db, Workspace& workspace, const fs::path& data_dir) {
  for (const std::int64_t number : numbers_in(data_dir / "jobs")) {
    const JobId id{number};
    const std::vector<int> left = attempts_left(data_dir, id);
    if (left.empty()) continue;
    const std::optional<Job> job = find(db, id);
    if (!job) continue;
    for (const Attempt& attempt : job->attempts) {
      const bool is_left = std::ranges::find(left, attempt.number) != left.end();
      if (!is_left || !is_final(attempt.state)) continue;
      const bool is_last = is_final(job->state) && attempt.number == job->attempts.back().number;
      log_info("discarding what a crash left of an attempt",
               {{"job", id.value}, {"attempt", attempt.number}});
      workspace.discard(*job, attempt, is_last);
    }
  }
}

}  // namespace takt::jobs
