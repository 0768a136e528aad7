// SPDX-License-Identifier: Apache-2.0
// The cgroups of attempts: v2 with controllers, hybrid (v2 to end trees, v1 for limits), v1 alone,
// or none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.h"

namespace takt::jobs {

struct CgroupLimits {
  std::int64_t cpu_weight_millicores = 0;  // share under contention
  std::int64_t cpu_millicores_max = 0;     // 0: no cap
  std::int64_t memory_bytes_max = 0;       // 0: no cap
};

/// The folders of one attempt; empty texts where a thing is not to be had.
struct AttemptCgroups {
  std::vector<std::string> enter;  // the command's process goes into each
  std::string kill;                // has cgroup.kill
  std::string memory;              // counts OOM kills
  std::string shim;                // where the supervisor goes
};

/// What this machine lets us do, found once at start-up.
class Cgroups {
 public:
  /// `name` keeps two servers on one machine apart. Never fails: without any it says so in facts.
  static Cgroups probe(std::string_view name);

  Result<AttemptCgroups> make(std::string_view leaf, const CgroupLimits& limits) const;
  /// Kills what is left in the leaf (its supervisor is gone) and removes it.
  void remove(std::string_view leaf) const;

  /// Removes takt's own folders if no attempt is in them.
  void release() const;

  std::string_view memory_cap() const;  // cgroup-v2 | cgroup-v1 | none
  bool has_tree_kill() const { return !v2_.empty(); }

 private:
  void make_parents() const;
  std::vector<std::filesystem::path> leaves(std::string_view leaf) const;

  std::filesystem::path v2_;  // takt's folder in the v2 tree
  bool v2_memory_ = false, v2_cpu_ = false, v2_pids_ = false;
  std::filesystem::path v1_memory_, v1_cpu_;
};

/// Limits that hold for this process itself, from its own cgroups; 0: none.
struct OwnLimits {
  std::int64_t cpu_millicores = 0;
  std::int64_t memory_bytes = 0;
};
OwnLimits own_cgroup_limits();

}  // namespace takt::jobs
