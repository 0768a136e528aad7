// SPDX-License-Identifier: Apache-2.0
// The life of a node, as one table.
//
//   pending --ready, approval asked--> waiting-approval --approved--> running
//      |                                     +--rejected--> rejected
//      +--ready--> running --done--> done | --no--> stopped | --failed--> failed
//      +--known result--> cached       +--failed, budget left--> retrying --due--> running
//      +--upstream ended badly--> skipped            any open state --cancel--> cancelled
#pragma once

#include "takt/pipelines/pipeline.h"

namespace takt::pipelines {

enum class NodeEvent {
  kStarted,
  kFoundCached,
  kApprovalAsked,
  kApproved,
  kRejected,
  kDone,
  kStopped,
  kFailed,
  kRetryPlanned,
  kSkipped,
  kCancelled
};

/// kConflict when the event cannot happen in that state.
Result<NodeState> next(NodeState state, NodeEvent event);

}  // namespace takt::pipelines
