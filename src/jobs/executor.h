// SPDX-License-Identifier: Apache-2.0
// What runs attempts. The dispatcher knows this interface only; executors/ has the implementations.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "takt/jobs/attempt_folder.h"
#include "takt/jobs/job.h"

namespace takt::jobs {

/// Names one attempt; the token fences it against a stale start.
struct Lease {
  JobId job;
  int attempt = 0;
  std::string token;
};

/// All that is needed to start one attempt whose folder is prepared.
struct Launch {
  Lease lease;
  JobKind kind = JobKind::kTask;
  AttemptFolder folder;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // complete: nothing else is passed on
  std::string python;  // interpreter that must be reachable; may be empty
  Resources resources;
  std::int64_t limit_cpu_millicores = 0;  // 0: none
  std::int64_t limit_memory_bytes = 0;
  std::int64_t timeout_ms = 0;  // 0: none
};

/// How an attempt ended, as its supervisor wrote it down.
struct AttemptExit {
  int code = -1;
  int signal = 0;
  bool oom = false, timeout = false, stopped = false;
  std::string launch_error;  // why nothing could be started
  UnixMs started_ms = 0, ended_ms = 0;
  std::int64_t cpu_ms = 0, memory_bytes_peak = 0;
};

enum class AttemptPhase {
  kNeverStarted,  // and never will be: the executor has fenced it off
  kRunning,
  kEnded,  // `exit` is filled
  kLost,   // its supervisor is gone without a word; nothing of it is left running
};
struct AttemptStatus {
  AttemptPhase phase = AttemptPhase::kRunning;
  AttemptExit exit;
};

/// How attempts are kept apart, for `takt doctor` and GET /capacity.
struct ExecutorFacts {
  std::string isolation;   // namespace | bubblewrap | none
  std::string memory_cap;  // cgroup-v2 | cgroup-v1 | none
  std::string tree_kill;   // cgroup | subreaper
  std::vector<std::string> warnings;
};

/// Thread-safe. An attempt is on one executor at most.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Returns when a supervisor has taken the attempt (then poll() tells the rest), or refused.
  virtual Status start(const Launch& launch) = 0;
  /// Quick. Also how a restarted server finds what it had started.
  virtual Result<AttemptStatus> poll(const Lease& lease) = 0;
  /// Port name to host:port of those ports that listen.
  virtual std::map<std::string, std::string> endpoints(const Lease& lease,
                                                       const std::vector<std::string>& ports) = 0;
  /// Asks it to end: TERM, then KILL of everything after `grace_ms`. Idempotent, durable; another
  /// `grace_ms` that ends sooner counts.
  virtual Status stop(const Lease& lease, std::int64_t grace_ms) = 0;
  virtual Resources capacity() = 0;
  virtual ExecutorFacts facts() = 0;
  /// `wake` is called from any thread when an attempt may have ended; it must only wake others.
  virtual void on_change(std::function<void()> wake) = 0;
};

}  // namespace takt::jobs
