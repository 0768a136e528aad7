// SPDX-License-Identifier: Apache-2.0
// The controller's care for the gateway: reads its counts, and keeps one running as a job.
#include "takt/services/controller.h"
#include "takt/services/service_store.h"

namespace takt::services {
namespace {

constexpr std::int64_t kStatsPeriodMs = 1'000;
constexpr std::int64_t kStatsFreshMs = 5'000;
constexpr std::int64_t kIdleMs = 30'000;  // without any service, until the gateway is stopped
constexpr std::string_view kKeeperCounter = "service-replica";

}  // namespace

void Controller::read_counts() {
  const UnixMs now = clock_.now_ms();
  const bool is_due = !stats_ || now - stats_read_ms_ >= kStatsPeriodMs;
  if (!is_due) return;
  stats_read_ms_ = now;
  stats_ = publisher_.read_stats();
  if (stats_ && now - stats_->updated_ms > kStatsFreshMs) stats_.reset();  // of one that is gone
  if (stats_) history_.add(*stats_, now);
}

Status Controller::keep_gateway(bool is_wanted) {
  std::optional<ReplicaRow> row;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto rows, list_replicas(reader, ""));
    if (!rows.empty()) row = rows.front();
    return {};
  }));
  const UnixMs now = clock_.now_ms();
  if (is_wanted)
    gateway_idle_ms_ = 0;
  else if (gateway_idle_ms_ == 0)
    gateway_idle_ms_ = now;
  if (!row && is_wanted) {
    if (stats_) return {};  // one runs that somebody else started: adopted
    is_moving_ = true;
    return db_.write([&](store::Tx& tx) -> Status {
      ReplicaRow fresh;
      TAKT_ASSIGN(fresh.generation, tx.next_number(kKeeperCounter));
      return save_replica(tx, fresh);
    });
  }
  return row ? run_gateway(std::move(row), is_wanted) : Status{};
}

Status Controller::run_gateway(std::optional<ReplicaRow> row, bool is_wanted) {
  const UnixMs now = clock_.now_ms();
  if (row->job.value == 0) {
    is_moving_ = true;
    if (!is_wanted) {
      TAKT_RETURN_IF_ERROR(jobs_.cancel_unrecorded(gateway_project(), *row));
      return db_.write([&](store::Tx& tx) { return remove_replica(tx, *row); });
    }
    if (row->not_before_ms > now) return {};
    const auto job = jobs_.submit_gateway(*row);
    if (!job) {
      gateway_problem_ = job.error().text();
      return fail(job.error());
    }
    row->job = *job;
    return db_.write([&](store::Tx& tx) { return save_replica(tx, *row); });
  }
  TAKT_ASSIGN(const ReplicaJob job, jobs_.find(gateway_project(), row->job));
  if (!job.is_final) {
    gateway_problem_ = job.is_running ? "" : job.reason;
    if (job.is_running && !job.http.empty() && stats_) gateway_problem_ = stats_->problem;
    if (!job.is_running) is_moving_ = true;
    const bool is_idle = !is_wanted && now - gateway_idle_ms_ >= kIdleMs;
    if (is_idle && !job.is_stopping) return jobs_.cancel(gateway_project(), row->job);
    return {};
  }
  if (!is_wanted) return db_.write([&](store::Tx& tx) { return remove_replica(tx, *row); });
  const std::string words = jobs_.last_words(gateway_project(), row->job);
  gateway_problem_ = job.reason + (words.empty() ? "" : ": " + words);
  const bool lived = job.started_ms > 0 && job.ended_ms - job.started_ms >= kGoodLifeMs;
  row->failures = lived ? 1 : row->failures + 1;
  row->not_before_ms = now + backoff_ms(row->failures);
  row->reason = gateway_problem_;
  row->job = {};
  ++row->restarts;
  is_moving_ = true;
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(row->generation, tx.next_number(kKeeperCounter));
    return save_replica(tx, *row);
  });
}

}  // namespace takt::services
