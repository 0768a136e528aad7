// SPDX-License-Identifier: Apache-2.0
// The door of jobs for people (routes) and for other stations (services, pipelines).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/access/access.h"
#include "takt/jobs/job.h"

namespace takt::jobs {

struct Submission {
  JobSpec spec;
  /// Same owner again returns the existing job: how callers survive a crash between submit and
  /// reply.
  std::string owner;
  /// Already resolved inputs (pipelines); those of the spec are resolved by reference otherwise.
  std::map<std::string, actions::PortValue> inputs;
  /// The run that this one repeats; empty: none.
  RunId reproduces;
};

struct JobFilter {
  std::vector<JobState> states;  // empty: all
  JobKind kind = JobKind::kTask;
  std::string text;         // in the name
  std::int64_t before = 0;  // page: ids below this; 0: from the newest
  int limit = 100;
};

struct LogChunk {
  std::string bytes;
  std::int64_t offset = 0;
  std::int64_t size = 0;
  bool final = false;
};
struct CapacityUse {
  Resources total, reserved;
};

class JobService {
 public:
  virtual ~JobService() = default;
  /// Validates, resolves inputs, stores job, run, lineage and event in one transaction.
  virtual Result<Job> submit(const access::CanWrite& by, const Submission& submission) = 0;
  virtual Result<Job> get(const access::CanRead& by, JobId id) = 0;
  /// The job that was submitted with this owner; empty when there is none.
  virtual Result<std::optional<Job>> find_by_owner(const access::CanRead& by,
                                                   std::string_view owner) = 0;
  virtual Result<std::vector<Job>> list(const access::CanRead& by, const JobFilter& filter) = 0;
  /// Graceful first (TERM, then KILL of the whole tree after `grace_ms`). Idempotent.
  virtual Result<Job> cancel(const access::CanWrite& by, JobId id,
                             std::int64_t grace_ms = 5000) = 0;
  /// attempt 0: the last.
  virtual Result<LogChunk> log(const access::CanRead& by, JobId id, int attempt,
                               std::int64_t offset, std::int64_t bytes_max) = 0;
  virtual Result<CapacityUse> capacity(const access::CanRead& by) = 0;
};

}  // namespace takt::jobs
