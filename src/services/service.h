// SPDX-License-Identifier: Apache-2.0
// A service: a name under which models answer. Its revisions are immutable; traffic moves between
// them.
//
//   revision:  starting --all replicas ready--> ready --not wanted any more--> stopped
//                 |                                                              |
//                 +--3 failures in a row--> failed          starting <--wanted again (rollback)
//
//   roles:     candidate --ready (rollout), or promoted--> stable --next one promoted--> previous
//                 +--aborted, or failed--> none
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "takt/base/clock.h"
#include "takt/base/ids.h"
#include "takt/base/value.h"

namespace takt::services {

enum class RevisionState { kStarting, kReady, kFailed, kStopped };
std::string_view revision_state_name(RevisionState state);
Result<RevisionState> parse_revision_state(std::string_view name);

/// What of a Service document makes a revision, without the model.
struct ServiceSpec {
  std::string model;  // as written: digits@production
  int replicas = 1;
  std::int64_t cpu_millicores = 100;
  std::int64_t memory_bytes = 256 << 20;
  std::int64_t batch_rows_max = 64;
  std::int64_t batch_delay_us = 0;
};
/// The `spec` of a Service document; kInvalid names the field.
Result<ServiceSpec> parse_service_spec(const Value& spec);
Value to_value(const ServiceSpec& spec);

struct ServiceRow {
  std::string name;
  ProjectId project;
  bool is_stopped = false;
  std::int64_t stable = 0, candidate = 0, previous = 0;  // revision numbers; 0: none
  bool is_rollout = false;  // the candidate takes all traffic once it is ready, unasked
  double share_wanted = 0;  // of the candidate, in per cent, once it is ready
  double share = 0;         // of the candidate now
  std::int64_t last_revision = 0;
  UnixMs candidate_ms = 0;   // since when there is this candidate
  UnixMs keep_until_ms = 0;  // until when the previous one runs on for an instant rollback
  UserId created_by;
  UnixMs updated_ms = 0;
};

struct RevisionRow {
  std::string service;
  std::int64_t number = 0;
  ModelVersionId model;
  Digest tree;
  ServiceSpec spec;
  RevisionState state = RevisionState::kStarting;
  std::string reason;
  std::string owner;  // idempotency key of the pipeline node that made it, or empty
  UserId created_by;
  UnixMs created_ms = 0;
};

struct ReplicaRow {
  std::string service;
  std::int64_t revision = 0;
  std::int64_t slot = 0;
  std::int64_t generation = 1;  // of its job; numbers are never used again
  std::int64_t failures = 0;    // in a row
  std::int64_t restarts = 0;
  UnixMs not_before_ms = 0;  // of the next job
  JobId job;                 // 0: none yet in this generation
  std::string reason;        // how the last one ended
};

struct DecisionRow {
  UnixMs time_ms = 0;
  UserId actor;
  std::string verb, text;
};

Ref service_ref(std::string_view service);                        // service/NAME
Ref revision_ref(std::string_view service, std::int64_t number);  // revision/NAME/N
/// What a service port carries: the service as it was with this revision.
Digest service_digest(std::string_view service, std::int64_t revision);
/// The share of all traffic that a revision has by its role, in per cent.
double share_of(const ServiceRow& service, std::int64_t revision);
std::string_view role_of(const ServiceRow& service, std::int64_t revision);
std::string share_text(double share);  // "5 %"

}  // namespace takt::services
