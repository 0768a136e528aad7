// SPDX-License-Identifier: Apache-2.0
// What track gives to the rooms above: explanations of runs, the Line card.
#pragma once

#include "takt/access/access.h"
#include "takt/spine/explain.h"
#include "takt/track/track_service.h"

namespace takt::track {

class RunExplainer final : public spine::Explainer, public spine::LineSource {
 public:
  RunExplainer(TrackService& track, access::Policy& policy) : track_(track), policy_(policy) {}
  std::vector<std::string> kinds() const override { return {"run"}; }
  Result<spine::Explanation> explain(const ProjectId& project, const Ref& ref) override;
  Result<spine::LineCard> line_card(const ProjectId& project, std::int64_t since_ms) override;

 private:
  TrackService& track_;
  access::Policy& policy_;
};

}  // namespace takt::track
