// SPDX-License-Identifier: Apache-2.0
#include "takt/track/run_search_store.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "takt/base/value.h"
#include "takt/track/experiment_store.h"
#include "takt/track/filter_sql.h"
#include "takt/track/metric_store.h"
#include "takt/track/sql.h"

namespace takt::track {
namespace {

constexpr std::size_t kRunsPerQuery = 500;
constexpr std::int64_t kColumnsMax = 2000;

const SearchTables& run_tables() {
  static const SearchTables tables{
      .select = "r.id",
      .selected = 1,
      .from = "runs r",
      .columns = {{"run_id", "r.id"},
                  {"run_name", "r.name"},
                  {"user_id", "r.user_name"},
                  {"status", "r.status"},
                  {"artifact_uri", "r.artifact_uri"},
                  {"experiment_id", "r.experiment", SortKind::kWhole},
                  {"experiment_name",
                   "(SELECT e.name FROM experiments e WHERE e.id = r.experiment)"},
                  {"start_time", "r.start_ms", SortKind::kWhole},
                  {"end_time", "r.end_ms", SortKind::kWhole, "r.end_ms < 0"}},
      .params = {"run_params", "$.run = r.id"},
      .tags = {"run_tags", "$.run = r.id"},
      .metrics = {"metric_latest", "$.run = r.id"},
      .ties = {{"r.start_ms", SortKind::kWhole, true}, {"r.id", SortKind::kText, false}}};
  return tables;
}

SqlSearch sql_search(const ProjectId& project, const RunSearch& search) {
  std::string scope = "runs " + std::to_string(static_cast<int>(search.view));
  scope += search.scope.is_all ? "*" : "";
  for (const auto& id : search.scope.experiments) scope += "," + id;
  const auto where = [&project, &search](Statement& out) {
    add_run_scope(out, project, search.scope);
    if (search.view != RunView::kAll)
      out.add(" AND r.is_deleted = ").bind(std::int64_t{search.view == RunView::kDeleted ? 1 : 0});
  };
  return {run_tables(), search.filter, search.order, where, std::move(scope)};
}

std::vector<std::string> ids_of(const std::vector<Run>& runs, std::size_t from, std::size_t to) {
  std::vector<std::string> ids;
  for (std::size_t i = from; i < to; ++i) ids.push_back(runs[i].id.value);
  // Few different lengths, so that the database keeps few statements: the last is repeated.
  const std::size_t full = ids.size() <= 1 ? 1 : ids.size() <= 20 ? 20 : kRunsPerQuery;
  ids.resize(full, ids.back());
  return ids;
}

/// Runs by id. The rows of a run come together, so most look-ups are of the run before.
class RunIndex {
 public:
  void add(Run& run) { runs_[run.id.value] = &run; }
  Run& at(const std::string& id) const {
    if (last_ == nullptr || last_->id.value != id) last_ = runs_.at(id);
    return *last_;
  }

