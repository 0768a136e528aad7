// SPDX-License-Identifier: Apache-2.0
#include "takt/models/model_store.h"

#include <algorithm>

#include "takt/models/rule.h"
#include "takt/models/sql.h"

namespace takt::models {
namespace {

store::Params named(const ProjectId& project, std::string_view name) {
  return {project.value, std::string(name)};
}

store::Params numbered(const ProjectId& project, const ModelVersionId& id) {
  return {project.value, id.name, id.number};
}

Result<std::map<std::string, double>> metrics_from(const std::string& text) {
  TAKT_ASSIGN(const Value value, parse_json(text));
  std::map<std::string, double> metrics;
  if (value.is_object())
    for (const auto& [key, number] : value.as_object())
      if (number.is_number()) metrics[key] = number.as_number();
  return metrics;
}

std::string metrics_text(const std::map<std::string, double>& metrics) {
  Object object;
  for (const auto& [key, value] : metrics) object[key] = value;
  return dump_json(object);
}

template <class Key>
using ByVersion = std::map<std::pair<std::string, std::int64_t>, Key>;

}  // namespace

Result<ModelVersion> version_from_row(const store::Row& row) {
  ModelVersion version;
  version.id.name = row.text(0);
  version.id.number = row.integer(1);
  version.tree.value = row.text(2);
  version.files = row.integer(3);
  version.bytes = row.integer(4);
  version.source = row.text(5);
  version.storage = row.text(6);
  version.run.value = row.text(7);
  version.logged_model = row.text(8);
  version.run_link = row.text(9);
  version.description = row.text(10);
  version.stage = row.text(11);
  TAKT_ASSIGN(version.metrics, metrics_from(row.text(12)));
  version.created_by.value = row.text(13);
  version.created_ms = row.integer(14);
  version.updated_ms = row.integer(15);
  return version;
}

Result<bool> insert_model(store::Tx& tx, const ProjectId& project, std::string_view name,
                          std::string_view description) {
  TAKT_ASSIGN(const auto changed,
              tx.exec(sql::kUpsertModel,
                      {project.value, std::string(name), std::string(description), tx.now_ms()}));
  return changed > 0;
}

Result<std::vector<Model>> load_models(store::Reader& reader, const ProjectId& project,
                                       std::string_view name) {
  std::vector<Model> models;
  std::map<std::string, std::size_t, std::less<>> places;
  TAKT_ASSIGN(const auto rows, name.empty() ? reader.query(sql::kListModels, {project.value})
                                            : reader.query(sql::kFindModel, named(project, name)));
  for (const auto& row : rows) {
    places[row.text(0)] = models.size();
    models.push_back({row.text(0), row.text(1), {}, {}, 0, row.integer(2), row.integer(3), 0});
  }
  const auto of = [&](const store::Row& row) {
    const auto found = places.find(row.text(0));
    return found == places.end() ? nullptr : &models[found->second];
  };
  TAKT_ASSIGN(const auto tags, reader.query(sql::kListTags, named(project, name)));
  for (const auto& row : tags)
    if (Model* model = of(row)) model->tags[row.text(1)] = row.text(2);
  TAKT_ASSIGN(const auto aliases, reader.query(sql::kListAliases, named(project, name)));
  for (const auto& row : aliases)
    if (Model* model = of(row)) model->aliases[row.text(1)] = row.integer(2);
  TAKT_ASSIGN(const auto versions, reader.query(sql::kListVersions, named(project, name)));
  for (const auto& row : versions) {
    Model* model = of(row);
    if (model == nullptr) continue;
    model->latest = std::max(model->latest, row.integer(1));
    ++model->versions;
  }
  return models;
}

Result<Model> load_model(store::Reader& reader, const ProjectId& project, std::string_view name) {
  if (!name.empty()) {
    TAKT_ASSIGN(auto models, load_models(reader, project, name));
    if (!models.empty()) return std::move(models.front());
  }
  return fail(Code::kNotFound, "Registered Model with name=" + std::string(name) + " not found");
}

Result<bool> is_name_used(store::Reader& reader, const ProjectId& project, std::string_view name) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindAnyModel, named(project, name)));
  return row.has_value();
}

