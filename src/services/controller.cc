// SPDX-License-Identifier: Apache-2.0
#include "takt/services/controller.h"

#include <algorithm>
#include <chrono>

#include "takt/base/log.h"
#include "takt/base/passing.h"
#include "takt/services/service_store.h"
#include "takt/services/traffic.h"

namespace takt::services {
namespace {

constexpr std::int64_t kMovingPeriodMs = 100;
constexpr std::int64_t kRestingPeriodMs = 1'000;
constexpr std::int64_t kGapMs = 15;  // between passes: many commits are looked at once
constexpr std::int64_t kUnknownHealthMsMax =
    5'000;  // after a start, until routes are written anyhow
constexpr int kRoundsMax = 4;
constexpr std::string_view kGenerationCounter = "service-replica";

using Kind = ActionKind;

RevisionView* find_view(ServiceView& view, std::int64_t number) {
  const auto found =
      std::ranges::find(view.revisions, number, [](const auto& r) { return r.row.number; });
  return found == view.revisions.end() ? nullptr : &*found;
}

std::string state_of(const ReplicaView& replica, bool is_wanted) {
  if (!is_wanted || (replica.job && replica.job->is_stopping)) return "stopping";
  if (!replica.job || replica.job->is_final)
    return replica.row.restarts > 0 ? "backoff" : "starting";
  if (is_routable(replica)) return "ready";
  return replica.health == Health::kNotReady && !replica.job->http.empty() ? "unhealthy"
                                                                           : "starting";
}

std::string replica_text(const ReplicaRow& row) {
  return "replica " + std::to_string(row.slot) + " of revision " + std::to_string(row.revision);
}

/// The candidate did not get ready: it leaves the traffic as it is.
void drop_candidate(ServiceRow& service) {
  if (service.stable != 0) (void)abort_canary(service, "");
}

}  // namespace

Controller::Controller(store::Database& db, ReplicaJobs& jobs, Publisher& publisher,
                       TrafficHistory& history, Probe probe)
    : db_(db),
      clock_(db.clock()),
      jobs_(jobs),
      publisher_(publisher),
      history_(history),
      prober_(std::move(probe), db.clock(), [this] { wake(); }),
      started_ms_(db.clock().now_ms()) {}

Controller::~Controller() { stop(); }

void Controller::start() {
  prober_.start();
  thread_ = std::thread([this] { run(); });
}

void Controller::stop() {
  {
    const std::lock_guard guard(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  prober_.stop();
}

void Controller::wake() {
  {
    const std::lock_guard guard(mutex_);
    ++asked_;
  }
  wake_.notify_all();
}

void Controller::wait_for_pass(std::int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++asked_;
  wake_.notify_all();
  passed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                   [&] { return passed_count_ >= mine || is_stopping_ || !thread_.joinable(); });
}

LiveState Controller::live() const {
  const std::lock_guard guard(mutex_);
  return live_;
}

void Controller::run() {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock,
                     std::chrono::milliseconds(is_moving_ ? kMovingPeriodMs : kRestingPeriodMs),
                     [&] { return is_stopping_ || asked_ != seen; });
      if (is_stopping_) return;
      seen = asked_;
    }
    if (const Status stepped = step(); !stepped)
      log_error("services cannot move on", {{"error", stepped.error().text()}});
    {
      const std::lock_guard guard(mutex_);
      passed_count_ = seen;
    }
    passed_.notify_all();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(kGapMs), [&] { return is_stopping_; });
  }
}

Status Controller::step() {
  read_counts();
  std::vector<ServiceView> views;
  bool has_changed = true;
  for (int round = 0; has_changed && round < kRoundsMax; ++round) {
    TAKT_ASSIGN(views, load());
    TAKT_ASSIGN(has_changed, act_on(views));
  }
  if (has_changed) {
    TAKT_ASSIGN(views, load());
  }
  const UnixMs now = clock_.now_ms();
  is_moving_ = has_changed ||
               std::ranges::any_of(views, [&](const auto& view) { return is_moving(view, now); });
  // What people see is true whatever cannot be written now.
  const Status published = publish(views);
  const Status kept = keep_gateway(
      std::ranges::any_of(views, [](const auto& view) { return !view.row.is_stopped; }));
  show(views);
  return published ? kept : published;
}

