// SPDX-License-Identifier: Apache-2.0
#include "takt/track/logged_model_store.h"

#include "takt/track/experiment_store.h"
#include "takt/track/metric_store.h"
#include "takt/track/sql.h"

namespace takt::track {
namespace {

Result<LoggedModel> logged_model_from(store::Reader& reader, const store::Row& row) {
  LoggedModel model = logged_model_from_row(row);
  TAKT_ASSIGN(const auto words, reader.query(sql::kModelWords, {model.id}));
  for (const auto& word : words)
    (word.text(0) == "tag" ? model.tags : model.params)[word.text(1)] = word.text(2);
  TAKT_ASSIGN(const auto metrics, reader.query(sql::kModelMetrics, {model.id}));
  for (const auto& metric : metrics)
    model.metrics.push_back({metric.text(0), RunId{metric.text(1)}, metric.text(2), metric.text(3),
                             Point{metric.integer(4), metric.integer(5),
                                   value_from(metric.integer(6), metric.real(7))}});
  return model;
}

}  // namespace

LoggedModel logged_model_from_row(const store::Row& row) {
  LoggedModel model;
  model.id = row.text(0);
  model.experiment.value = std::to_string(row.integer(1));
  model.name = row.text(2);
  model.model_type = row.text(3);
  model.run.value = row.text(4);
  model.artifact_uri = row.text(5);
  model.status = row.text(6);
  model.status_message = row.text(7);
  model.creator.value = row.text(8);
  model.is_deleted = row.integer(9) != 0;
  model.created_ms = row.integer(10);
  model.updated_ms = row.integer(11);
  return model;
}

Status insert_logged_model(store::Tx& tx, const ProjectId& project, const LoggedModel& model) {
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kInsertLoggedModel,
      {model.id, project.value, experiment_number(model.experiment), model.name, model.model_type,
       model.run.value, model.artifact_uri, model.status, model.creator.value, tx.now_ms()}));
  for (const auto& [key, value] : model.params)
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertModelParam, {model.id, key, value}));
  for (const auto& [key, value] : model.tags)
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kSetModelTag, {model.id, key, value}));
  return {};
}

Result<std::optional<LoggedModel>> find_logged_model(store::Reader& reader,
                                                     const ProjectId& project,
                                                     std::string_view id) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindLoggedModel, {project.value, std::string(id)}));
  if (!row) return std::nullopt;
  TAKT_ASSIGN(LoggedModel model, logged_model_from(reader, *row));
  return model;
}

Result<std::optional<LoggedModel>> find_logged_model_of_run(store::Reader& reader,
                                                            const ProjectId& project,
                                                            const RunId& run,
                                                            std::string_view name) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindLoggedModelOfRun,
                                          {project.value, run.value, std::string(name)}));
  if (!row) return std::nullopt;
  TAKT_ASSIGN(LoggedModel model, logged_model_from(reader, *row));
  return model;
}

Status store_logged_model_status(store::Tx& tx, const ProjectId& project, std::string_view id,
                                 std::string_view status, std::string_view message) {
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kUpdateLoggedModel,
      {project.value, std::string(id), std::string(status), std::string(message), tx.now_ms()}));
  return {};
}

Status mark_logged_model_deleted(store::Tx& tx, const ProjectId& project, std::string_view id) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kMarkLoggedModelDeleted, {project.value, std::string(id), tx.now_ms()}));
  return {};
}

Result<std::optional<std::string>> store_logged_model_param(store::Tx& tx, std::string_view id,
                                                            std::string_view key,
                                                            std::string_view value) {
  TAKT_ASSIGN(const auto changed, tx.exec(sql::kInsertModelParam,
                                          {std::string(id), std::string(key), std::string(value)}));
  if (changed > 0) return std::nullopt;
  TAKT_ASSIGN(const auto row, tx.find(sql::kFindModelParam, {std::string(id), std::string(key)}));
  if (!row || row->text(0) == value) return std::nullopt;
  return row->text(0);
}

Status store_logged_model_tag(store::Tx& tx, std::string_view id, std::string_view key,
                              std::string_view value) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kSetModelTag, {std::string(id), std::string(key), std::string(value)}));
  return {};
}

Result<bool> remove_logged_model_tag(store::Tx& tx, std::string_view id, std::string_view key) {
  TAKT_ASSIGN(const auto changed,
              tx.exec(sql::kDeleteModelTag, {std::string(id), std::string(key)}));
  return changed > 0;
}

Status store_logged_model_metric(store::Tx& tx, const RunId& run, const Metric& metric) {
  const Point& point = metric.point;
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kSetModelMetric,
              {metric.model, metric.key, run.value, metric.dataset_name, metric.dataset_digest,
               point.timestamp_ms, point.step, nan_flag(point.value), stored_value(point.value)}));
  return {};
}

}  // namespace takt::track
