// SPDX-License-Identifier: Apache-2.0
// What the controller has to do about one service now. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "takt/gateway/snapshot.h"
#include "takt/services/service.h"

namespace takt::services {

inline constexpr std::int64_t kFailuresMax = 3;  // in a row, before it was ever ready
inline constexpr std::int64_t kBackoffMs = 500;  // after the first failure; then doubled
inline constexpr std::int64_t kBackoffMsMax = 30'000;
inline constexpr std::int64_t kGoodLifeMs = 60'000;  // a replica that lived longer failed anew
inline constexpr std::int64_t kWithdrawMs = 500;     // between the last route and the stop

enum class Health { kUnknown, kReady, kNotReady };

/// The job of a replica as it is now.
struct ReplicaJob {
  bool is_final = false, is_running = false, is_stopping = false;
  std::string reason;  // why it waits, or how it ended
  UnixMs started_ms = 0, ended_ms = 0;
  std::string http, grpc;  // where it listens; empty: not yet
};

struct ReplicaView {
  ReplicaRow row;
  std::optional<ReplicaJob> job;
  Health health = Health::kUnknown;
  UnixMs withdrawn_ms = 0;  // since when no snapshot lists it, and none shall; 0: it may be
};
struct RevisionView {
  RevisionRow row;
  std::vector<ReplicaView> replicas;
};
struct ServiceView {
  ServiceRow row;
  std::vector<RevisionView> revisions;  // those with a role, and those that have replicas
};

enum class ActionKind {
  kAddReplica,        // a row for `slot`
  kSubmit,            // its job
  kRestart,           // the job ended: next generation, after `not_before_ms`
  kWithdraw,          // no routes to it from now on
  kCancel,            // stop its job
  kForget,            // its job is over and nobody wants another
  kRevisionStarting,  // it was stopped and is wanted again
  kRevisionReady,
  kRevisionFailed,
  kRevisionStopped,
};
struct Action {
  ActionKind kind;
  std::int64_t revision = 0;
  std::int64_t slot = 0;
  std::int64_t failures = 0;  // of a restart
  UnixMs not_before_ms = 0;   // of a restart
  std::string reason;         // of a restart or failure
  bool operator==(const Action&) const = default;
};

/// Should replicas of this revision run now?
bool is_wanted(const ServiceRow& service, const RevisionRow& revision, UnixMs now);
std::vector<Action> plan(const ServiceView& service, UnixMs now);
/// Is something under way, so that another look is due soon?
bool is_moving(const ServiceView& service, UnixMs now);

/// May the gateway send requests to it?
bool is_routable(const ReplicaView& replica);
/// The service's part of the gateway's snapshot.
gateway::ServiceEntry routes_of(const ServiceView& service, UnixMs now);
/// A replica may be answering and has not been asked yet: routes must not be written without it.
bool has_unknown_health(const ServiceView& service, UnixMs now);

std::int64_t backoff_ms(std::int64_t failures);

}  // namespace takt::services
