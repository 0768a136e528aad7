// SPDX-License-Identifier: Apache-2.0
// A run again, from its record: code, environment, data versions, parameters, seed, command.
#pragma once

#include "takt/jobs/job_service.h"
#include "takt/store/database.h"

namespace takt::jobs {

/// What to submit, so that the run of the submission is that run again. `changes` may hold params,
/// inputs, seed, environment and code as a job's spec has them: what stands there replaces the
/// record (params and inputs name by name), all else stays as recorded, data versions included.
/// kConflict when the run was not made by a job of takt.
Result<Submission> reproduction_of(store::Reader& reader, const ProjectId& project,
                                   const RunId& run, const Value& changes);

}  // namespace takt::jobs
