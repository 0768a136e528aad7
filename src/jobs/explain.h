// SPDX-License-Identifier: Apache-2.0
// "Why does job 41 wait, or why did it fail?" and the jobs card of the Line page.
#pragma once

#include <filesystem>
#include <memory>

#include "takt/access/access.h"
#include "takt/jobs/job_service.h"
#include "takt/spine/explain.h"
#include "takt/store/database.h"

namespace takt::jobs {

struct ExplainParts {
  store::Database& db;
  JobService& service;
  access::Policy& policy;
  std::filesystem::path data_dir;
};
std::shared_ptr<spine::Explainer> make_job_explainer(ExplainParts parts);
std::shared_ptr<spine::LineSource> make_job_line_source(ExplainParts parts);

/// The answer for one job as it is. `log_tail`: its last attempt's last lines. Pure.
spine::Explanation explain_job(const Job& job, const std::vector<std::string>& log_tail,
                               UnixMs now);

}  // namespace takt::jobs
