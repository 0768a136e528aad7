// SPDX-License-Identifier: Apache-2.0
// What data gives to the rooms above: references, explanations, the Line card.
#pragma once

#include "takt/access/access.h"
#include "takt/actions/step.h"
#include "takt/data/dataset_service.h"
#include "takt/spine/explain.h"

namespace takt::data {

/// "NAME", "NAME@3" -> the version's tree.
class DatasetResolver final : public actions::RefResolver {
 public:
  DatasetResolver(DatasetService& datasets, access::Policy& policy)
      : datasets_(datasets), policy_(policy) {}
  actions::PortKind kind() const override { return actions::PortKind::kDataset; }
  Result<actions::PortValue> resolve(const ProjectId& project,
                                     std::string_view reference) const override;

 private:
  DatasetService& datasets_;
  access::Policy& policy_;
};

class DatasetExplainer final : public spine::Explainer, public spine::LineSource {
 public:
  DatasetExplainer(DatasetService& datasets, access::Policy& policy)
      : datasets_(datasets), policy_(policy) {}
  std::vector<std::string> kinds() const override { return {"dataset"}; }
  Result<spine::Explanation> explain(const ProjectId& project, const Ref& ref) override;
  Result<spine::LineCard> line_card(const ProjectId& project, std::int64_t since_ms) override;

 private:
  DatasetService& datasets_;
  access::Policy& policy_;
};

}  // namespace takt::data
