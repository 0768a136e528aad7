// SPDX-License-Identifier: Apache-2.0
// All of this room put together: what app makes, starts and stops.
#pragma once

#include <memory>

#include "takt/access/access.h"
#include "takt/actions/step.h"
#include "takt/data/dataset_service.h"
#include "takt/jobs/dispatcher.h"
#include "takt/jobs/executor.h"
#include "takt/jobs/executors/local.h"
#include "takt/jobs/job_service.h"
#include "takt/jobs/log_file.h"
#include "takt/spine/explain.h"
#include "takt/store/blobs.h"
#include "takt/store/database.h"

namespace takt::jobs {

struct StationOptions {
  std::string server_url;         // what jobs find in TAKT_URL: http://127.0.0.1:8700
  LocalExecutorOptions executor;  // with data_dir
  DispatcherOptions dispatcher;
  int side_threads = 3;
};
struct StationParts {
  store::Database& db;
  store::BlobStore& blobs;
  data::DatasetService& datasets;
  access::AccessService& access;
  actions::Registry& registry;  // resolves references; must outlive the station
};

class JobStation {
 public:
  static Result<std::unique_ptr<JobStation>> open(StationParts parts, StationOptions options);
  ~JobStation();

  JobService& service();
  Executor& executor();
  LogFollower& follower();
  std::filesystem::path log_path(JobId job, int attempt) const;
  /// Submits the run again from its record (reproduce.h).
  Result<Job> reproduce(const access::CanWrite& by, const RunId& run, const Value& changes);
  /// Recovery is the first pass: call it after the tables are migrated and before requests come.
  void start();
  /// The queue stands still afterwards; attempts go on under their shims.
  void stop();

  /// Runs a job for a pipeline node; action "job".
  std::unique_ptr<actions::StepRunner> make_step();
  /// Kind "job", and the card of the Line page.
  std::shared_ptr<spine::Explainer> make_explainer();
  std::shared_ptr<spine::LineSource> make_line_source();

 private:
  struct Impl;
  explicit JobStation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace takt::jobs
