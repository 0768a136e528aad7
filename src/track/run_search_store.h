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

class Statement;

enum class RunView { kActive, kDeleted, kAll };

/// The experiments that a search looks in: those with these ids (unknown ones have no runs), or all
/// active ones of the project.
struct RunScope {
  bool is_all = false;
  std::vector<std::string> experiments;
};
struct RunSearch {
  RunScope scope;
  Filter filter;
  std::vector<OrderTerm> order;  // then newest start, then id
  RunView view = RunView::kActive;
  std::int64_t limit = 100;
  std::string page_token;
  bool counts = false;  // also how many there are on all pages
};
/// Which of the runs' words and metrics to load; all when not restricted.
struct RunColumns {
  std::set<std::string> params, metrics, tags;
  bool is_restricted = false;
};
/// Adds "metrics.acc", "params.lr" or "tags.x". kInvalid (field `columns`) for other texts.
Status add_column(RunColumns& columns, std::string_view text);

struct RunPage {
  std::vector<Run> runs;
  std::string next_page_token;  // "" on the last page
  std::int64_t total = -1;      // when asked for
};

/// Runs with their row only: load_run_data fills them. kInvalid for a token of another search.
/// The cost depends neither on histories nor on experiments that are not searched.
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
/// The keys that active runs in these experiments have, sorted; at most 2,000.
Result<std::vector<RunColumn>> list_run_columns(store::Reader& reader, const ProjectId& project,
                                                const RunScope& scope);

/// The condition on project and experiment of a thing with the alias r. What belongs to a deleted
/// experiment is found by the experiment's id only.
void add_run_scope(Statement& out, const ProjectId& project, const RunScope& scope);

/// From the ten columns of sql's find_run.
Result<Run> run_from_row(const store::Row& row);

}  // namespace takt::track
