// SPDX-License-Identifier: Apache-2.0
// A difference of runs as the API shows it.
#include "takt/track/mlflow_request.h"
#include "takt/track/run_diff.h"

namespace takt::track {
namespace {

Value side_of(const Run& run) {
  return Object{{"ref", ref_of(run.id).text()},
                {"name", run.name},
                {"experiment", run.experiment_name},
                {"started_at", format_time(run.start_ms)}};
}

Value change_of(const WordChange& change) {
  Object object{{"name", change.name}};
  if (change.before) object["before"] = *change.before;
  if (change.after) object["after"] = *change.after;
  return object;
}

Array changes_of(const std::vector<WordChange>& changes) {
  Array items;
  for (const WordChange& change : changes) items.push_back(change_of(change));
  return items;
}

void put_digests(const std::string& before, const std::string& after, Object& object) {
  if (!before.empty()) object["before"] = before;
  if (!after.empty()) object["after"] = after;
  object["is_same"] = before == after;
}

Value code_of(const CodeChange& code) {
  Array files;
  for (const FileChange& file : code.files) {
    Object object{{"path", file.path},
                  {"change", file.change},
                  {"added", file.added},
                  {"removed", file.removed}};
    if (!file.diff.empty()) object["diff"] = file.diff;
    if (!file.note.empty()) object["note"] = file.note;
    files.push_back(std::move(object));
  }
  Object object{{"files", std::move(files)}, {"left_out", code.left_out}};
  put_digests(code.before, code.after, object);
  return object;
}

Value counts_value(const DataCounts& counts) {
  Object object{{"files", counts.files}, {"size_bytes", counts.bytes}};
  if (counts.rows >= 0) object["rows"] = counts.rows;
  return object;
}

Array data_of(const std::vector<DataChange>& changes) {
  Array items;
  for (const DataChange& change : changes) {
    Object object{{"name", change.name}};
    if (change.before) object["before"] = *change.before;
    if (change.after) object["after"] = *change.after;
    if (change.before_counts) object["before_counts"] = counts_value(*change.before_counts);
    if (change.after_counts) object["after_counts"] = counts_value(*change.after_counts);
    items.push_back(std::move(object));
  }
  return items;
}

Array metrics_of(const std::vector<MetricChange>& changes) {
  Array items;
  for (const MetricChange& change : changes) {
    Object object{{"name", change.name}, {"is_within", change.is_within}};
    if (change.before) object["before"] = mlflow_number(*change.before);
    if (change.after) object["after"] = mlflow_number(*change.after);
    if (change.before && change.after)
      object["difference"] = mlflow_number(*change.after - *change.before);
    items.push_back(std::move(object));
  }
  return items;
}

}  // namespace

Value to_value(const RunDiff& diff, const DiffOptions& options) {
  Object environment{{"packages", changes_of(diff.environment.packages)},
                     {"same", diff.environment.same}};
  put_digests(diff.environment.before, diff.environment.after, environment);
  Object object{
      {"before", side_of(diff.before)},
      {"after", side_of(diff.after)},
      {"code", code_of(diff.code)},
      {"environment", std::move(environment)},
      {"data", Object{{"items", data_of(diff.data)}, {"same", diff.same_data}}},
      {"params", Object{{"items", changes_of(diff.params)}, {"same", diff.same_params}}},
      {"settings", Object{{"items", changes_of(diff.settings)}}},
      {"metrics", Object{{"items", metrics_of(diff.metrics)}, {"same", diff.same_metrics}}},
      {"verdict", diff_verdict_name(diff.verdict)},
      {"tolerance", options.tolerance}};
  if (!diff.first_difference.empty()) object["first_difference"] = diff.first_difference;
  return object;
}

}  // namespace takt::track