Result<std::vector<ServiceView>> Controller::load() {
  std::vector<ServiceView> views;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    views.clear();
    TAKT_ASSIGN(const auto services, list_services(reader, ProjectId{}));
    for (const ServiceRow& service : services) {
      ServiceView view{service, {}};
      TAKT_ASSIGN(const auto revisions, list_live_revisions(reader, service));
      TAKT_ASSIGN(const auto replicas, list_replicas(reader, service.name));
      for (const RevisionRow& revision : revisions) {
        RevisionView one{revision, {}};
        for (const ReplicaRow& row : replicas)
          if (row.revision == revision.number)
            one.replicas.push_back({row, std::nullopt, Health::kUnknown, 0});
        view.revisions.push_back(std::move(one));
      }
      views.push_back(std::move(view));
    }
    return {};
  }));
  std::vector<std::string> endpoints;
  std::map<Key, UnixMs> withdrawn;
  for (ServiceView& view : views) {
    TAKT_RETURN_IF_ERROR(load_replicas(view));
    for (const RevisionView& revision : view.revisions)
      for (const ReplicaView& replica : revision.replicas) {
        if (replica.withdrawn_ms > 0) withdrawn[key_of(replica.row)] = replica.withdrawn_ms;
        if (replica.job && replica.job->is_running && !replica.job->http.empty())
          endpoints.push_back(replica.job->http);
      }
  }
  withdrawn_ms_ = std::move(withdrawn);
  prober_.watch(endpoints);
  return views;
}

Status Controller::load_replicas(ServiceView& view) {
  const UnixMs now = clock_.now_ms();
  for (RevisionView& revision : view.revisions) {
    const bool wanted = is_wanted(view.row, revision.row, now);
    for (ReplicaView& replica : revision.replicas) {
      if (const auto known = withdrawn_ms_.find(key_of(replica.row));
          known != withdrawn_ms_.end() && !wanted)
        replica.withdrawn_ms = known->second;
      if (replica.row.job.value == 0) continue;
      TAKT_ASSIGN(replica.job, jobs_.find(view.row.project, replica.row.job));
      if (!replica.job->http.empty()) replica.health = prober_.health(replica.job->http);
    }
  }
  return {};
}

Result<bool> Controller::act_on(std::vector<ServiceView>& views) {
  bool has_changed = false;
  for (ServiceView& view : views) {
    for (const Action& action : plan(view, clock_.now_ms())) {
      // One service's trouble must not hold up the others.
      const Status done = act(view, action);
      if (!done)
        log_error("a service cannot move on",
                  {{"service", view.row.name}, {"error", done.error().text()}});
      else
        has_changed = true;
    }
  }
  return has_changed;
}

Status Controller::act(ServiceView& view, const Action& action) {
  RevisionView& revision = *find_view(view, action.revision);
  switch (action.kind) {
    case Kind::kAddReplica:
      return db_.write([&](store::Tx& tx) -> Status {
        ReplicaRow row{.service = view.row.name, .revision = action.revision, .slot = action.slot};
        TAKT_ASSIGN(row.generation, tx.next_number(kGenerationCounter));
        return save_replica(tx, row);
      });
    case Kind::kRevisionStarting:
    case Kind::kRevisionReady:
    case Kind::kRevisionFailed:
    case Kind::kRevisionStopped:
      return change_revision(view, revision, action);
    default:
      break;
  }
  const auto replica =
      std::ranges::find(revision.replicas, action.slot, [](const auto& r) { return r.row.slot; });
  return change_replica(view, revision, *replica, action);
}

Status Controller::change_replica(const ServiceView& view, const RevisionView& revision,
                                  ReplicaView& replica, const Action& action) {
  switch (action.kind) {
    case Kind::kSubmit:
      return submit(view, revision, replica.row);
    case Kind::kRestart:
      return restart(view, revision, replica.row, action);
    case Kind::kWithdraw:
      replica.withdrawn_ms = withdrawn_ms_[key_of(replica.row)] = clock_.now_ms();
      return {};
    case Kind::kCancel:
      return jobs_.cancel(view.row.project, replica.row.job);
    default:
      break;
  }
  if (replica.row.job.value == 0)
    TAKT_RETURN_IF_ERROR(jobs_.cancel_unrecorded(view.row.project, replica.row));
  return db_.write([&](store::Tx& tx) { return remove_replica(tx, replica.row); });
}

Status Controller::submit(const ServiceView& view, const RevisionView& revision, ReplicaRow row) {
  const auto job = jobs_.submit(view.row, revision.row, row);
  if (!job) {
    const Error& error = job.error();
    if (is_passing(error.code)) return fail(error);
    // What is wrong with it stays wrong (it does not fit the machine, the model is gone).
    const bool is_hopeless =
        revision.row.state == RevisionState::kStarting && error.code != Code::kExhausted;
    if (is_hopeless)
      return change_revision(
          view, revision,
          {Kind::kRevisionFailed, revision.row.number, row.slot, 0, 0, error.text()});
    row.not_before_ms = clock_.now_ms() + backoff_ms(++row.failures);
    row.reason = error.text();
    return db_.write([&](store::Tx& tx) { return save_replica(tx, row); });
  }
  row.job = *job;
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(save_replica(tx, row));
    return record(
        tx, view.row, system_user(),
        {"replica.started", replica_text(row) + " starts as job " + std::to_string(job->value),
         row.revision, Object{{"slot", row.slot}, {"job", job->value}}});
  });
}

