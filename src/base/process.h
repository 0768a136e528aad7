// SPDX-License-Identifier: Apache-2.0
// Starting programs: posix_spawn behind, cheap from a parent of any size.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "takt/base/file.h"

namespace takt {

struct ProcessSpec {
  std::vector<std::string> command;      // command[0] is looked up in PATH when it has no slash
  std::vector<std::string> environment;  // "K=V"; the parent's when `inherit_environment`
  bool inherit_environment = true;
  std::filesystem::path folder;  // empty: the parent's
  int stdin_fd = -1;             // -1: /dev/null
  int stdout_fd = -1;            // -1: /dev/null
  int stderr_fd = -1;
  bool new_session = false;
};

/// Starts it; the child's pid.
Result<pid_t> spawn(const ProcessSpec& spec);

struct Completed {
  int exit_code = 0;   // 128 + signal when killed
  std::string output;  // stdout
  std::string errors;  // stderr
};
/// Runs to the end, capturing both streams (up to 16 MiB each).
Result<Completed> run(ProcessSpec spec, std::int64_t timeout_ms);

/// Start time of a process (field 22 of /proc/PID/stat), to tell it from a later one of the same
/// pid.
Result<std::uint64_t> process_start_time(pid_t pid);
std::string boot_id();
/// Path of this program, for starting its siblings.
std::filesystem::path own_executable();

}  // namespace takt
