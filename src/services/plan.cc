// SPDX-License-Identifier: Apache-2.0
#include "takt/services/plan.h"

#include <algorithm>

namespace takt::services {
namespace {

using Kind = ActionKind;

bool is_open(const ReplicaView& replica) { return replica.job && !replica.job->is_final; }

/// A wanted replica whose job ended.
Action plan_restart(const RevisionView& revision, const ReplicaView& replica, UnixMs now) {
  const ReplicaJob& job = *replica.job;
  const bool lived = job.started_ms > 0 && job.ended_ms - job.started_ms >= kGoodLifeMs;
  const std::int64_t failures = lived ? 1 : replica.row.failures + 1;
  const bool is_hopeless =
      revision.row.state == RevisionState::kStarting && failures >= kFailuresMax;
  if (is_hopeless)
    return {Kind::kRevisionFailed, revision.row.number, replica.row.slot, failures, 0, job.reason};
  return {Kind::kRestart, revision.row.number,        replica.row.slot,
          failures,       now + backoff_ms(failures), job.reason};
}

void plan_wanted(const RevisionView& revision, UnixMs now, std::vector<Action>& actions) {
  const std::int64_t number = revision.row.number;
  if (revision.row.state == RevisionState::kStopped)
    actions.push_back({Kind::kRevisionStarting, number});
  std::int64_t ready = 0;
  for (std::int64_t slot = 0; slot < revision.row.spec.replicas; ++slot) {
    const auto replica =
        std::ranges::find(revision.replicas, slot, [](const auto& r) { return r.row.slot; });
    if (replica == revision.replicas.end()) {
      actions.push_back({Kind::kAddReplica, number, slot});
      continue;
    }
    if (replica->row.job.value == 0 || !replica->job) {
      if (replica->row.not_before_ms <= now) actions.push_back({Kind::kSubmit, number, slot});
    } else if (replica->job->is_final) {
      actions.push_back(plan_restart(revision, *replica, now));
      if (actions.back().kind == Kind::kRevisionFailed) return;
    } else if (is_routable(*replica)) {
      ++ready;
    }
  }
  if (revision.row.state == RevisionState::kStarting && ready == revision.row.spec.replicas)
    actions.push_back({Kind::kRevisionReady, number});
}

void plan_unwanted(const RevisionView& revision, UnixMs now, std::vector<Action>& actions) {
  const std::int64_t number = revision.row.number;
  for (const ReplicaView& replica : revision.replicas) {
    if (!is_open(replica))
      actions.push_back({Kind::kForget, number, replica.row.slot});
    else if (replica.withdrawn_ms == 0)
      actions.push_back({Kind::kWithdraw, number, replica.row.slot});
    else if (!replica.job->is_stopping && now - replica.withdrawn_ms >= kWithdrawMs)
      actions.push_back({Kind::kCancel, number, replica.row.slot});
  }
  const bool is_live =
      revision.row.state == RevisionState::kStarting || revision.row.state == RevisionState::kReady;
  if (is_live && revision.replicas.empty()) actions.push_back({Kind::kRevisionStopped, number});
}

}  // namespace

std::int64_t backoff_ms(std::int64_t failures) {
  const std::int64_t doublings = std::clamp<std::int64_t>(failures - 1, 0, 16);
  return std::min(kBackoffMs << doublings, kBackoffMsMax);
}

bool is_wanted(const ServiceRow& service, const RevisionRow& revision, UnixMs now) {
  if (service.is_stopped || revision.state == RevisionState::kFailed) return false;
  const std::int64_t number = revision.number;
  return number == service.stable || number == service.candidate ||
         (number == service.previous && now < service.keep_until_ms);
}

bool is_routable(const ReplicaView& replica) {
  return replica.job && replica.job->is_running && !replica.job->is_stopping &&
         replica.health == Health::kReady && !replica.job->http.empty() &&
         replica.withdrawn_ms == 0;
}

std::vector<Action> plan(const ServiceView& service, UnixMs now) {
  std::vector<Action> actions;
  for (const RevisionView& revision : service.revisions) {
    if (is_wanted(service.row, revision.row, now))
      plan_wanted(revision, now, actions);
    else
      plan_unwanted(revision, now, actions);
  }
  return actions;
}

bool is_moving(const ServiceView& service, UnixMs now) {
  for (const RevisionView& revision : service.revisions) {
    const bool wanted = is_wanted(service.row, revision.row, now);
    if (!wanted && !revision.replicas.empty()) return true;
    if (wanted && revision.row.state != RevisionState::kReady) return true;
    for (const ReplicaView& replica : revision.replicas)
      if (!is_routable(replica)) return true;
  }
  return false;
}

gateway::ServiceEntry routes_of(const ServiceView& service, UnixMs now) {
  gateway::ServiceEntry entry{service.row.name, {}};
  for (const RevisionView& revision : service.revisions) {
    if (!is_wanted(service.row, revision.row, now)) continue;
    gateway::RevisionEntry route{
        revision.row.number, share_of(service.row, revision.row.number), {}};
    for (const ReplicaView& replica : revision.replicas)
      if (is_routable(replica)) route.replicas.push_back({replica.job->http, replica.job->grpc});
    entry.revisions.push_back(std::move(route));
  }
  return entry;
}

bool has_unknown_health(const ServiceView& service, UnixMs now) {
  for (const RevisionView& revision : service.revisions) {
    if (!is_wanted(service.row, revision.row, now)) continue;
    for (const ReplicaView& replica : revision.replicas)
      if (replica.job && replica.job->is_running && !replica.job->http.empty() &&
          replica.health == Health::kUnknown)
        return true;
  }
  return false;
}

}  // namespace takt::services