Status store_model_description(store::Tx& tx, const ProjectId& project, std::string_view name,
                               std::string_view description) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kUpdateModel, {project.value, std::string(name),
                                                   std::string(description), tx.now_ms()}));
  return {};
}

Status store_model_name(store::Tx& tx, const ProjectId& project, std::string_view name,
                        std::string_view new_name) {
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kRenameModel, {project.value, std::string(name), std::string(new_name), tx.now_ms()}));
  for (const std::string_view statement :
       {sql::kRenameVersions, sql::kRenameTags, sql::kRenameVersionTags, sql::kRenameAliases,
        sql::kRenameRules, sql::kRenameApprovals, sql::kRenameAliasMoves, sql::kRenameMeasurements,
        sql::kRenameReports})
    TAKT_RETURN_IF_ERROR(
        tx.exec(statement, {project.value, std::string(name), std::string(new_name)}));
  return {};
}

Status mark_model_removed(store::Tx& tx, const ProjectId& project, std::string_view name) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kRemoveModel, {project.value, std::string(name), tx.now_ms()}));
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kRemoveVersions, {project.value, std::string(name), tx.now_ms()}));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kDeleteTags, named(project, name)));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kDeleteAliases, named(project, name)));
  return {};
}

Status store_model_tag(store::Tx& tx, const ProjectId& project, std::string_view name,
                       std::string_view key, std::string_view value) {
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kSetTag, {project.value, std::string(name), std::string(key), std::string(value)}));
  return {};
}

Status remove_model_tag(store::Tx& tx, const ProjectId& project, std::string_view name,
                        std::string_view key) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kDeleteTag, {project.value, std::string(name), std::string(key)}));
  return {};
}

Result<ModelVersion> insert_version(store::Tx& tx, const ProjectId& project, ModelVersion version,
                                    std::string_view owner) {
  TAKT_ASSIGN(const auto number,
              tx.find(sql::kNextVersionNumber, {project.value, version.id.name, tx.now_ms()}));
  if (!number)
    return fail(Code::kNotFound, "Registered Model with name=" + version.id.name + " not found");
  version.id.number = number->integer(0);
  version.created_ms = version.updated_ms = tx.now_ms();
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kInsertVersion,
      {project.value, version.id.name, version.id.number, version.tree.value, version.files,
       version.bytes, version.source, version.storage, version.run.value, version.logged_model,
       version.run_link, version.description, metrics_text(version.metrics), std::string(owner),
       version.created_by.value, version.created_ms}));
  for (const auto& [key, value] : version.tags)
    TAKT_RETURN_IF_ERROR(store_version_tag(tx, project, version.id, key, value));
  return version;
}

Result<std::vector<ModelVersion>> load_versions(store::Reader& reader, const ProjectId& project,
                                                std::string_view name) {
  std::vector<ModelVersion> versions;
  ByVersion<std::size_t> places;
  TAKT_ASSIGN(const auto rows, reader.query(sql::kListVersions, named(project, name)));
  for (const auto& row : rows) {
    TAKT_ASSIGN(ModelVersion version, version_from_row(row));
    places[{version.id.name, version.id.number}] = versions.size();
    versions.push_back(std::move(version));
  }
  TAKT_ASSIGN(const auto tags, reader.query(sql::kListVersionTags, named(project, name)));
  for (const auto& row : tags)
    if (const auto place = places.find({row.text(0), row.integer(1)}); place != places.end())
      versions[place->second].tags[row.text(2)] = row.text(3);
  TAKT_ASSIGN(const auto aliases, reader.query(sql::kListAliases, named(project, name)));
  for (const auto& row : aliases)
    if (const auto place = places.find({row.text(0), row.integer(2)}); place != places.end())
      versions[place->second].aliases.push_back(row.text(1));
  TAKT_ASSIGN(const auto scans,
              reader.query(sql::kListReportsOfKind,
                           {project.value, std::string(name), std::string(kCodeReport)}));
  for (const auto& row : scans) {
    const auto place = places.find({row.text(0), row.integer(1)});
    if (place == places.end()) continue;
    TAKT_ASSIGN(const Value report, parse_json(row.text(2)));
    ModelVersion& version = versions[place->second];
    version.code_verdict = report.text_or("verdict", "");
    if (const Value& globals = report["globals"]; globals.is_array())
      for (const Value& global : globals.as_array())
        if (global.is_string()) version.code_globals.push_back(global.as_string());
  }
  return versions;
}

