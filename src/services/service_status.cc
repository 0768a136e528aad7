// SPDX-License-Identifier: Apache-2.0
// How a service is doing, in one word and a sentence.
#include <algorithm>

#include "takt/services/service_desk.h"

namespace takt::services {
namespace {

std::string revision_text(const RevisionStatus& revision) {
  return "revision " + std::to_string(revision.row.number) + " (" + revision.row.model.text() + ")";
}

std::string ready_text(const RevisionStatus& revision) {
  return std::to_string(revision.ready_replicas) + " of " +
         std::to_string(revision.row.spec.replicas) + " replicas are ready";
}

/// What a revision that is not ready waits for.
std::string waiting_reason(const ServiceStatus& status, const RevisionStatus& revision) {
  for (const LiveReplica& replica : status.replicas)
    if (replica.revision == revision.row.number && replica.state != "ready" &&
        !replica.reason.empty())
      return "replica " + std::to_string(replica.slot) + ": " + replica.reason;
  return ready_text(revision);
}

void judge_stable(ServiceStatus& status, const RevisionStatus& stable) {
  if (stable.ready_replicas < stable.row.spec.replicas) {
    status.state = "degraded";
    status.reason = revision_text(stable) + ": " + ready_text(stable);
    if (const std::string why = waiting_reason(status, stable); why != ready_text(stable))
      status.reason += "; " + why;
    return;
  }
  status.state = status.row.candidate != 0 && !status.row.is_rollout ? "canary" : "live";
}

void judge_candidate(ServiceStatus& status, const RevisionStatus& candidate) {
  const bool is_failed = candidate.row.state == RevisionState::kFailed;
  status.state = is_failed ? "failed" : "starting";
  status.reason =
      revision_text(candidate) + (is_failed ? " failed: " : " starts: ") + candidate.reason;
}

}  // namespace

const RevisionStatus* ServiceStatus::find(std::int64_t number) const {
  const auto found =
      std::ranges::find(revisions, number, [](const auto& r) { return r.row.number; });
  return found == revisions.end() ? nullptr : &*found;
}

const RevisionStatus* ServiceStatus::main() const {
  if (const RevisionStatus* stable = find(row.stable)) return stable;
  if (const RevisionStatus* candidate = find(row.candidate)) return candidate;
  return revisions.empty() ? nullptr : &revisions.front();
}

void judge(ServiceStatus& status, const std::string& gateway_problem) {
  for (RevisionStatus& revision : status.revisions) {
    revision.ready_replicas =
        std::ranges::count_if(status.replicas, [&](const LiveReplica& replica) {
          return replica.revision == revision.row.number && replica.state == "ready";
        });
    revision.reason = revision.row.reason;
    if (!status.row.is_stopped && revision.row.state == RevisionState::kStarting)
      revision.reason = waiting_reason(status, revision);
  }
  const RevisionStatus* stable = status.find(status.row.stable);
  const RevisionStatus* candidate = status.find(status.row.candidate);
  if (status.row.is_stopped)
    status.state = "stopped";
  else if (stable != nullptr)
    judge_stable(status, *stable);
  else if (candidate != nullptr)
    judge_candidate(status, *candidate);
  else
    status.state = "stopped";
  if (status.row.is_stopped) return;
  if (const RevisionStatus* main = status.main(); main != nullptr && main->row.spec.replicas < 2)
    status.warnings.push_back(
        "1 replica: while it restarts nothing answers; set spec.replicas to 2 or more");
  if (!status.revisions.empty() && status.revisions.front().row.state == RevisionState::kFailed &&
      status.state != "failed")
    status.warnings.push_back(revision_text(status.revisions.front()) +
                              " failed: " + status.revisions.front().row.reason);
  if (!gateway_problem.empty()) status.warnings.push_back("the gateway: " + gateway_problem);
}

}  // namespace takt::services
