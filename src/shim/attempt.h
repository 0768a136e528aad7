// SPDX-License-Identifier: Apache-2.0
// What the shim is told (spec.json) and what it leaves behind (exit.json). docs/formats/attempt.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/clock.h"
#include "takt/base/error.h"

namespace takt::shim {

/// A path that the command may reach although its surroundings are hidden.
struct VisiblePath {
  std::string path;
  bool read_only = false;
};

/// spec.json, as the server wrote it before it started the shim.
struct AttemptSpec {
  std::int64_t job = 0;
  std::int64_t attempt = 0;
  std::string token;  // fencing token, copied into `started` and exit.json
  std::vector<std::string> command;
  std::string folder;                    // working directory
  std::vector<std::string> environment;  // "K=V"; nothing else is passed on
  std::int64_t timeout_ms = 0;           // 0: none
  std::int64_t grace_ms = 5000;          // between TERM and KILL when the timeout strikes
  bool change_user = false;
  uid_t uid = 0;
  gid_t gid = 0;
  bool own_mounts = false;  // hide `hidden`, show `visible`
  std::vector<std::string> hidden;
  std::vector<VisiblePath> visible;
  bool wrapped = false;              // the command is bubblewrap, which reports 128 + signal
  std::vector<std::string> cgroups;  // folders whose cgroup.procs the command enters
  std::string cgroup_kill;           // one of them with cgroup.kill (v2), or empty
  std::string cgroup_memory;         // one of them that counts OOM kills, or empty
  std::string cgroup_shim;           // where the shim itself goes, or empty
  std::int64_t oom_score_adj = 500;
};
Result<AttemptSpec> parse_attempt_spec(std::string_view json);

/// exit.json: written once, durably, when nothing of the attempt runs any more.
struct ExitRecord {
  std::string token;
  int code = -1;  // of the main process; -1 when a signal ended it or nothing was started
  int signal = 0;
  bool oom = false;  // the kernel killed a process of the attempt over its memory limit
  bool timeout = false;
  bool stopped = false;      // a stop was asked for before the end
  std::string launch_error;  // why the command could not be started
  UnixMs started_ms = 0;
  UnixMs ended_ms = 0;
  std::int64_t cpu_ms = 0;
  std::int64_t memory_bytes_peak = 0;
};
std::string render_exit_record(const ExitRecord& record);

/// The control file `stop`: {"grace_ms": 5000}. A text that cannot be read means the default grace.
std::int64_t parse_stop_grace_ms(std::string_view json);

}  // namespace takt::shim