Result<ModelVersion> load_version(store::Reader& reader, const ProjectId& project,
                                  const ModelVersionId& id) {
  if (!id.name.empty()) {
    TAKT_ASSIGN(const auto versions, load_versions(reader, project, id.name));
    for (const ModelVersion& version : versions)
      if (version.id.number == id.number) return version;
  }
  return fail(Code::kNotFound, "Model Version (name=" + id.name +
                                   ", version=" + std::to_string(id.number) + ") not found");
}

Result<std::optional<ModelVersionId>> find_version_by_tree(store::Reader& reader,
                                                           const ProjectId& project,
                                                           std::string_view name,
                                                           const Digest& tree) {
  TAKT_ASSIGN(const auto row,
              reader.find(sql::kFindVersionByTree, {project.value, std::string(name), tree.value}));
  if (!row) return std::nullopt;
  return ModelVersionId{{std::string(name), row->integer(0)}};
}

Result<std::optional<ModelVersionId>> find_version_by_owner(store::Reader& reader,
                                                            const ProjectId& project,
                                                            std::string_view owner) {
  TAKT_ASSIGN(const auto row,
              reader.find(sql::kFindVersionByOwner, {project.value, std::string(owner)}));
  if (!row) return std::nullopt;
  return ModelVersionId{{row->text(0), row->integer(1)}};
}

Status store_version(store::Tx& tx, const ProjectId& project, const ModelVersion& version) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kUpdateVersion, {project.value, version.id.name, version.id.number,
                                    version.description, version.stage, tx.now_ms()}));
  return {};
}

Status mark_version_removed(store::Tx& tx, const ProjectId& project, const ModelVersionId& id) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kRemoveVersion, {project.value, id.name, id.number, tx.now_ms()}));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kDeleteAliasesOfVersion, numbered(project, id)));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kTouchModel, {project.value, id.name, tx.now_ms()}));
  return {};
}

Status store_version_tag(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                         std::string_view key, std::string_view value) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kSetVersionTag, {project.value, id.name, id.number,
                                                     std::string(key), std::string(value)}));
  return {};
}

Status remove_version_tag(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                          std::string_view key) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kDeleteVersionTag, {project.value, id.name, id.number, std::string(key)}));
  return {};
}

Status store_alias(store::Tx& tx, const ProjectId& project, std::string_view name,
                   std::string_view alias, std::int64_t number) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kSetAlias, {project.value, std::string(name), std::string(alias), number}));
  return {};
}

Result<bool> remove_alias(store::Tx& tx, const ProjectId& project, std::string_view name,
                          std::string_view alias) {
  TAKT_ASSIGN(const auto changed,
              tx.exec(sql::kDeleteAlias, {project.value, std::string(name), std::string(alias)}));
  return changed > 0;
}

Result<ModelRegistry::Counts> count_versions(store::Reader& reader, const ProjectId& project,
                                             UnixMs since_ms) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kCountVersions, {project.value, since_ms}));
  return ModelRegistry::Counts{row->integer(0), row->integer(1)};
}

}  // namespace takt::models
