// SPDX-License-Identifier: Apache-2.0
#include "takt/data/dataset_store.h"

#include "takt/data/sql.h"

namespace takt::data {
namespace {

Result<Value> json_or_null(const std::string& text) {
  if (text.empty()) return Value();
  return parse_json(text);
}

Result<DatasetVersion> version_from(const store::Row& row) {
  DatasetVersion version;
  version.id.name = row.text(0);
  version.id.number = row.integer(1);
  version.tree.value = row.text(2);
  version.files = row.integer(3);
  version.bytes = row.integer(4);
  version.rows = row.integer(5);
  TAKT_ASSIGN(version.profile, json_or_null(row.text(6)));
  TAKT_ASSIGN(version.checks, json_or_null(row.text(7)));
  version.note = row.text(8);
  version.created_by.value = row.text(9);
  version.created_ms = row.integer(10);
  if (!row.text(11).empty()) {
    TAKT_ASSIGN(version.made_by, parse_ref(row.text(11)));
  }
  return version;
}

store::Params key_of(const ProjectId& project, const DatasetVersionId& id) {
  return {project.value, id.name, id.number};
}

}  // namespace

Result<DatasetVersion> insert_version(store::Tx& tx, const ProjectId& project,
                                      DatasetVersion version) {
  TAKT_ASSIGN(const auto numbered,
              tx.find(sql::kUpsertDataset, {project.value, version.id.name, tx.now_ms()}));
  version.id.number = numbered->integer(0);
  version.created_ms = tx.now_ms();
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kInsertVersion,
              {project.value, version.id.name, version.id.number, version.tree.value, version.files,
               version.bytes, version.rows,
               version.profile.is_null() ? std::string() : dump_json(version.profile), version.note,
               version.created_by.value, version.created_ms,
               version.made_by.kind.empty() ? std::string() : version.made_by.text()}));
  return version;
}

Result<std::optional<DatasetVersion>> find_version_by_tree(store::Reader& reader,
                                                           const ProjectId& project,
                                                           std::string_view name,
                                                           const Digest& tree) {
  TAKT_ASSIGN(const auto row,
              reader.find(sql::kFindVersionByTree, {project.value, std::string(name), tree.value}));
  if (!row) return std::nullopt;
  TAKT_ASSIGN(DatasetVersion version, version_from(*row));
  return version;
}

Result<DatasetVersion> load_version(store::Reader& reader, const ProjectId& project,
                                    const DatasetVersionId& id) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindVersion, key_of(project, id)));
  if (!row) return fail(Code::kNotFound, "no dataset version " + id.text());
  if (row->integer(12) != 0)
    return fail(Code::kNotFound, id.text() + " was removed by " + row->text(13) + " at " +
                                     format_time(row->integer(12)));
  return version_from(*row);
}

Result<std::vector<DatasetVersion>> load_versions(store::Reader& reader, const ProjectId& project,
                                                  std::string_view name) {
  TAKT_ASSIGN(const store::Rows rows,
              reader.query(sql::kListVersions, {project.value, std::string(name)}));
  std::vector<DatasetVersion> versions;
  for (const auto& row : rows) {
    TAKT_ASSIGN(DatasetVersion version, version_from(row));
    versions.push_back(std::move(version));
  }
  return versions;
}

Result<std::vector<Dataset>> load_datasets(store::Reader& reader, const ProjectId& project,
                                           std::string_view name) {
  TAKT_ASSIGN(const store::Rows rows,
              reader.query(sql::kListDatasets, {project.value, std::string(name)}));
  std::vector<Dataset> datasets;
  for (const auto& row : rows)
    datasets.push_back(
        {row.text(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4)});
  return datasets;
}

Status mark_removed(store::Tx& tx, const ProjectId& project, const DatasetVersionId& id,
                    const UserId& by) {
  TAKT_ASSIGN(
      const std::int64_t changed,
      tx.exec(sql::kMarkRemoved, {project.value, id.name, id.number, tx.now_ms(), by.value}));
  if (changed == 0) return fail(Code::kNotFound, "no dataset version " + id.text());
  return {};
}

Status store_checks(store::Tx& tx, const ProjectId& project, const DatasetVersionId& id,
                    const Value& report) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kSaveChecks, {project.value, id.name, id.number, dump_json(report)}));
  return {};
}

Result<std::int64_t> count_versions_since(store::Reader& reader, const ProjectId& project,
                                          UnixMs since_ms) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kCountVersionsSince, {project.value, since_ms}));
  return row->integer(0);
}

}  // namespace takt::data