 private:
  std::unordered_map<std::string, Run*> runs_;
  mutable Run* last_ = nullptr;
};

/// Calls `load` with the ids of up to 500 runs at a time.
Status in_chunks(
    std::vector<Run>& runs,
    const std::function<Status(const std::vector<std::string>&, const RunIndex&)>& load) {
  RunIndex index;
  for (Run& run : runs) index.add(run);
  for (std::size_t from = 0; from < runs.size(); from += kRunsPerQuery)
    TAKT_RETURN_IF_ERROR(
        load(ids_of(runs, from, std::min(runs.size(), from + kRunsPerQuery)), index));
  return {};
}

/// Keys mostly come in order.
void add_word(Words& words, const store::Row& row) {
  words.insert_or_assign(words.end(), row.text(1), row.text(2));
}

/// The runs' own rows. The first query finds ids alone, which mostly an index answers.
Status load_run_rows(store::Reader& reader, const std::vector<std::string>& ids,
                     const RunIndex& index) {
  Statement statement;
  statement.add(sql::kSelectRuns).add(" WHERE r.id IN ").bind_list(ids);
  TAKT_ASSIGN(const auto rows, statement.run(reader));
  for (const auto& row : rows) {
    TAKT_ASSIGN(Run run, run_from_row(row));
    index.at(row.text(0)) = std::move(run);
  }
  return {};
}

/// Rows of one of the three tables by run, only the keys asked for when there are some.
Result<store::Rows> rows_of_runs(store::Reader& reader, std::string_view select,
                                 const std::vector<std::string>& ids,
                                 const std::set<std::string>& keys) {
  Statement statement;
  statement.add(select).add(" WHERE run IN ").bind_list(ids);
  if (!keys.empty()) statement.add(" AND key IN ").bind_list({keys.begin(), keys.end()});
  return statement.run(reader);
}

}  // namespace

void add_run_scope(Statement& out, const ProjectId& project, const RunScope& scope) {
  out.add("r.project = ").bind(project.value);
  if (scope.is_all) {
    out.add(" AND r.experiment NOT IN (SELECT id FROM experiments WHERE is_deleted = 1")
        .add(" AND project = ")
        .bind(project.value)
        .add(")");
    return;
  }
  out.add(" AND r.experiment IN (");
  for (std::size_t i = 0; i < scope.experiments.size(); ++i)
    out.add(i > 0 ? ", " : "").bind(experiment_number(ExperimentId{scope.experiments[i]}));
  out.add(")");
}

Status add_column(RunColumns& columns, std::string_view text) {
  columns.is_restricted = true;
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view kind = text.substr(0, dot);
  std::string key(text.substr(std::min(dot + 1, text.size())));
  if (key.size() > 2 && key.front() == key.back() && (key.front() == '`' || key.front() == '"'))
    key = key.substr(1, key.size() - 2);
  if (!key.empty() && (kind == "metrics" || kind == "metric"))
    columns.metrics.insert(std::move(key));
  else if (!key.empty() && (kind == "params" || kind == "param"))
    columns.params.insert(std::move(key));
  else if (!key.empty() && (kind == "tags" || kind == "tag"))
    columns.tags.insert(std::move(key));
  else
    return fail(Code::kInvalid, "'" + std::string(text) + "' is no column",
                "write params.KEY, metrics.KEY or tags.KEY", "columns");
  return {};
}

Result<RunPage> search_runs(store::Reader& reader, const ProjectId& project,
                            const RunSearch& search) {
  RunPage page;
  if (!search.scope.is_all && search.scope.experiments.empty()) {
    page.total = search.counts ? 0 : -1;
    return page;
  }
  const SqlSearch asked = sql_search(project, search);
  TAKT_ASSIGN(const SqlPage found, find_page(reader, asked, search.limit, search.page_token));
  page.next_page_token = found.next_page_token;
  page.runs.resize(found.rows.size());
  for (std::size_t i = 0; i < found.rows.size(); ++i) page.runs[i].id.value = found.rows[i].text(0);
  TAKT_RETURN_IF_ERROR(
      in_chunks(page.runs, [&](const std::vector<std::string>& ids, const RunIndex& index) {
        return load_run_rows(reader, ids, index);
      }));
  const bool is_whole = search.page_token.empty() && page.next_page_token.empty();
  if (search.counts && is_whole) page.total = static_cast<std::int64_t>(page.runs.size());
  if (search.counts && !is_whole) {
    TAKT_ASSIGN(page.total, count_found(reader, asked));
  }
  return page;
}

Status load_run_data(store::Reader& reader, std::vector<Run>& runs, const RunColumns& columns) {
  return in_chunks(runs, [&](const std::vector<std::string>& ids, const RunIndex& index) -> Status {
    const auto wanted = [&](const std::set<std::string>& keys) {
      return !columns.is_restricted || !keys.empty();
    };
    if (wanted(columns.params)) {
      TAKT_ASSIGN(const auto rows, rows_of_runs(reader, sql::kSelectParams, ids, columns.params));
      for (const auto& row : rows) add_word(index.at(row.text(0)).params, row);
    }
    if (wanted(columns.tags)) {
      TAKT_ASSIGN(const auto rows, rows_of_runs(reader, sql::kSelectTags, ids, columns.tags));
      for (const auto& row : rows) add_word(index.at(row.text(0)).tags, row);
    }
    if (wanted(columns.metrics)) {
      TAKT_ASSIGN(const auto rows, rows_of_runs(reader, sql::kSelectLatest, ids, columns.metrics));
      for (const auto& row : rows) {
        auto& metrics = index.at(row.text(0)).metrics;
        metrics.insert_or_assign(metrics.end(), row.text(1), point_from_row(row, 2));
      }
    }
    return {};
  });
}

Status load_run_inputs(store::Reader& reader, std::vector<Run>& runs) {
  return in_chunks(runs, [&](const std::vector<std::string>& ids, const RunIndex& index) -> Status {
    TAKT_ASSIGN(const auto inputs, rows_of_runs(reader, sql::kSelectInputs, ids, {}));
    for (const auto& row : inputs) {
      RunInput input{row.text(1), row.text(2), row.text(3), row.text(4),
                     row.text(5), row.text(6), {}};
      TAKT_ASSIGN(const Value tags, parse_json(row.text(7)));
      for (const auto& [key, value] : tags.as_object())
        input.tags[key] = value.is_string() ? value.as_string() : "";
      index.at(row.text(0)).inputs.push_back(std::move(input));
    }
    TAKT_ASSIGN(const auto models, rows_of_runs(reader, sql::kSelectRunModels, ids, {}));
    for (const auto& row : models) {
      Run& run = index.at(row.text(0));
      (row.text(1) == "out" ? run.model_outputs : run.model_inputs)
          .push_back({row.text(2), row.integer(3)});
    }
    return {};
  });
}

Result<std::vector<RunColumn>> list_run_columns(store::Reader& reader, const ProjectId& project,
                                                const RunScope& scope) {
  std::vector<RunColumn> columns;
  if (!scope.is_all && scope.experiments.empty()) return columns;
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"metric", sql::kCountMetricKeys},
      {"param", sql::kCountParamKeys},
      {"tag", sql::kCountTagKeys}};
  for (const auto& [kind, select] : kKinds) {
    const std::size_t group = select.find("GROUP BY");
    Statement statement;
    statement.add(select.substr(0, group)).add("WHERE ");
    add_run_scope(statement, project, scope);
    statement.add(" AND r.is_deleted = 0 ").add(select.substr(group)).add(" ORDER BY t.key LIMIT ");
    statement.bind(kColumnsMax - static_cast<std::int64_t>(columns.size()));
    TAKT_ASSIGN(const auto rows, statement.run(reader));
    for (const auto& row : rows)
      columns.push_back({std::string(kind), row.text(0), row.integer(1)});
  }
  return columns;
}

}  // namespace takt::track
