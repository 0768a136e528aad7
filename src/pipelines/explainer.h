// SPDX-License-Identifier: Apache-2.0
// What pipelines give to `why` and the Line page.
#pragma once

#include "takt/access/access.h"
#include "takt/pipelines/pipeline_service.h"
#include "takt/spine/explain.h"

namespace takt::pipelines {

class PipelineExplainer final : public spine::Explainer, public spine::LineSource {
 public:
  PipelineExplainer(PipelineService& pipelines, access::Policy& policy)
      : pipelines_(pipelines), policy_(policy) {}
  std::vector<std::string> kinds() const override { return {"pipeline", "pipeline-run", "node"}; }
  Result<spine::Explanation> explain(const ProjectId& project, const Ref& ref) override;
  Result<spine::LineCard> line_card(const ProjectId& project, std::int64_t since_ms) override;

 private:
  PipelineService& pipelines_;
  access::Policy& policy_;
};

}  // namespace takt::pipelines
