// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/halt.h"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "takt/base/clock.h"
#include "takt/base/file.h"
#include "takt/base/lock.h"
#include "takt/base/value.h"

namespace takt::jobs {
namespace {

namespace fs = std::filesystem;

constexpr int kPauseMs = 20;

// DATA/jobs/JOB/attempts/N whose supervisor lives.
Result<std::vector<fs::path>> running_attempts(const fs::path& data_dir) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& job : fs::directory_iterator(data_dir / "jobs", error)) {
    std::error_code none;
    for (const fs::directory_entry& attempt :
         fs::directory_iterator(job.path() / "attempts", none)) {
      TAKT_ASSIGN(const bool is_held, is_lock_held(attempt.path() / "shim.lock"));
      if (is_held) found.push_back(attempt.path());
    }
  }
  return found;
}

}  // namespace

Result<Halted> halt_attempts(const fs::path& data_dir, std::int64_t grace_ms,
                             std::int64_t patience_ms) {
  TAKT_ASSIGN(std::vector<fs::path> running, running_attempts(data_dir));
  Halted halted{.asked = static_cast<int>(running.size())};
  const std::string wish = dump_json(Value(Object{{"grace_ms", grace_ms}})) + "\n";
  for (const fs::path& attempt : running)
    TAKT_RETURN_IF_ERROR(write_file_durably(attempt / "stop", wish));
  const Mono until = system_clock().mono() + patience_ms * 1000;
  for (;;) {
    std::erase_if(running, [](const fs::path& at) {
      const auto held = is_lock_held(at / "shim.lock");
      return held && !*held;  // one that cannot be looked at may run
    });
    if (running.empty() || system_clock().mono() >= until) break;
    ::poll(nullptr, 0, kPauseMs);
  }
  halted.still_runs = static_cast<int>(running.size());
  return halted;
}

}  // namespace takt::jobs
