// SPDX-License-Identifier: Apache-2.0
// JobService over the store, the executor and the dispatcher.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "takt/actions/step.h"
#include "takt/jobs/executor.h"
#include "takt/jobs/job_service.h"
#include "takt/store/blobs.h"
#include "takt/store/database.h"

namespace takt::jobs {

struct ServiceParts {
  store::Database& db;
  store::BlobStore& blobs;
  actions::Registry& registry;
  Executor& executor;
  std::filesystem::path data_dir;
  std::function<void()> wake;                     // the dispatcher
  std::function<std::string(JobId)> wait_reason;  // of the dispatcher's last pass
};
std::unique_ptr<JobService> make_job_service(ServiceParts parts);

}  // namespace takt::jobs
