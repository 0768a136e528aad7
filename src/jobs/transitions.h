// SPDX-License-Identifier: Apache-2.0
// The changes of a job as transactions: state, attempt, run, lineage and event together. Each reads
// the job first, so that it may be repeated and may meet a change that came in between.
#pragma once

#include <optional>

#include "takt/jobs/executor.h"
#include "takt/jobs/outcome.h"
#include "takt/jobs/workspace.h"
#include "takt/store/database.h"

namespace takt::jobs {

/// The submission: number, row, run, lineage and event. Fills in `job.id`.
Status write_submitted(store::Tx& tx, Job& job);

/// The lease. Empty when the job does not wait any more (cancelled meanwhile).
Result<std::optional<Attempt>> write_placed(store::Tx& tx, JobId id);

/// Its supervisor has it. Nothing when it was noted already.
Status write_started(store::Tx& tx, const Lease& lease);

struct AttemptEnd {
  Outcome outcome;
  AttemptExit exit;             // zeros when there was no record
  Collected collected;          // of a success
  int lost_max = 3;             // lost attempts that are repeated beside the retry budget
  bool counts_as_lost = false;  // lost or not launched through no fault of its own
  bool is_free = false;         // was never started: repeated without counting at all
};
/// What became of the job. Empty when the attempt's end had been noted already.
Result<std::optional<JobState>> write_ended(store::Tx& tx, const Lease& lease,
                                            const AttemptEnd& end);

/// Notes the wish; a waiting job is cancelled at once. The job as it is then.
Result<Job> write_cancel(store::Tx& tx, const ProjectId& project, JobId id, const UserId& by,
                         std::int64_t grace_ms);

}  // namespace takt::jobs
