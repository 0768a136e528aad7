// SPDX-License-Identifier: Apache-2.0
// Attempts as processes of this machine, each under a takt-shim of its own.
#pragma once

#include <sys/types.h>

#include <memory>

#include "takt/jobs/executor.h"

namespace takt::jobs {

struct LocalExecutorOptions {
  std::filesystem::path data_dir;   // absolute
  std::filesystem::path shim;       // the program; empty: takt-shim beside this one
  std::int64_t cpu_millicores = 0;  // capacity; 0: what the machine has
  std::int64_t memory_bytes = 0;
  std::int64_t gpus = -1;  // -1: those found
  /// As root, job N runs as user uid + N mod uid_count, or as the next that no process has, so that
  /// jobs cannot touch each other.
  uid_t uid = 64'000;
  uid_t uid_count = 1'000;
  bool isolate = true;  // false: only for tests
};

Result<std::unique_ptr<Executor>> open_local_executor(LocalExecutorOptions options);

/// exit.json as an AttemptExit; kConflict when it is of another lease.
Result<AttemptExit> parse_exit_record(std::string_view json, std::string_view token);

}  // namespace takt::jobs
