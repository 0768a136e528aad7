// SPDX-License-Identifier: Apache-2.0
// The last two steps of the line: put a model version before a part of the traffic, then before
// all.
#pragma once

#include <memory>
#include <vector>

#include "takt/access/access.h"
#include "takt/actions/step.h"
#include "takt/services/service_desk.h"

namespace takt::services {

/// "deploy-canary": input `model`, with {service, share, replicas}. Done when the revision is ready
/// and has its share; the first of a service takes all.
class DeployCanaryStep final : public actions::StepRunner {
 public:
  DeployCanaryStep(ServiceDesk& desk, access::Policy& policy) : desk_(desk), policy_(policy) {}
  std::string_view action() const override { return "deploy-canary"; }
  Result<actions::StepPorts> describe(const actions::StepDefinition& definition) const override;
  Status start(const actions::StepRequest& request) override;
  Result<actions::StepProgress> poll(const actions::StepRequest& request) override;
  Status cancel(const actions::StepRequest& request) override;

 private:
  ServiceDesk& desk_;
  access::Policy& policy_;
};

/// "promote": input `service`. Done when the revision that came in has all traffic.
class PromoteStep final : public actions::StepRunner {
 public:
  PromoteStep(ServiceDesk& desk, access::Policy& policy) : desk_(desk), policy_(policy) {}
  std::string_view action() const override { return "promote"; }
  Result<actions::StepPorts> describe(const actions::StepDefinition& definition) const override;
  Status start(const actions::StepRequest&) override { return {}; }
  Result<actions::StepProgress> poll(const actions::StepRequest& request) override;
  Status cancel(const actions::StepRequest&) override { return {}; }

 private:
  ServiceDesk& desk_;
  access::Policy& policy_;
};

}  // namespace takt::services
