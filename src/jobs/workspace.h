// SPDX-License-Identifier: Apache-2.0
// The files of an attempt: what it is given before it starts and what it leaves behind.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "takt/access/access.h"
#include "takt/content/manifest.h"
#include "takt/data/dataset_service.h"
#include "takt/jobs/executor.h"
#include "takt/store/blobs.h"

namespace takt::jobs {

struct CollectedOutput {
  actions::PortValue port;
  content::Manifest tree;     // of dataset, model and artifact
  bool is_artifact = false;   // shown among the run's artifacts
  bool is_made_here = false;  // a dataset version that this job made (not one that was there)
};
struct Collected {
  std::map<std::string, CollectedOutput> outputs;
  std::map<std::string, double> metrics;  // top-level numbers of JSON outputs
};

/// Called on side threads: may take as long as the files do. Idempotent.
class Workspace {
 public:
  virtual ~Workspace() = default;
  /// Code, inputs, environment: everything up to the start.
  virtual Result<Launch> prepare(const Job& job, const Attempt& attempt) = 0;
  /// Stores the declared outputs of an attempt that ended with code 0. kInvalid or kNotFound names
  /// the output that is missing or wrong: the job's own fault.
  virtual Result<Collected> collect(const Job& job, const Attempt& attempt) = 0;
  /// After the attempt's end: its files go, its log and records stay. `is_last`: the job ended, and
  /// its tokens with it.
  virtual void discard(const Job& job, const Attempt& attempt, bool is_last) = 0;
};

struct WorkspaceParts {
  store::BlobStore& blobs;
  data::DatasetService& datasets;
  access::AccessService& access;
};
std::unique_ptr<Workspace> make_disk_workspace(std::filesystem::path data_dir,
                                               std::string server_url, WorkspaceParts parts);

}  // namespace takt::jobs
