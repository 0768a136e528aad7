// SPDX-License-Identifier: Apache-2.0
// The tables of experiments.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "takt/store/database.h"
#include "takt/track/run.h"

namespace takt::track {

/// None when the name is taken in this project (also by a deleted experiment).
Result<std::optional<Experiment>> insert_experiment(store::Tx& tx, const ProjectId& project,
                                                    const Experiment& experiment);
/// With its tags. An id that is no number is not found.
Result<std::optional<Experiment>> find_experiment(store::Reader& reader, const ProjectId& project,
                                                  const ExperimentId& id);
Result<std::optional<Experiment>> find_experiment_by_name(store::Reader& reader,
                                                          const ProjectId& project,
                                                          std::string_view name);
Result<std::vector<Experiment>> load_experiments(store::Reader& reader, const ProjectId& project);

struct ExperimentCounts {
  std::int64_t runs = 0, running = 0;
  UnixMs last_run_ms = 0;
};
/// Of active runs, by experiment id; of one experiment only, when that is named.
Result<std::map<std::string, ExperimentCounts>> count_runs_by_experiment(store::Reader& reader,
                                                                         const ProjectId& project,
                                                                         const ExperimentId& only);

Status store_experiment_name(store::Tx& tx, const ProjectId& project, const ExperimentId& id,
                             std::string_view name);
/// Deletes or restores the experiment with its runs.
Status mark_experiment(store::Tx& tx, const ProjectId& project, const ExperimentId& id,
                       bool is_deleted);
Status store_experiment_tag(store::Tx& tx, const ExperimentId& id, std::string_view key,
                            std::string_view value);
/// False when there was none.
Result<bool> remove_experiment_tag(store::Tx& tx, const ExperimentId& id, std::string_view key);

/// From the six columns of sql's find_experiment, without tags.
Experiment experiment_from_row(const store::Row& row);
/// The number in an experiment id, -1 for anything else.
std::int64_t experiment_number(const ExperimentId& id);

}  // namespace takt::track
