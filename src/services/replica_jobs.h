// SPDX-License-Identifier: Apache-2.0
// Replicas and the gateway as jobs: what is submitted, and what a job says about a replica.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "takt/access/access.h"
#include "takt/jobs/job_service.h"
#include "takt/services/plan.h"

namespace takt::services {

struct ReplicaJobOptions {
  std::filesystem::path takt_binary;
  std::filesystem::path gateway_folder;
  std::string gateway_http, gateway_grpc;
};

class ReplicaJobs {
 public:
  ReplicaJobs(jobs::JobService& jobs, access::Policy& policy, ReplicaJobOptions options)
      : jobs_(jobs), policy_(policy), options_(std::move(options)) {}

  /// The same generation again gives the same job.
  Result<JobId> submit(const ServiceRow& service, const RevisionRow& revision,
                       const ReplicaRow& replica);
  Result<JobId> submit_gateway(const ReplicaRow& replica);
  Result<ReplicaJob> find(const ProjectId& project, JobId job);
  Status cancel(const ProjectId& project, JobId job);
  /// Ends what a crash left between the submission and its record.
  Status cancel_unrecorded(const ProjectId& project, const ReplicaRow& replica);
  /// The error that the log ends with, or its last line.
  std::string last_words(const ProjectId& project, JobId job);

 private:
  jobs::JobService& jobs_;
  access::Policy& policy_;
  const ReplicaJobOptions options_;
};

/// Jobs of the gateway and their events belong to this project and user.
ProjectId gateway_project();
UserId system_user();

}  // namespace takt::services
