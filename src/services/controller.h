// SPDX-License-Identifier: Apache-2.0
// Makes what runs match what is wanted: replicas, their health, traffic that waits for readiness,
// the gateway's routes, and the gateway itself.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "takt/services/plan.h"
#include "takt/services/prober.h"
#include "takt/services/publisher.h"
#include "takt/services/replica_jobs.h"
#include "takt/services/traffic_history.h"
#include "takt/store/database.h"

namespace takt::services {

/// A replica as people see it.
struct LiveReplica {
  std::int64_t revision = 0, slot = 0;
  JobId job;
  std::string state;  // starting | ready | unhealthy | backoff | stopping
  std::string endpoint, reason;
  std::int64_t restarts = 0;
  UnixMs started_ms = 0;
};
/// What only the running process knows.
struct LiveState {
  std::map<std::string, std::vector<LiveReplica>> replicas;  // by service
  std::string gateway_http, gateway_grpc;                    // where it listens; empty: it does not
  std::string gateway_problem;
};

/// Owner thread. Derives all it does from stored state and from what jobs and replicas say.
class Controller {
 public:
  Controller(store::Database& db, ReplicaJobs& jobs, Publisher& publisher, TrafficHistory& history,
             Probe probe);
  ~Controller();
  void start();
  void stop();
  /// Something was committed. Any thread.
  void wake();
  /// Returns when a pass that began after this call has ended, or after `timeout_ms`.
  void wait_for_pass(std::int64_t timeout_ms);
  LiveState live() const;
  /// One pass: what the thread does each time. For tests.
  Status step();
  Prober& prober() { return prober_; }

 private:
  using Key =
      std::pair<std::string, std::pair<std::int64_t, std::int64_t>>;  // service, revision, slot
  static Key key_of(const ReplicaRow& row) { return {row.service, {row.revision, row.slot}}; }

  void run();
  Result<std::vector<ServiceView>> load();
  Status load_replicas(ServiceView& view);
  Result<bool> act_on(std::vector<ServiceView>& views);
  Status act(ServiceView& view, const Action& action);
  Status change_replica(const ServiceView& view, const RevisionView& revision, ReplicaView& replica,
                        const Action& action);
  Status submit(const ServiceView& view, const RevisionView& revision, ReplicaRow row);
  Status restart(const ServiceView& view, const RevisionView& revision, ReplicaRow row,
                 const Action& action);
  Status change_revision(const ServiceView& view, const RevisionView& revision,
                         const Action& action);
  Status publish(const std::vector<ServiceView>& views);
  void show(const std::vector<ServiceView>& views);
  void read_counts();
  Status keep_gateway(bool is_wanted);
  Status run_gateway(std::optional<ReplicaRow> row, bool is_wanted);

  store::Database& db_;
  Clock& clock_;
  ReplicaJobs& jobs_;
  Publisher& publisher_;
  TrafficHistory& history_;
  Prober prober_;
  // The owner thread's.
  std::map<Key, UnixMs> withdrawn_ms_;
  std::optional<gateway::StatsFile> stats_;
  UnixMs started_ms_ = 0, stats_read_ms_ = 0, gateway_idle_ms_ = 0;
  std::string gateway_problem_;
  bool is_moving_ = false;
  mutable std::mutex mutex_;  // guards those below
  std::condition_variable wake_, passed_;
  std::uint64_t asked_ = 1, passed_count_ = 0;
  bool is_stopping_ = false;
  LiveState live_;
  std::thread thread_;
};

}  // namespace takt::services
