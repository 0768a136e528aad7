// SPDX-License-Identifier: Apache-2.0
// Searches over runs: the statement is composed from parts that stand here, every value is bound.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "takt/store/database.h"
#include "takt/track/filter.h"
#include "takt/track/run.h"

namespace takt::track {

enum class RunView { kActive, kDeleted, kAll };

struct RunSearch {
  std::vector<std::string> experiments;  // ids; empty: nothing is found
  Filter filter;
  std::vector<OrderTerm> order;  // then newest start, then id
  RunView view = RunView::kActive;
  std::int64_t limit = 100;
  std::string page_token;
};
/// Which of the runs' words and metrics to load; empty: all.
struct RunColumns {
  std::set<std::string> params, metrics, tags;
  bool is_restricted = false;
};
struct RunPage {
  std::vector<Run> runs;
  std::string next_page_token;  // "" on the last page
};

/// Runs with their row only: load_run_data fills them. kInvalid for a token of another search.
Result<RunPage> search_runs(store::Reader& reader, const ProjectId& project,
                            const RunSearch& search);

/// Params, tags and latest metrics of these runs.
Status load_run_data(store::Reader& reader, std::vector<Run>& runs, const RunColumns& columns);
/// Dataset inputs and model links of these runs.
Status load_run_inputs(store::Reader& reader, std::vector<Run>& runs);

struct RunColumn {
  std::string kind;  // metric, param, tag
  std::string key;
  std::int64_t runs = 0;
};
/// The keys that active runs of these experiments have, sorted; at most 2,000.
Result<std::vector<RunColumn>> list_run_columns(store::Reader& reader, const ProjectId& project,
                                                const std::vector<std::string>& experiments);

/// From the ten columns of sql's find_run.
Result<Run> run_from_row(const store::Row& row);

}  // namespace takt::track
