// SPDX-License-Identifier: Apache-2.0
// Folding: points move from the head's rows into chunks.
#pragma once

#include "takt/store/database.h"
#include "takt/track/run.h"

namespace takt::track {

/// A head of that many points is due to be folded: enough for a full chunk.
inline constexpr std::int64_t kHeadPointsMax = 200;

/// What one step may do, so that it keeps other writes waiting for a few milliseconds at most.
struct FoldLimits {
  std::size_t points = 2000;   // taken from heads
  std::size_t rewritten = 32;  // chunks that points are put into the middle of
  std::size_t series = 16;
};

/// Whether some head is due: a look that keeps nobody waiting.
Result<bool> has_folds(store::Reader& reader);
/// Folds some of what is due, in the caller's transaction; true when more is. A step that does not
/// commit leaves all as it was.
Result<bool> fold_some(store::Tx& tx, const FoldLimits& limits = {});
/// The heads of a run that has ended are due too where a chunk is smaller than its rows.
Status fold_ended_run(store::Tx& tx, const RunId& run);

}  // namespace takt::track
