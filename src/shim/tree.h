// SPDX-License-Identifier: Apache-2.0
// The whole tree of processes that an attempt started, double forks and new sessions included.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace takt::shim {

/// All descendants of `root` by /proc, `root` itself left out. Zombies are left out.
std::vector<pid_t> descendants(pid_t root);

/// Pids in a cgroup (its cgroup.procs); empty when it cannot be read.
std::vector<pid_t> cgroup_members(const std::string& cgroup);

/// Kills everything in the cgroups and below this process (which must be a child subreaper) until
/// nothing is left, reaping through `reap`. Where cgroup.kill exists it does the work at once;
/// elsewhere the walk is repeated, for a process may fork while it is walked.
/// False when something could not be ended within `patience_ms` (stuck in the kernel).
bool kill_tree(const std::vector<std::string>& cgroups, const std::string& cgroup_kill,
               const std::function<void()>& reap, std::int64_t patience_ms);

/// How many processes of the cgroup the kernel killed for memory; 0 when it cannot be told.
std::int64_t oom_kills(const std::string& cgroup_memory);

/// CPU time used in a v2 cgroup, in ms; -1 when it cannot be told.
std::int64_t cgroup_cpu_ms(const std::string& cgroup);

}  // namespace takt::shim
