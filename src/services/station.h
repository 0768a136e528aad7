// SPDX-License-Identifier: Apache-2.0
// All of this room put together: what app makes, starts and stops.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "takt/access/access.h"
#include "takt/actions/step.h"
#include "takt/jobs/job_service.h"
#include "takt/services/service_desk.h"
#include "takt/spine/explain.h"
#include "takt/store/blobs.h"
#include "takt/store/database.h"

namespace takt::services {

struct StationParts {
  store::Database& db;
  store::BlobStore& blobs;
  actions::Registry& registry;  // resolves model versions; must outlive the station
  jobs::JobService& jobs;
  access::AccessService& access;
};
struct StationOptions {
  std::filesystem::path takt_binary;  // absolute; runs `infer` and `gateway`
  std::filesystem::path data_dir;     // absolute; its folder gateway/ is shared with the gateway
  std::string gateway_listen = "127.0.0.1:8000";
  std::string gateway_grpc_listen = "127.0.0.1:8001";  // empty: no gRPC
};

class Station {
 public:
  static Result<std::unique_ptr<Station>> open(StationParts parts, StationOptions options);
  ~Station();

  ServiceDesk& desk();
  /// After jobs has started and before requests come.
  void start();
  /// Replicas and the gateway go on.
  void stop();
  /// Something was committed. Any thread.
  void wake();

  /// "deploy-canary" and "promote".
  std::vector<std::unique_ptr<actions::StepRunner>> make_steps();
  /// Kinds service, revision, request; and the card of the Line page.
  std::shared_ptr<spine::Explainer> make_explainer();
  std::shared_ptr<spine::LineSource> make_line_source();

 private:
  struct Impl;
  explicit Station(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace takt::services
