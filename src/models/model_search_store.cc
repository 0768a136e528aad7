// SPDX-License-Identifier: Apache-2.0
#include "takt/models/model_search_store.h"

#include <algorithm>
#include <map>

#include "takt/models/model_store.h"
#include "takt/models/sql.h"
#include "takt/track/filter_sql.h"

namespace takt::models {
namespace {

using track::SearchTables;
using track::SortKind;
using track::Statement;

constexpr std::size_t kRowsPerQuery = 200;
// What is no prompt does not say so; clients ask for it all the same.
constexpr std::string_view kPromptTag = "mlflow.prompt.is_prompt";

const SearchTables& model_tables() {
  static const SearchTables tables{
      .select = "r.name, r.description, r.created_ms, r.updated_ms",
      .selected = 4,
      .from = "registered_models r",
      .columns = {{"name", "r.name"},
                  {"creation_timestamp", "r.created_ms", SortKind::kWhole},
                  {"last_updated_timestamp", "r.updated_ms", SortKind::kWhole}},
      .params = {},
      .tags = {"model_tags", "$.project = r.project AND $.model = r.name"},
      .metrics = {},
      .ties = {{"r.name", SortKind::kText, false}},
      .assumed_tag = kPromptTag,
      .assumed_value = "false"};
  return tables;
}

const SearchTables& version_tables() {
  static const SearchTables tables{
      .select =
          "r.model, r.number, r.tree, r.files, r.size_bytes, r.source, r.storage, r.run, "
          "r.logged_model, r.run_link, r.description, r.stage, r.metrics, r.created_by, "
          "r.created_ms, r.updated_ms",
      .selected = 16,
      .from = "model_versions r",
      .columns = {{"name", "r.model"},
                  {"version_number", "r.number", SortKind::kWhole},
                  {"run_id", "r.run", SortKind::kText, "r.run = ''"},
                  {"source_path", "r.source"},
                  {"current_stage", "r.stage"},
                  {"user_id", "r.created_by"},
                  {"creation_timestamp", "r.created_ms", SortKind::kWhole},
                  {"last_updated_timestamp", "r.updated_ms", SortKind::kWhole}},
      .params = {},
      .tags = {"model_version_tags",
               "$.project = r.project AND $.model = r.model AND $.number = r.number"},
      .metrics = {},
      .ties = {{"r.updated_ms", SortKind::kWhole, true},
               {"r.model", SortKind::kText, false},
               {"r.number", SortKind::kWhole, true}},
      .assumed_tag = kPromptTag,
      .assumed_value = "false"};
  return tables;
}

track::SqlSearch sql_search(const SearchTables& tables, const ProjectId& project,
                            const RegistrySearch& search, std::string scope) {
  const auto where = [&project](Statement& out) {
    out.add("r.project = ").bind(project.value).add(" AND r.removed_ms = 0");
  };
  return {tables, search.filter, search.order, where, std::move(scope)};
}

/// Calls `load` with up to 200 of the things at a time.
template <class T, class Load>
Status in_parts(std::vector<T>& things, const Load& load) {
  for (std::size_t from = 0; from < things.size(); from += kRowsPerQuery)
    TAKT_RETURN_IF_ERROR(
        load(std::span<T>(things).subspan(from, std::min(kRowsPerQuery, things.size() - from))));
  return {};
}

/// `WHERE project = ? AND (model, number) IN (VALUES (?, ?), …)`
Result<store::Rows> rows_of_versions(store::Reader& reader, std::string_view select,
                                     const ProjectId& project,
                                     std::span<const ModelVersion> versions) {
  Statement statement;
  statement.add(select).add(" WHERE project = ").bind(project.value);
  for (std::size_t i = 0; i < versions.size(); ++i)
    statement.add(i == 0 ? " AND (model, number) IN (VALUES (" : ", (")
        .bind(versions[i].id.name)
        .add(", ")
        .bind(versions[i].id.number)
        .add(")");
  return statement.add(")").run(reader);
}

using VersionPlaces = std::map<std::pair<std::string, std::int64_t>, ModelVersion*>;

Status load_version_words(store::Reader& reader, const ProjectId& project,
                          std::vector<ModelVersion>& versions) {
  return in_parts(versions, [&](std::span<ModelVersion> part) -> Status {
    VersionPlaces places;
    for (ModelVersion& version : part) places[{version.id.name, version.id.number}] = &version;
    TAKT_ASSIGN(const auto tags, rows_of_versions(reader, sql::kSelectVersionTags, project, part));
    for (const auto& row : tags)
      places.at({row.text(0), row.integer(1)})->tags[row.text(2)] = row.text(3);
    TAKT_ASSIGN(const auto aliases, rows_of_versions(reader, sql::kSelectAliases, project, part));
    for (const auto& row : aliases)
      places.at({row.text(0), row.integer(1)})->aliases.push_back(row.text(2));
    for (ModelVersion& version : part) std::ranges::sort(version.aliases);
    return {};
  });
}

using ModelPlaces = std::map<std::string, FoundModel*>;

/// Rows whose model is one of these; `more` ends the statement.
Result<store::Rows> rows_of_models(store::Reader& reader, std::string_view select,
                                   const ProjectId& project, const ModelPlaces& models,
                                   std::string_view more = {}) {
  std::vector<std::string> names;
  for (const auto& [name, place] : models) names.push_back(name);
  Statement statement;
  statement.add(select).add(" WHERE project = ").bind(project.value).add(" AND model IN ");
  return statement.bind_list(names).add(more).run(reader);
}

/// The newest version of each stage.
Status load_latest(store::Reader& reader, const ProjectId& project, const ModelPlaces& models) {
  const std::size_t group = sql::kSelectNewestOfStages.find("GROUP BY");
  const std::string more =
      " AND removed_ms = 0 " + std::string(sql::kSelectNewestOfStages.substr(group));
  TAKT_ASSIGN(const auto newest, rows_of_models(reader, sql::kSelectNewestOfStages.substr(0, group),
                                                project, models, more));
  if (newest.empty()) return {};
  std::vector<ModelVersion> versions(newest.size());
  for (std::size_t i = 0; i < newest.size(); ++i)
    versions[i].id = ModelVersionId{{newest[i].text(0), newest[i].integer(1)}};
  std::vector<ModelVersion> whole;
  TAKT_RETURN_IF_ERROR(in_parts(versions, [&](std::span<ModelVersion> part) -> Status {
    TAKT_ASSIGN(const auto rows, rows_of_versions(reader, sql::kSelectVersions, project, part));
    for (const auto& row : rows) {
      TAKT_ASSIGN(ModelVersion version, version_from_row(row));
      whole.push_back(std::move(version));
    }
    return {};
  }));
  TAKT_RETURN_IF_ERROR(load_version_words(reader, project, whole));
  std::ranges::sort(whole, std::ranges::greater{}, [](const auto& v) { return v.id.number; });
  for (ModelVersion& version : whole)
    models.at(version.id.name)->latest_of_stages.push_back(std::move(version));
  return {};
}

Status load_models_data(store::Reader& reader, const ProjectId& project,
                        std::vector<FoundModel>& models) {
  return in_parts(models, [&](std::span<FoundModel> part) -> Status {
    ModelPlaces places;
    for (FoundModel& found : part) places[found.model.name] = &found;
    TAKT_ASSIGN(const auto tags, rows_of_models(reader, sql::kSelectModelTags, project, places));
    for (const auto& row : tags) places.at(row.text(0))->model.tags[row.text(1)] = row.text(2);
    TAKT_ASSIGN(const auto aliases, rows_of_models(reader, sql::kSelectAliases, project, places));
    for (const auto& row : aliases)
      places.at(row.text(0))->model.aliases[row.text(2)] = row.integer(1);
    return load_latest(reader, project, places);
  });
}

}  // namespace

Result<ModelPage> search_models(store::Reader& reader, const ProjectId& project,
                                const RegistrySearch& search) {
  const auto asked = sql_search(model_tables(), project, search, "models");
  TAKT_ASSIGN(track::SqlPage found,
              track::find_page(reader, asked, search.limit, search.page_token));
  ModelPage page;
  page.next_page_token = std::move(found.next_page_token);
  for (const auto& row : found.rows)
    page.models.push_back(
        {{row.text(0), row.text(1), {}, {}, 0, row.integer(2), row.integer(3), 0}, {}});
  TAKT_RETURN_IF_ERROR(load_models_data(reader, project, page.models));
  if (search.counts) {
    TAKT_ASSIGN(page.total, track::count_found(reader, asked));
  }
  return page;
}

Result<VersionPage> search_versions(store::Reader& reader, const ProjectId& project,
                                    const RegistrySearch& search) {
  const auto asked = sql_search(version_tables(), project, search, "versions");
  TAKT_ASSIGN(track::SqlPage found,
              track::find_page(reader, asked, search.limit, search.page_token));
  VersionPage page;
  page.next_page_token = std::move(found.next_page_token);
  for (const auto& row : found.rows) {
    TAKT_ASSIGN(ModelVersion version, version_from_row(row));
    page.versions.push_back(std::move(version));
  }
  TAKT_RETURN_IF_ERROR(load_version_words(reader, project, page.versions));
  if (search.counts) {
    TAKT_ASSIGN(page.total, track::count_found(reader, asked));
  }
  return page;
}

}  // namespace takt::models