Status Controller::restart(const ServiceView& view, const RevisionView& revision, ReplicaRow row,
                           const Action& action) {
  std::string reason = action.reason;
  if (const std::string words = jobs_.last_words(view.row.project, row.job); !words.empty())
    reason += ": " + words;
  const JobId ended = row.job;
  row.failures = action.failures;
  row.not_before_ms = action.not_before_ms;
  row.reason = reason;
  row.job = {};
  ++row.restarts;
  log_warn("a replica ended",
           {{"service", view.row.name}, {"revision", revision.row.number}, {"reason", reason}});
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(row.generation, tx.next_number(kGenerationCounter));
    TAKT_RETURN_IF_ERROR(save_replica(tx, row));
    return record(tx, view.row, system_user(),
                  {"replica.lost", replica_text(row) + " ended: " + reason, row.revision,
                   Object{{"slot", row.slot}, {"job", ended.value}, {"reason", reason}}});
  });
}

Status Controller::change_revision(const ServiceView& view, const RevisionView& revision,
                                   const Action& action) {
  std::string reason = action.reason;
  if (action.kind == Kind::kRevisionFailed) {
    for (const ReplicaView& replica : revision.replicas)
      if (replica.row.slot == action.slot)
        if (const std::string words = jobs_.last_words(view.row.project, replica.row.job);
            !words.empty())
          reason += ": " + words;
  }
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(auto found, find_service(tx, view.row.name));
    TAKT_ASSIGN(RevisionRow row, get_revision(tx, view.row.name, action.revision));
    if (!found || row.state != revision.row.state)
      return {};  // changed under way: the next pass looks again
    ServiceRow& service = *found;
    const std::string name =
        "revision " + std::to_string(row.number) + " (" + row.model.text() + ")";
    row.reason = reason;
    switch (action.kind) {
      case Kind::kRevisionStarting:
        row.state = RevisionState::kStarting;
        break;
      case Kind::kRevisionStopped:
        row.state = RevisionState::kStopped;
        break;
      case Kind::kRevisionReady:
        if (!is_wanted(service, row, clock_.now_ms())) return {};
        row.state = RevisionState::kReady;
        TAKT_RETURN_IF_ERROR(record(tx, service, system_user(),
                                    {"revision.ready", name + " is ready", row.number, {}}));
        if (service.candidate == row.number)
          TAKT_RETURN_IF_ERROR(
              record(tx, service, row.created_by, candidate_ready(service, row, tx.now_ms())));
        break;
      default:
        row.state = RevisionState::kFailed;
        if (service.candidate == row.number) drop_candidate(service);
        TAKT_RETURN_IF_ERROR(record(tx, service, system_user(),
                                    {"revision.failed", name + " failed: " + reason, row.number,
                                     Object{{"reason", reason}}}));
    }
    TAKT_RETURN_IF_ERROR(save_revision_state(tx, row));
    return save_service(tx, service);
  });
}

Status Controller::publish(const std::vector<ServiceView>& views) {
  const UnixMs now = clock_.now_ms();
  const bool is_young = now - started_ms_ < kUnknownHealthMsMax;
  std::vector<gateway::ServiceEntry> services;
  for (const ServiceView& view : views) {
    // After a restart of the server live replicas are asked first; until then the old routes hold.
    if (is_young && has_unknown_health(view, now)) return {};
    services.push_back(routes_of(view, now));
  }
  return publisher_.write(std::move(services));
}

void Controller::show(const std::vector<ServiceView>& views) {
  LiveState live;
  const UnixMs now = clock_.now_ms();
  for (const ServiceView& view : views)
    for (const RevisionView& revision : view.revisions)
      for (const ReplicaView& replica : revision.replicas) {
        LiveReplica one{revision.row.number,
                        replica.row.slot,
                        replica.row.job,
                        {},
                        {},
                        replica.row.reason,
                        replica.row.restarts,
                        0};
        one.state = state_of(replica, is_wanted(view.row, revision.row, now));
        if (replica.job) {
          one.endpoint = replica.job->http;
          one.started_ms = replica.job->started_ms;
          if (!replica.job->is_running && !replica.job->reason.empty())
            one.reason = replica.job->reason;
        }
        if (one.state == "ready") one.reason.clear();
        live.replicas[view.row.name].push_back(std::move(one));
      }
  if (stats_) {
    live.gateway_http = stats_->http;
    live.gateway_grpc = stats_->grpc;
  }
  live.gateway_problem = gateway_problem_;
  const std::lock_guard guard(mutex_);
  live_ = std::move(live);
}

}  // namespace takt::services
