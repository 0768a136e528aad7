// SPDX-License-Identifier: Apache-2.0
// What jobs and models write into runs, inside their own transactions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/ids.h"
#include "takt/base/value.h"
#include "takt/content/manifest.h"
#include "takt/store/database.h"

namespace takt::track {

struct NewRun {
  ProjectId project;
  RunId id;  // 32 hex digits, chosen by the caller (so that a retried transaction is idempotent)
  std::string experiment;  // by name, created when absent
  std::string name;
  UserId user;
  std::map<std::string, std::string> params;
  std::map<std::string, std::string>
      tags;  // "takt.job", "takt.code", "takt.environment", "mlflow.source.name" …
};
/// Inserts the run (state RUNNING) with its params and tags, one event; nothing if it exists
/// already.
Status insert_run(store::Tx& tx, const NewRun& run);
enum class RunEnd { kFinished, kFailed, kKilled };
Status end_run(store::Tx& tx, const ProjectId& project, const RunId& run, RunEnd end);
Status set_run_tag(store::Tx& tx, const ProjectId& project, const RunId& run, std::string_view key,
                   std::string_view value);
/// Numbers logged on the run's behalf at step 0 (the top-level numbers of a job's JSON output).
Status log_run_metrics(store::Tx& tx, const ProjectId& project, const RunId& run,
                       const std::map<std::string, double>& metrics);
/// Makes the files of a tree artifacts of the run, below `folder` ("" = root).
Status add_run_artifacts(store::Tx& tx, const ProjectId& project, const RunId& run,
                         std::string_view folder, const content::Manifest& tree);

}  // namespace takt::track
