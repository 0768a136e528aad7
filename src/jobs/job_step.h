// SPDX-License-Identifier: Apache-2.0
// The pipeline step that is a job.
#pragma once

#include <memory>

#include "takt/access/access.h"
#include "takt/actions/step.h"
#include "takt/jobs/job_service.h"

namespace takt::jobs {

std::unique_ptr<actions::StepRunner> make_job_step(JobService& service, access::Policy& policy);

}  // namespace takt::jobs
