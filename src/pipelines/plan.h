// SPDX-License-Identifier: Apache-2.0
// What should happen next in a run. Pure: from the stored state and the time to decisions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "takt/pipelines/pipeline.h"

namespace takt::pipelines {

struct Decision {
  enum class Kind { kSkip, kPrepare, kRetry, kCancel } kind;
  std::string node;
  std::string reason;
};
struct RunEnd {
  RunState state = RunState::kSucceeded;
  std::string reason;
};
struct RunPlan {
  std::vector<Decision> decisions;
  std::optional<RunEnd> end;  // every node has ended
};

/// kPrepare: everything it needs is there; look for a known result, ask for approval, or start.
RunPlan plan_run(const PipelineSpec& spec, const PipelineRun& run, UnixMs now_ms);

}  // namespace takt::pipelines
