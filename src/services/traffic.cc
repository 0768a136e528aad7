// SPDX-License-Identifier: Apache-2.0
#include "takt/services/traffic.h"

#include <utility>

namespace takt::services {
namespace {

std::string named(const RevisionRow& revision) {
  return "revision " + std::to_string(revision.number) + " (" + revision.model.text() + ")";
}

void clear_candidate(ServiceRow& service) {
  service.candidate = 0;
  service.is_rollout = false;
  service.share = service.share_wanted = 0;
  service.candidate_ms = 0;
}

void make_candidate(ServiceRow& service, const RevisionRow& revision, UnixMs now) {
  clear_candidate(service);
  if (service.is_stopped) {  // nothing runs that could have traffic meanwhile
    if (service.stable != 0) service.previous = service.stable;
    service.stable = 0;
  }
  service.is_stopped = false;
  service.candidate = revision.number;
  service.candidate_ms = now;
  service.keep_until_ms = 0;  // the one before makes room for it
  if (service.stable == revision.number) service.stable = 0;
  if (service.previous == revision.number) service.previous = 0;
}

void make_stable(ServiceRow& service, std::int64_t revision, UnixMs now) {
  if (service.stable != 0 && service.stable != revision) {
    service.previous = service.stable;
    service.keep_until_ms = now + kKeepPreviousMs;
  }
  service.stable = revision;
  clear_candidate(service);
}

std::unexpected<Error> no_canary(const ServiceRow& service) {
  return fail(Code::kConflict, "service " + service.name + " has no open canary",
              "start one with `takt canary start " + service.name + " --model NAME@N --share 5%`");
}

Object share_details(const ServiceRow& service, std::int64_t revision, double share) {
  return Object{{"revision", revision}, {"share", share}, {"stable", service.stable}};
}

}  // namespace

Decided begin_rollout(ServiceRow& service, const RevisionRow& revision, UnixMs now) {
  make_candidate(service, revision, now);
  service.is_rollout = true;
  service.share_wanted = 100;
  return {"service.applied", named(revision) + " takes all traffic once it is ready", 0,
          Object{{"revision", revision.number}, {"model", revision.model.text()}}};
}

Decided begin_canary(ServiceRow& service, const RevisionRow& revision, double share, UnixMs now) {
  make_candidate(service, revision, now);
  service.share_wanted = share;
  return {"canary.started", named(revision) + " takes " + share_text(share) + " once it is ready",
          0,
          Object{{"revision", revision.number},
                 {"model", revision.model.text()},
                 {"share_wanted", share}}};
}

Result<Decided> set_share(ServiceRow& service, const RevisionRow* candidate, double share) {
  if (candidate == nullptr || service.is_rollout) return no_canary(service);
  const double before = service.share;
  service.share_wanted = share;
  const bool is_ready = candidate->state == RevisionState::kReady;
  if (!is_ready)
    return Decided{"canary.share-asked",
                   named(*candidate) + " takes " + share_text(share) + " once it is ready", 0,
                   Object{{"revision", candidate->number}, {"share_wanted", share}}};
  service.share = share;
  return Decided{
      "traffic.changed",
      named(*candidate) + " takes " + share_text(share) + ", before " + share_text(before), 0,
      share_details(service, candidate->number, share)};
}

Result<Decided> promote(ServiceRow& service, const RevisionRow* candidate, UnixMs now) {
  if (candidate == nullptr || service.is_rollout) return no_canary(service);
  if (candidate->state != RevisionState::kReady)
    return fail(Code::kConflict,
                named(*candidate) + " of service " + service.name + " is " +
                    std::string(revision_state_name(candidate->state)) + ", not ready",
                "wait until it is, see `takt why " +
                    revision_ref(service.name, candidate->number).text() + "`");
  make_stable(service, candidate->number, now);
  return Decided{"canary.promoted", named(*candidate) + " takes all traffic", 0,
                 share_details(service, candidate->number, 100)};
}

Result<Decided> abort_canary(ServiceRow& service, std::string_view why) {
  if (service.candidate == 0 || service.stable == 0) return no_canary(service);
  const std::int64_t revision = service.candidate;
  clear_candidate(service);
  std::string text = "revision " + std::to_string(revision) + " takes no traffic any more";
  if (!why.empty()) text += ": " + std::string(why);
  return Decided{"canary.aborted", std::move(text), 0, share_details(service, revision, 0)};
}

Result<Decided> roll_back(ServiceRow& service, const RevisionRow* previous, UnixMs now) {
  if (service.candidate != 0 && service.stable != 0) {
    TAKT_ASSIGN(Decided aborted, abort_canary(service, "rolled back"));
    aborted.verb = "service.rolled-back";
    return aborted;
  }
  if (previous == nullptr)
    return fail(Code::kConflict,
                "service " + service.name + " has no revision before to go back to",
                "deploy another model with `takt deploy " + service.name + " --model NAME@N`");
  if (previous->state == RevisionState::kReady && now < service.keep_until_ms) {
    make_stable(service, previous->number, now);
    return Decided{"service.rolled-back", named(*previous) + " has all traffic again", 0,
                   share_details(service, previous->number, 100)};
  }
  Decided begun = begin_rollout(service, *previous, now);
  begun.verb = "service.rolled-back";
  begun.text = named(*previous) + " starts again and then takes all traffic";
  return begun;
}

Decided stop(ServiceRow& service) {
  service.is_stopped = true;
  if (service.stable != 0) clear_candidate(service);
  return {"service.stopped", "all replicas stop", 0, {}};
}

Decided candidate_ready(ServiceRow& service, const RevisionRow& candidate, UnixMs now) {
  const bool takes_all = service.is_rollout;
  if (takes_all)
    make_stable(service, candidate.number, now);
  else
    service.share = service.share_wanted;
  const double share = takes_all ? 100 : service.share;
  return {"traffic.changed", named(candidate) + " is ready and takes " + share_text(share), 0,
          share_details(service, candidate.number, share)};
}

}  // namespace takt::services
