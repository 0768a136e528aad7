// SPDX-License-Identifier: Apache-2.0
// A job: submitted work that runs once to its end (or, for a replica, until it is stopped).
//
//   waiting --placed--> starting --started--> running --exited--> succeeded | failed
//      ^                                         |                  (retry budget left: waiting)
//      +---- attempt failed, retry due ----------+--cancel--> stopping --gone--> cancelled
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "takt/actions/step.h"
#include "takt/base/clock.h"
#include "takt/base/ids.h"
#include "takt/base/value.h"

namespace takt::jobs {

enum class JobState { kWaiting, kStarting, kRunning, kStopping, kSucceeded, kFailed, kCancelled };
std::string_view job_state_name(JobState state);
Result<JobState> parse_job_state(std::string_view name);
inline bool is_final(JobState s) { return s >= JobState::kSucceeded; }

/// Why an attempt ended other than well.
enum class FailureClass {
  kNone,
  kExitCode,
  kSignal,
  kOutOfMemory,
  kTimeout,
  kCancelled,
  kLaunch,
  kLost
};
std::string_view failure_class_name(FailureClass failure);
Result<FailureClass> parse_failure_class(std::string_view name);

/// kTask ends; kReplica serves until stopped (no timeout, restarted by services, not here).
enum class JobKind { kTask, kReplica, kGateway };
std::string_view job_kind_name(JobKind kind);
Result<JobKind> parse_job_kind(std::string_view name);
/// Serves until stopped: no run, no outputs, not retried here.
inline bool is_endless(JobKind kind) { return kind != JobKind::kTask; }

struct JobInput {
  std::string name;
  actions::PortKind kind = actions::PortKind::kDataset;
  std::string reference;
};
struct JobOutput {
  std::string name;
  actions::PortKind kind = actions::PortKind::kArtifact;
  std::string dataset;
};
struct Resources {
  std::int64_t cpu_millicores = 1000;
  std::int64_t memory_bytes = 512ll << 20;
  std::int64_t gpus = 0;
};

struct JobSpec {
  std::string name;
  JobKind kind = JobKind::kTask;
  std::vector<std::string> command;
  std::map<std::string, Value> params;
  std::vector<JobInput> inputs;
  std::vector<JobOutput> outputs;
  std::map<std::string, std::string> env;
  std::string python;                     // interpreter, for the environment's lock
  Resources resources;                    // reserved (a weight), counted in quota
  std::int64_t limit_cpu_millicores = 0;  // 0: no cap
  std::int64_t limit_memory_bytes = 0;    // 0: the reservation is the cap
  std::vector<std::string> ports;
  std::int64_t timeout_ms = 0;  // 0: none
  int retries_max = 0;
  std::int64_t retry_backoff_ms = 1000;
  int priority = 5;  // 1..9, 9 first
  std::int64_t seed = 0;
  std::string experiment;
  Digest code;         // tree of the code snapshot; empty: none
  Digest environment;  // blob of the lock; empty: none
};
/// From the `spec` of a Job document; kInvalid names the field ("spec.resources.gpus").
Result<JobSpec> parse_job_spec(std::string_view name, const Value& spec);
Value to_value(const JobSpec& spec);

struct Attempt {
  int number = 0;  // 1 …
  JobState state = JobState::kStarting;
  int exit_code = -1;
  int signal = 0;
  FailureClass failure = FailureClass::kNone;
  std::string reason;
  UnixMs placed_ms = 0, started_ms = 0, ended_ms = 0;
  std::int64_t cpu_ms = 0, memory_bytes_peak = 0;
  std::string token;  // fencing token of its lease; never shown
};

struct Job {
  JobId id;
  ProjectId project;
  JobSpec spec;
  JobState state = JobState::kWaiting;
  UserId submitted_by;
  RunId run;          // tasks only
  RunId reproduces;   // at submission: the run that it repeats (its own run keeps it)
  std::string owner;  // idempotency key of whoever submitted it (node/… , revision/…), may be empty
  std::string reason;  // why it waits or failed, with numbers
  UnixMs submitted_ms = 0, started_ms = 0, ended_ms = 0;
  UnixMs not_before_ms = 0;      // a retry waits until then
  UnixMs cancel_ms = 0;          // when a cancel was asked; 0: never
  std::int64_t grace_ms = 5000;  // of that cancel
  int retries_used = 0;          // attempts that counted against retries_max
  int lost_count = 0;            // attempts that ended with their supervisor
  std::vector<Attempt> attempts;
  std::map<std::string, actions::PortValue> inputs;   // resolved at submission
  std::map<std::string, actions::PortValue> outputs;  // when succeeded
  std::map<std::string, std::string> endpoints;       // port name -> host:port, running replicas
};

}  // namespace takt::jobs
