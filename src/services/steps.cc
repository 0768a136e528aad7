// SPDX-License-Identifier: Apache-2.0
#include "takt/services/steps.h"

namespace takt::services {
namespace {

using access::Right;
using actions::PortKind;
using actions::StepProgress;
using actions::StepRequest;
using actions::StepState;

constexpr std::int64_t kStepReplicasMax = 64;

struct DeployOptions {
  std::string service;
  double share = 5;
  int replicas = 0;
};

Result<DeployOptions> parse_deploy(const Value& with) {
  DeployOptions options;
  Fields fields(with, "with");
  options.service = fields.text("service");
  options.share = fields.number("share", options.share);
  options.replicas = static_cast<int>(fields.integer("replicas", 0, 0, kStepReplicasMax));
  if (!(options.share >= 0 && options.share <= 100))
    fields.reject("share", "must be 0 to 100 per cent");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_RETURN_IF_ERROR(check_name("service name", options.service).transform_error([](Error error) {
    return std::move(error).with_field("with.service");
  }));
  return options;
}

std::string owner_of(const StepRequest& request) {
  return request.node.text() + "#" + std::to_string(request.attempt);
}

actions::PortValue service_port(const std::string& service, std::int64_t revision) {
  return {PortKind::kService, service_ref(service), service_digest(service, revision), {}};
}

StepProgress done(const std::string& service, std::int64_t revision, std::string reason) {
  StepProgress progress;
  progress.state = StepState::kDone;
  progress.reason = std::move(reason);
  progress.work = service_ref(service);
  progress.outputs["service"] = service_port(service, revision);
  return progress;
}

StepProgress ended(StepState state, const std::string& service, std::string reason) {
  StepProgress progress;
  progress.state = state;
  progress.reason = std::move(reason);
  progress.work = service_ref(service);
  return progress;
}

/// The service's revision that serves this very model version and has a role; the candidate first.
const RevisionStatus* find_serving(const ServiceStatus& status, const actions::PortValue& model) {
  for (const std::int64_t number : {status.row.candidate, status.row.stable})
    if (const RevisionStatus* revision = status.find(number);
        revision != nullptr && ref_of(revision->row.model) == model.ref &&
        revision->row.tree == model.digest)
      return revision;
  return nullptr;
}

}  // namespace

Result<actions::StepPorts> DeployCanaryStep::describe(
    const actions::StepDefinition& definition) const {
  TAKT_RETURN_IF_ERROR(parse_deploy(definition.with));
  actions::StepPorts ports;
  ports.inputs = {{"model", PortKind::kModelVersion, true}};
  ports.outputs = {{"service", PortKind::kService, true}};
  ports.cacheable = false;
  return ports;
}

Status DeployCanaryStep::start(const StepRequest& request) {
  TAKT_ASSIGN(const DeployOptions options, parse_deploy(request.definition.with));
  const auto by = policy_.as_server<Right::kOperate>(request.project, request.actor);
  CanaryWish wish;
  wish.service = options.service;
  wish.port = request.inputs.at("model");
  wish.share = options.share;
  wish.replicas = options.replicas;
  wish.owner = owner_of(request);
  TAKT_RETURN_IF_ERROR(desk_.start_canary(by, wish));
  return {};
}

Result<StepProgress> DeployCanaryStep::poll(const StepRequest& request) {
  TAKT_ASSIGN(const DeployOptions options, parse_deploy(request.definition.with));
  const auto by = policy_.as_server<Right::kRead>(request.project, request.actor);
  const std::string& service = options.service;
  TAKT_ASSIGN(const ServiceStatus status, desk_.get(by, service));
  TAKT_ASSIGN(const auto made, desk_.find_by_owner(by, owner_of(request)));
  const RevisionStatus* revision =
      made ? status.find(made->number) : find_serving(status, request.inputs.at("model"));
  if (revision == nullptr)
    return ended(StepState::kFailed, service, "the canary was taken away before it was ready");
  const std::int64_t number = revision->row.number;
  const std::string name =
      "revision " + std::to_string(number) + " (" + revision->row.model.text() + ")";
  if (revision->row.state == RevisionState::kFailed)
    return ended(StepState::kFailed, service, name + " failed: " + revision->row.reason);
  if (number == status.row.stable && revision->row.state == RevisionState::kReady)
    return done(service, number, name + " has all traffic");
  if (number != status.row.candidate && number != status.row.stable)
    return ended(StepState::kFailed, service, name + " was taken out of the traffic again");
  const bool has_share = revision->row.state == RevisionState::kReady && !status.row.is_rollout;
  if (has_share) return done(service, number, name + " takes " + share_text(status.row.share));
  return ended(StepState::kRunning, service, name + " starts: " + revision->reason);
}

Status DeployCanaryStep::cancel(const StepRequest& request) {
  TAKT_ASSIGN(const DeployOptions options, parse_deploy(request.definition.with));
  TAKT_ASSIGN(const auto made,
              desk_.find_by_owner(policy_.as_server<Right::kRead>(request.project, request.actor),
                                  owner_of(request)));
  if (!made || made->state != RevisionState::kStarting) return {};
  const auto aborted = desk_.abort(
      policy_.as_server<Right::kOperate>(request.project, request.actor), options.service);
  if (!aborted && aborted.error().code != Code::kConflict) return fail(aborted.error());
  return {};
}

Result<actions::StepPorts> PromoteStep::describe(const actions::StepDefinition& definition) const {
  Fields fields(definition.with.is_null() ? Value(Object{}) : definition.with, "with");
  TAKT_RETURN_IF_ERROR(fields.done());
  actions::StepPorts ports;
  ports.inputs = {{"service", PortKind::kService, true}};
  ports.outputs = {{"service", PortKind::kService, true}};
  ports.cacheable = false;
  return ports;
}

Result<StepProgress> PromoteStep::poll(const StepRequest& request) {
  const actions::PortValue& input = request.inputs.at("service");
  const std::string& service = input.ref.path;
  const auto read = policy_.as_server<Right::kRead>(request.project, request.actor);
  TAKT_ASSIGN(const ServiceStatus status, desk_.get(read, service));
  const ServiceRow& row = status.row;
  const bool is_candidate =
      row.candidate != 0 && service_digest(service, row.candidate) == input.digest;
  if (!is_candidate) {
    if (row.candidate == 0 || service_digest(service, row.stable) == input.digest)
      return done(service, row.stable,
                  "revision " + std::to_string(row.stable) + " has all traffic");
    return ended(StepState::kFailed, service,
                 "the canary was replaced by revision " + std::to_string(row.candidate) +
                     " since it was deployed");
  }
  const RevisionStatus* candidate = status.find(row.candidate);
  const bool is_ready = candidate != nullptr && candidate->row.state == RevisionState::kReady;
  if (row.is_rollout || !is_ready)
    return ended(StepState::kRunning, service,
                 "revision " + std::to_string(row.candidate) + " is not ready yet");
  const auto by = policy_.as_server<Right::kOperate>(request.project, request.actor);
  TAKT_ASSIGN(const ServiceStatus promoted, desk_.promote(by, service, request.approver));
  return done(service, promoted.row.stable,
              "revision " + std::to_string(promoted.row.stable) + " has all traffic");
}

}  // namespace takt::services
