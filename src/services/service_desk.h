// SPDX-License-Identifier: Apache-2.0
// What people and pipelines ask of services: deploy, canary, promote, abort, roll back, stop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/access/access.h"
#include "takt/actions/step.h"
#include "takt/services/controller.h"
#include "takt/services/service.h"
#include "takt/services/service_store.h"
#include "takt/services/traffic_history.h"
#include "takt/store/blobs.h"
#include "takt/store/database.h"

namespace takt::services {

struct RevisionStatus {
  RevisionRow row;
  std::int64_t ready_replicas = 0;
  std::string reason;  // why it failed, or what it waits for
};
/// A service with all that is known of it now.
struct ServiceStatus {
  ServiceRow row;
  std::string state;  // starting | live | canary | degraded | stopped | failed
  std::string reason;
  std::vector<std::string> warnings;
  std::vector<RevisionStatus> revisions;  // newest first
  std::vector<LiveReplica> replicas;
  std::vector<DecisionRow> decisions;  // newest first
  std::string http, grpc;              // of the gateway; empty: it does not listen
  const RevisionStatus* find(std::int64_t number) const;
  /// The stable revision, else the candidate, else the newest.
  const RevisionStatus* main() const;
};

/// A model to try on a part of the traffic.
struct CanaryWish {
  std::string service;
  std::string model;                       // reference; or
  std::optional<actions::PortValue> port;  // already resolved
  double share = 5;
  int replicas = 0;   // 0: as the stable revision has
  std::string owner;  // idempotency key
};

/// Thread-safe. Traffic is changed in one transaction with its event and decision; the controller
/// does the rest.
class ServiceDesk {
 public:
  ServiceDesk(store::Database& db, store::BlobStore& blobs, const actions::Registry& registry,
              Controller& controller, TrafficHistory& history)
      : db_(db), blobs_(blobs), registry_(registry), controller_(controller), history_(history) {}

  Result<ServiceStatus> apply(const access::CanOperate& by, std::string_view name,
                              const ServiceSpec& spec);
  Result<std::vector<ServiceStatus>> list(const access::CanRead& by);
  Result<ServiceStatus> get(const access::CanRead& by, std::string_view name);
  /// The service need not exist when the wish comes from a pipeline (with an owner): then its first
  /// revision takes all. A version that is stable or the canary already changes no revision.
  Result<ServiceStatus> start_canary(const access::CanOperate& by, const CanaryWish& wish);
  Result<ServiceStatus> set_share(const access::CanOperate& by, std::string_view name,
                                  double share);
  Result<ServiceStatus> promote(const access::CanOperate& by, std::string_view name,
                                const UserId& approver = {});
  Result<ServiceStatus> abort(const access::CanOperate& by, std::string_view name);
  Result<ServiceStatus> roll_back(const access::CanOperate& by, std::string_view name);
  Result<ServiceStatus> stop(const access::CanOperate& by, std::string_view name);

  Result<std::vector<RevisionTraffic>> traffic(const access::CanRead& by, std::string_view name,
                                               std::int64_t range_ms);
  /// The revision that was made with this key.
  Result<std::optional<RevisionRow>> find_by_owner(const access::CanRead& by,
                                                   std::string_view owner);
  Result<RevisionRow> get_revision(const access::CanRead& by, std::string_view name,
                                   std::int64_t number);

 private:
  Result<RevisionRow> make_revision(const ProjectId& project, const UserId& user,
                                    const ServiceSpec& spec,
                                    const std::optional<actions::PortValue>& port) const;
  Status check_onnx(const ProjectId& project, const RevisionRow& revision) const;
  Result<ServiceStatus> change(
      const ProjectId& project, const UserId& user, std::string_view name,
      const std::function<Result<Decided>(store::Tx&, ServiceRow&)>& change);
  Result<ServiceStatus> status(const ProjectId& project, std::string_view name) const;
  Status fill(store::Reader& reader, const LiveState& live, ServiceStatus& status) const;

  store::Database& db_;
  store::BlobStore& blobs_;
  const actions::Registry& registry_;
  Controller& controller_;
  TrafficHistory& history_;
};

/// State, reason and warnings from the rows and what runs. Pure.
void judge(ServiceStatus& status, const std::string& gateway_problem);

}  // namespace takt::services
