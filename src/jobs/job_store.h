// SPDX-License-Identifier: Apache-2.0
// Rows of jobs and attempts. The only code of this room that runs SQL.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "takt/jobs/job.h"
#include "takt/jobs/job_service.h"
#include "takt/store/database.h"

namespace takt::jobs {

/// Gives the job its number and inserts it.
Status insert_job(store::Tx& tx, Job& job);
/// With its attempts. kNotFound "no job 41".
Result<Job> get_job(store::Reader& reader, JobId id);
std::string job_missing_text(JobId id);
/// No job: an empty optional.
Result<std::optional<JobId>> find_job_by_owner(store::Reader& reader, const ProjectId& project,
                                               std::string_view owner);
Result<std::vector<Job>> list_jobs(store::Reader& reader, const ProjectId& project,
                                   const JobFilter& filter);

/// What the queue needs of a job that is not final, without its spec.
struct OpenJob {
  JobId id;
  JobState state = JobState::kWaiting;
  int priority = 5;
  Resources resources;
  UnixMs submitted_ms = 0, not_before_ms = 0, cancel_ms = 0;
};
/// All that hold resources: starting, running or stopping.
Result<std::vector<OpenJob>> list_placed_jobs(store::Reader& reader);
/// By priority, then number; at most `limit`.
Result<std::vector<OpenJob>> list_waiting_jobs(store::Reader& reader, int limit);

/// Writes what may change of a job (not its spec), or of an attempt.
Status save_job(store::Tx& tx, const Job& job);
Status insert_attempt(store::Tx& tx, JobId job, const Attempt& attempt);
Status save_attempt(store::Tx& tx, JobId job, const Attempt& attempt);

Result<std::map<JobState, std::int64_t>> count_jobs(store::Reader& reader,
                                                    const ProjectId& project);
Result<std::vector<Job>> list_failed_jobs(store::Reader& reader, const ProjectId& project,
                                          UnixMs since_ms, int limit);

}  // namespace takt::jobs
