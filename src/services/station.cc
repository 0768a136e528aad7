// SPDX-License-Identifier: Apache-2.0
#include "takt/services/station.h"

#include "takt/services/explainer.h"
#include "takt/services/steps.h"

namespace takt::services {
namespace {

bool is_loopback_listen(std::string_view listen) {
  return listen.empty() || listen.starts_with("127.") || listen.starts_with("localhost:") ||
         listen.starts_with("[::1]:");
}

}  // namespace

struct Station::Impl {
  Impl(StationParts parts, const StationOptions& options)
      : access(parts.access),
        jobs(parts.jobs, parts.access,
             {options.takt_binary, options.data_dir / "gateway", options.gateway_listen,
              options.gateway_grpc_listen}),
        publisher(options.data_dir / "gateway"),
        controller(parts.db, jobs, publisher, history, http_probe()),
        desk(parts.db, parts.blobs, parts.registry, controller, history) {}

  access::AccessService& access;
  ReplicaJobs jobs;
  Publisher publisher;
  TrafficHistory history;
  Controller controller;
  ServiceDesk desk;
};

Station::Station(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Station::~Station() { stop(); }

Result<std::unique_ptr<Station>> Station::open(StationParts parts, StationOptions options) {
  auto impl = std::make_unique<Impl>(parts, options);
  const bool with_token = !is_loopback_listen(options.gateway_listen) ||
                          !is_loopback_listen(options.gateway_grpc_listen);
  TAKT_RETURN_IF_ERROR(impl->publisher.open(with_token));
  return std::unique_ptr<Station>(new Station(std::move(impl)));
}

ServiceDesk& Station::desk() { return impl_->desk; }
void Station::start() { impl_->controller.start(); }
void Station::stop() { impl_->controller.stop(); }
void Station::wake() { impl_->controller.wake(); }

std::vector<std::unique_ptr<actions::StepRunner>> Station::make_steps() {
  std::vector<std::unique_ptr<actions::StepRunner>> steps;
  steps.push_back(std::make_unique<DeployCanaryStep>(impl_->desk, impl_->access));
  steps.push_back(std::make_unique<PromoteStep>(impl_->desk, impl_->access));
  return steps;
}

std::shared_ptr<spine::Explainer> Station::make_explainer() {
  return std::make_shared<ServiceExplainer>(impl_->desk, impl_->access);
}

std::shared_ptr<spine::LineSource> Station::make_line_source() {
  return std::make_shared<ServiceExplainer>(impl_->desk, impl_->access);
}

}  // namespace takt::services
