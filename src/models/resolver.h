// SPDX-License-Identifier: Apache-2.0
// What models gives to the rooms above: references, explanations, the Line card.
#pragma once

#include "takt/access/access.h"
#include "takt/actions/step.h"
#include "takt/models/model_registry.h"
#include "takt/spine/explain.h"

namespace takt::models {

/// "NAME", "NAME@3", "NAME@alias", with or without `model/` -> the version's tree. Registered
/// twice: for kModelVersion, and for kModel (a job's input that is a registered model).
class ModelResolver final : public actions::RefResolver {
 public:
  ModelResolver(ModelRegistry& registry, access::Policy& policy,
                actions::PortKind kind = actions::PortKind::kModelVersion)
      : registry_(registry), policy_(policy), kind_(kind) {}
  actions::PortKind kind() const override { return kind_; }
  Result<actions::PortValue> resolve(const ProjectId& project,
                                     std::string_view reference) const override;

 private:
  ModelRegistry& registry_;
  access::Policy& policy_;
  actions::PortKind kind_;
};

class ModelExplainer final : public spine::Explainer, public spine::LineSource {
 public:
  ModelExplainer(ModelRegistry& registry, access::Policy& policy)
      : registry_(registry), policy_(policy) {}
  std::vector<std::string> kinds() const override { return {"model"}; }
  Result<spine::Explanation> explain(const ProjectId& project, const Ref& ref) override;
  Result<spine::LineCard> line_card(const ProjectId& project, std::int64_t since_ms) override;

 private:
  ModelRegistry& registry_;
  access::Policy& policy_;
};

}  // namespace takt::models
