// SPDX-License-Identifier: Apache-2.0
// The tables of runs, but for their metrics (metric_store.h) and searches (run_search_store.h).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "takt/store/database.h"
#include "takt/track/run.h"

namespace takt::track {

/// The run as the client asked for it; false when the id or the key is taken.
Result<bool> insert_run_row(store::Tx& tx, const ProjectId& project, const Run& run,
                            std::string_view idempotency_key);
/// Without params, tags, metrics and inputs.
Result<std::optional<Run>> find_run_row(store::Reader& reader, const ProjectId& project,
                                        const RunId& id);
/// Nothing when there is no such run.
Result<std::optional<bool>> is_run_deleted(store::Reader& reader, const ProjectId& project,
                                           const RunId& id);
/// With all of it.
Result<std::optional<Run>> find_run(store::Reader& reader, const ProjectId& project,
                                    const RunId& id);
Result<std::optional<RunId>> find_run_by_idempotency_key(store::Reader& reader,
                                                         const ProjectId& project,
                                                         std::string_view key);
/// Oldest first, at most 100. Quick for takt.job and mlflow.parentRunId only.
Result<std::vector<RunId>> runs_by_tag(store::Reader& reader, const ProjectId& project,
                                       std::string_view key, std::string_view value);

/// Saves name, status and end.
Status store_run_row(store::Tx& tx, const ProjectId& project, const Run& run);
Status mark_run(store::Tx& tx, const ProjectId& project, const RunId& id, bool is_deleted);

/// The value that the run has under the key already, when that is another one; it stays.
Result<std::optional<std::string>> store_param(store::Tx& tx, const RunId& id, std::string_view key,
                                               std::string_view value);
Status store_tag(store::Tx& tx, const RunId& id, std::string_view key, std::string_view value);
Result<bool> remove_tag(store::Tx& tx, const RunId& id, std::string_view key);
Result<std::optional<std::string>> find_tag(store::Reader& reader, const RunId& id,
                                            std::string_view key);
Status store_input(store::Tx& tx, const RunId& id, const RunInput& input);
Status store_run_model(store::Tx& tx, const RunId& id, bool is_output, const ModelLink& link);

struct RunCounts {
  std::int64_t runs = 0, running = 0, since = 0, failed_since = 0;
};
Result<RunCounts> count_runs(store::Reader& reader, const ProjectId& project, UnixMs since_ms);
/// Newest first, at most 20.
Result<std::vector<RunId>> running_runs(store::Reader& reader, const ProjectId& project);

}  // namespace takt::track
