// SPDX-License-Identifier: Apache-2.0
#include "takt/track/experiment_search_store.h"

#include <algorithm>

#include "takt/track/experiment_store.h"
#include "takt/track/filter_sql.h"
#include "takt/track/sql.h"

namespace takt::track {
namespace {

constexpr std::size_t kExperimentsPerQuery = 500;

const SearchTables& experiment_tables() {
  static const SearchTables tables{
      .select = "r.id, r.name, r.artifact_location, r.is_deleted, r.created_ms, r.updated_ms",
      .selected = 6,
      .from = "experiments r",
      .columns = {{"name", "r.name"},
                  {"experiment_id", "r.id", SortKind::kWhole},
                  {"creation_time", "r.created_ms", SortKind::kWhole},
                  {"last_update_time", "r.updated_ms", SortKind::kWhole}},
      .params = {},
      .tags = {"experiment_tags", "$.experiment = r.id"},
      .metrics = {},
      .ties = {{"r.created_ms", SortKind::kWhole, true}, {"r.id", SortKind::kWhole, false}}};
  return tables;
}

Status load_tags_of(store::Reader& reader, std::vector<Experiment>& experiments) {
  std::map<std::int64_t, Experiment*> places;
  for (Experiment& experiment : experiments) places[experiment_number(experiment.id)] = &experiment;
  for (std::size_t from = 0; from < experiments.size(); from += kExperimentsPerQuery) {
    Statement statement;
    statement.add(sql::kSelectExperimentTags).add(" WHERE experiment IN (");
    const std::size_t to = std::min(experiments.size(), from + kExperimentsPerQuery);
    for (std::size_t i = from; i < to; ++i)
      statement.add(i > from ? ", " : "").bind(experiment_number(experiments[i].id));
    TAKT_ASSIGN(const auto rows, statement.add(")").run(reader));
    for (const auto& row : rows) places.at(row.integer(0))->tags[row.text(1)] = row.text(2);
  }
  return {};
}

}  // namespace

Result<ExperimentPage> search_experiments(store::Reader& reader, const ProjectId& project,
                                          const ExperimentSearch& search) {
  const auto where = [&](Statement& out) {
    out.add("r.project = ").bind(project.value);
    if (search.view != RunView::kAll)
      out.add(" AND r.is_deleted = ").bind(std::int64_t{search.view == RunView::kDeleted ? 1 : 0});
  };
  const SqlSearch asked{experiment_tables(), search.filter, search.order, where,
                        "experiments " + std::to_string(static_cast<int>(search.view))};
  TAKT_ASSIGN(SqlPage found, find_page(reader, asked, search.limit, search.page_token));
  ExperimentPage page;
  page.next_page_token = std::move(found.next_page_token);
  for (const auto& row : found.rows) page.experiments.push_back(experiment_from_row(row));
  TAKT_RETURN_IF_ERROR(load_tags_of(reader, page.experiments));
  if (search.counts) {
    TAKT_ASSIGN(page.total, count_found(reader, asked));
  }
  return page;
}

}  // namespace takt::track
