// SPDX-License-Identifier: Apache-2.0
#include "takt/track/run_store.h"

#include "takt/base/value.h"
#include "takt/track/experiment_store.h"
#include "takt/track/run_search_store.h"
#include "takt/track/sql.h"

namespace takt::track {
namespace {

constexpr std::string_view kDatasetContextTag = "mlflow.data.context";

std::string json_of_words(const Words& words) {
  Object object;
  for (const auto& [key, value] : words) object[key] = value;
  return dump_json(object);
}

}  // namespace

Result<Run> run_from_row(const store::Row& row) {
  Run run;
  run.id.value = row.text(0);
  run.experiment.value = std::to_string(row.integer(1));
  run.name = row.text(2);
  run.user.value = row.text(3);
  TAKT_ASSIGN(run.status, parse_run_status(row.text(4)));
  run.is_deleted = row.integer(5) != 0;
  run.start_ms = row.integer(6);
  run.end_ms = row.integer(7);
  run.artifact_uri = row.text(8);
  run.experiment_name = row.text(9);
  return run;
}

Result<bool> insert_run_row(store::Tx& tx, const ProjectId& project, const Run& run,
                            std::string_view idempotency_key) {
  TAKT_ASSIGN(const auto changed,
              tx.exec(sql::kInsertRun,
                      {run.id.value, project.value, experiment_number(run.experiment), run.name,
                       run.user.value, std::string(run_status_name(run.status)), run.start_ms,
                       run.artifact_uri, std::string(idempotency_key), tx.now_ms()}));
  return changed > 0;
}

Result<std::optional<Run>> find_run_row(store::Reader& reader, const ProjectId& project,
                                        const RunId& id) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindRun, {project.value, id.value}));
  if (!row) return std::nullopt;
  TAKT_ASSIGN(Run run, run_from_row(*row));
  return run;
}

Result<std::optional<bool>> is_run_deleted(store::Reader& reader, const ProjectId& project,
                                           const RunId& id) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kIsRunDeleted, {project.value, id.value}));
  return row.transform([](const store::Row& found) { return found.integer(0) != 0; });
}

Result<std::optional<Run>> find_run(store::Reader& reader, const ProjectId& project,
                                    const RunId& id) {
  TAKT_ASSIGN(auto run, find_run_row(reader, project, id));
  if (!run) return std::nullopt;
  std::vector<Run> runs{std::move(*run)};
  TAKT_RETURN_IF_ERROR(load_run_data(reader, runs, {}));
  TAKT_RETURN_IF_ERROR(load_run_inputs(reader, runs));
  return std::move(runs.front());
}

Result<std::optional<RunId>> find_run_by_idempotency_key(store::Reader& reader,
                                                         const ProjectId& project,
                                                         std::string_view key) {
  TAKT_ASSIGN(const auto row,
              reader.find(sql::kFindRunByIdempotencyKey, {project.value, std::string(key)}));
  if (!row) return std::nullopt;
  return RunId{row->text(0)};
}

Result<std::vector<RunId>> runs_by_tag(store::Reader& reader, const ProjectId& project,
                                       std::string_view key, std::string_view value) {
  TAKT_ASSIGN(const auto rows,
              reader.query(sql::kRunsByTag, {project.value, std::string(key), std::string(value)}));
  std::vector<RunId> runs;
  for (const auto& row : rows) runs.push_back(RunId{row.text(0)});
  return runs;
}

Status store_run_row(store::Tx& tx, const ProjectId& project, const Run& run) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kUpdateRun, {project.value, run.id.value, run.name,
                                std::string(run_status_name(run.status)), run.end_ms}));
  return {};
}

Status mark_run(store::Tx& tx, const ProjectId& project, const RunId& id, bool is_deleted) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kMarkRun, {project.value, id.value, std::int64_t{is_deleted ? 1 : 0}}));
  return {};
}

Result<std::optional<std::string>> store_param(store::Tx& tx, const RunId& id, std::string_view key,
                                               std::string_view value) {
  TAKT_ASSIGN(const auto changed,
              tx.exec(sql::kInsertParam, {id.value, std::string(key), std::string(value)}));
  if (changed > 0) return std::nullopt;
  TAKT_ASSIGN(const auto row, tx.find(sql::kFindParam, {id.value, std::string(key)}));
  if (!row || row->text(0) == value) return std::nullopt;
  return row->text(0);
}

Status store_tag(store::Tx& tx, const RunId& id, std::string_view key, std::string_view value) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kSetTag, {id.value, std::string(key), std::string(value)}));
  return {};
}

Result<bool> remove_tag(store::Tx& tx, const RunId& id, std::string_view key) {
  TAKT_ASSIGN(const auto changed, tx.exec(sql::kDeleteTag, {id.value, std::string(key)}));
  return changed > 0;
}

Result<std::optional<std::string>> find_tag(store::Reader& reader, const RunId& id,
                                            std::string_view key) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindTag, {id.value, std::string(key)}));
  if (!row) return std::nullopt;
  return row->text(0);
}

Status store_input(store::Tx& tx, const RunId& id, const RunInput& input) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kInsertInput,
              {id.value, input.name, input.digest, input.source_type, input.source, input.schema,
               input.profile, word_of(input.tags, kDatasetContextTag), json_of_words(input.tags)}));
  return {};
}

Status store_run_model(store::Tx& tx, const RunId& id, bool is_output, const ModelLink& link) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kInsertRunModel,
              {id.value, std::string(is_output ? "out" : "in"), link.model, link.step}));
  return {};
}

Result<RunCounts> count_runs(store::Reader& reader, const ProjectId& project, UnixMs since_ms) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kCountRuns, {project.value, since_ms}));
  return RunCounts{row->integer(0), row->integer(1), row->integer(2), row->integer(3)};
}

Result<std::vector<RunId>> running_runs(store::Reader& reader, const ProjectId& project) {
  TAKT_ASSIGN(const auto rows, reader.query(sql::kRunningRuns, {project.value}));
  std::vector<RunId> runs;
  for (const auto& row : rows) runs.push_back(RunId{row.text(0)});
  return runs;
}

}  // namespace takt::track
