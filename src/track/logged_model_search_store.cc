// SPDX-License-Identifier: Apache-2.0
#include "takt/track/logged_model_search_store.h"

#include <algorithm>

#include "takt/track/filter_sql.h"
#include "takt/track/logged_model_store.h"
#include "takt/track/metric_store.h"
#include "takt/track/sql.h"

namespace takt::track {
namespace {

constexpr std::size_t kModelsPerQuery = 500;

SearchTables logged_model_tables() {
  return {.select =
              "r.id, r.experiment, r.name, r.model_type, r.run, r.artifact_uri, r.status, "
              "r.status_message, r.creator, r.is_deleted, r.created_ms, r.updated_ms",
          .selected = 12,
          .from = "logged_models r",
          .columns = {{"name", "r.name"},
                      {"model_id", "r.id"},
                      {"model_type", "r.model_type", SortKind::kText, "r.model_type = ''"},
                      {"status",
                       "CASE r.status WHEN 'LOGGED_MODEL_READY' THEN 'READY' WHEN "
                       "'LOGGED_MODEL_PENDING' THEN 'PENDING' ELSE 'FAILED' END"},
                      {"source_run_id", "r.run", SortKind::kText, "r.run = ''"},
                      {"experiment_id", "r.experiment", SortKind::kWhole},
                      {"creation_timestamp", "r.created_ms", SortKind::kWhole},
                      {"last_updated_timestamp", "r.updated_ms", SortKind::kWhole}},
          .params = {"logged_model_words", "$.model = r.id AND $.kind = 'param'"},
          .tags = {"logged_model_words", "$.model = r.id AND $.kind = 'tag'"},
          .metrics = {"logged_model_metrics", "$.model = r.id"},
          .ties = {{"r.created_ms", SortKind::kWhole, true}, {"r.id", SortKind::kText, false}}};
}

/// (alias is on the first OR on the second …), with AND before; nothing for no dataset.
void add_datasets(Statement& out, std::string_view alias,
                  const std::vector<DatasetChoice>& datasets) {
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    out.add(i == 0 ? " AND ((" : " OR (").add(alias).add(".dataset_name = ").bind(datasets[i].name);
    if (!datasets[i].digest.empty())
      out.add(" AND ").add(alias).add(".dataset_digest = ").bind(datasets[i].digest);
    out.add(")");
  }
  if (!datasets.empty()) out.add(")");
}

/// Only the latest of the metric's rows: none of the others comes after it.
void add_latest(Statement& out, const std::string& alias, const DatasetChoice& dataset) {
  std::vector<DatasetChoice> datasets;
  if (!dataset.name.empty()) datasets.push_back(dataset);
  add_datasets(out, alias, datasets);
  const auto place = [](const std::string& of) {
    std::string sql;
    for (const char* column : {"timestamp_ms", "step", "run", "dataset_name", "dataset_digest"})
      sql += (sql.empty() ? "(" : ", ") + of + "." + column;
    return sql + ")";
  };
  out.add(
      " AND NOT EXISTS (SELECT 1 FROM logged_model_metrics b WHERE b.model = r.id AND b.key = ");
  out.add(alias).add(".key AND ").add(place("b")).add(" > ").add(place(alias));
  add_datasets(out, "b", datasets);
  out.add(")");
}

void add_model_scope(Statement& out, const ProjectId& project, const LoggedModelSearch& search) {
  add_run_scope(out, project, search.scope);
  out.add(" AND r.is_deleted = 0");
  if (search.datasets.empty()) return;
  out.add(" AND EXISTS (SELECT 1 FROM logged_model_metrics d WHERE d.model = r.id");
  add_datasets(out, "d", search.datasets);
  out.add(")");
}

std::string scope_text(const LoggedModelSearch& search) {
  std::string text = std::string("logged-models") + (search.scope.is_all ? "*" : "");
  for (const auto& id : search.scope.experiments) text += "," + id;
  for (const auto* list : {&search.datasets, &search.order_datasets}) {
    text += "\n;";
    for (const auto& dataset : *list) text += "\n" + dataset.name + "\n" + dataset.digest;
  }
  return text;
}

Status load_model_data(store::Reader& reader, std::vector<LoggedModel>& models) {
  std::map<std::string, LoggedModel*> places;
  for (LoggedModel& model : models) places[model.id] = &model;
  for (std::size_t from = 0; from < models.size(); from += kModelsPerQuery) {
    std::vector<std::string> ids;
    for (std::size_t i = from; i < std::min(models.size(), from + kModelsPerQuery); ++i)
      ids.push_back(models[i].id);
    Statement words;
    words.add(sql::kSelectModelWords).add(" WHERE model IN ").bind_list(ids);
    TAKT_ASSIGN(const auto word_rows, words.run(reader));
    for (const auto& row : word_rows) {
      LoggedModel& model = *places.at(row.text(0));
      (row.text(1) == "tag" ? model.tags : model.params)[row.text(2)] = row.text(3);
    }
    Statement metrics;
    metrics.add(sql::kSelectModelMetrics).add(" WHERE model IN ").bind_list(ids);
    metrics.add(" ORDER BY model, key, run, dataset_name");
    TAKT_ASSIGN(const auto metric_rows, metrics.run(reader));
    for (const auto& row : metric_rows)
      places.at(row.text(0))
          ->metrics.push_back(
              {row.text(1), RunId{row.text(2)}, row.text(3), row.text(4),
               Point{row.integer(5), row.integer(6), value_from(row.integer(7), row.real(8))}});
  }
  return {};
}

}  // namespace

Result<LoggedModelPage> search_logged_models(store::Reader& reader, const ProjectId& project,
                                             const LoggedModelSearch& search) {
  LoggedModelPage page;
  if (!search.scope.is_all && search.scope.experiments.empty()) {
    page.total = search.counts ? 0 : -1;
    return page;
  }
  SearchTables tables = logged_model_tables();
  tables.on_metrics = [&](Statement& out, std::string_view alias, const std::size_t* term) {
    if (term == nullptr)
      add_datasets(out, alias, search.datasets);
    else
      add_latest(
          out, std::string(alias),
          *term < search.order_datasets.size() ? search.order_datasets[*term] : DatasetChoice{});
  };
  const auto where = [&](Statement& out) { add_model_scope(out, project, search); };
  const SqlSearch asked{tables, search.filter, search.order, where, scope_text(search)};
  TAKT_ASSIGN(SqlPage found, find_page(reader, asked, search.limit, search.page_token));
  page.next_page_token = std::move(found.next_page_token);
  for (const auto& row : found.rows) page.models.push_back(logged_model_from_row(row));
  TAKT_RETURN_IF_ERROR(load_model_data(reader, page.models));
  if (search.counts) {
    TAKT_ASSIGN(page.total, count_found(reader, asked));
  }
  return page;
}

}  // namespace takt::track
