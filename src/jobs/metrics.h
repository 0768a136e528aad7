// SPDX-License-Identifier: Apache-2.0
// What this room counts: one process-wide table of atomics, rendered by whoever serves /metrics.
#pragma once

#include <cstdint>
#include <string>

#include "takt/jobs/job.h"

namespace takt::jobs {

void count_submission();
void count_attempt_end(FailureClass failure);
void set_queue_gauges(std::int64_t waiting, std::int64_t placed);

/// Prometheus text: takt_jobs_submitted_total, takt_jobs_attempts_ended_total{failure},
/// takt_jobs_waiting, takt_jobs_placed.
std::string render_job_metrics();

}  // namespace takt::jobs
