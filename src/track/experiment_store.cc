// SPDX-License-Identifier: Apache-2.0
#include "takt/track/experiment_store.h"

#include <charconv>

#include "takt/track/sql.h"

namespace takt::track {
namespace {

Result<std::optional<Experiment>> with_tags(store::Reader& reader, const ProjectId& project,
                                            const std::optional<store::Row>& row) {
  if (!row) return std::nullopt;
  Experiment experiment = experiment_from_row(*row);
  TAKT_ASSIGN(const auto tags,
              reader.query(sql::kExperimentTags, {project.value, row->integer(0)}));
  for (const auto& tag : tags) experiment.tags[tag.text(1)] = tag.text(2);
  return experiment;
}

}  // namespace

Experiment experiment_from_row(const store::Row& row) {
  Experiment experiment;
  experiment.id.value = std::to_string(row.integer(0));
  experiment.name = row.text(1);
  experiment.artifact_location = row.text(2);
  experiment.is_deleted = row.integer(3) != 0;
  experiment.created_ms = row.integer(4);
  experiment.updated_ms = row.integer(5);
  return experiment;
}

std::int64_t experiment_number(const ExperimentId& id) {
  std::int64_t number = -1;
  const std::string& text = id.value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return -1;
  return number;
}

Result<std::optional<Experiment>> insert_experiment(store::Tx& tx, const ProjectId& project,
                                                    const Experiment& experiment) {
  TAKT_ASSIGN(const auto taken, find_experiment_by_name(tx, project, experiment.name));
  if (taken) return std::nullopt;
  TAKT_ASSIGN(const std::int64_t number, tx.next_number("experiments"));
  Experiment made = experiment;
  made.id.value = std::to_string(number);
  if (made.artifact_location.empty()) made.artifact_location = "mlflow-artifacts:/" + made.id.value;
  made.created_ms = made.updated_ms = tx.now_ms();
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertExperiment, {number, project.value, made.name,
                                                        made.artifact_location, made.created_ms}));
  for (const auto& [key, value] : made.tags)
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kSetExperimentTag, {number, key, value}));
  return made;
}

Result<std::optional<Experiment>> find_experiment(store::Reader& reader, const ProjectId& project,
                                                  const ExperimentId& id) {
  const std::int64_t number = experiment_number(id);
  if (number < 0) return std::nullopt;
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindExperiment, {project.value, number}));
  return with_tags(reader, project, row);
}

Result<std::optional<Experiment>> find_experiment_by_name(store::Reader& reader,
                                                          const ProjectId& project,
                                                          std::string_view name) {
  TAKT_ASSIGN(const auto row,
              reader.find(sql::kFindExperimentByName, {project.value, std::string(name)}));
  return with_tags(reader, project, row);
}

Result<std::vector<Experiment>> load_experiments(store::Reader& reader, const ProjectId& project) {
  TAKT_ASSIGN(const auto rows, reader.query(sql::kListExperiments, {project.value}));
  std::vector<Experiment> experiments;
  std::map<std::int64_t, std::size_t> places;
  for (const auto& row : rows) {
    places[row.integer(0)] = experiments.size();
    experiments.push_back(experiment_from_row(row));
  }
  TAKT_ASSIGN(const auto tags,
              reader.query(sql::kExperimentTags, {project.value, std::int64_t{-1}}));
  for (const auto& tag : tags)
    if (const auto place = places.find(tag.integer(0)); place != places.end())
      experiments[place->second].tags[tag.text(1)] = tag.text(2);
  return experiments;
}

Result<std::map<std::string, ExperimentCounts>> count_runs_by_experiment(store::Reader& reader,
                                                                         const ProjectId& project,
                                                                         const ExperimentId& only) {
  TAKT_ASSIGN(const auto rows, only.empty()
                                   ? reader.query(sql::kCountRunsByExperiment, {project.value})
                                   : reader.query(sql::kCountRunsOfExperiment,
                                                  {project.value, experiment_number(only)}));
  std::map<std::string, ExperimentCounts> counts;
  for (const auto& row : rows)
    counts[std::to_string(row.integer(0))] = {row.integer(1), row.integer(2), row.integer(3)};
  return counts;
}

Status store_experiment_name(store::Tx& tx, const ProjectId& project, const ExperimentId& id,
                             std::string_view name) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kRenameExperiment, {project.value, experiment_number(id),
                                                        std::string(name), tx.now_ms()}));
  return {};
}

Status mark_experiment(store::Tx& tx, const ProjectId& project, const ExperimentId& id,
                       bool is_deleted) {
  const std::int64_t number = experiment_number(id);
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kMarkExperiment,
              {project.value, number, std::int64_t{is_deleted ? 1 : 0}, tx.now_ms()}));
  TAKT_RETURN_IF_ERROR(
      tx.exec(is_deleted ? sql::kDeleteRunsOfExperiment : sql::kRestoreRunsOfExperiment,
              {project.value, number}));
  return {};
}

Status store_experiment_tag(store::Tx& tx, const ExperimentId& id, std::string_view key,
                            std::string_view value) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kSetExperimentTag,
                               {experiment_number(id), std::string(key), std::string(value)}));
  return {};
}

Result<bool> remove_experiment_tag(store::Tx& tx, const ExperimentId& id, std::string_view key) {
  TAKT_ASSIGN(const auto changed,
              tx.exec(sql::kDeleteExperimentTag, {experiment_number(id), std::string(key)}));
  return changed > 0;
}

}  // namespace takt::track
