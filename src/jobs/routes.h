// SPDX-License-Identifier: Apache-2.0
// /api/v1/jobs and /api/v1/capacity, as api/openapi/jobs.yaml describes them.
#pragma once

#include "takt/access/access.h"
#include "takt/jobs/station.h"
#include "takt/net/http.h"

namespace takt::jobs {

void register_routes(net::Router& router, JobStation& station, access::Policy& policy);

/// A job as the API shows it.
Value job_to_value(const Job& job);

}  // namespace takt::jobs
