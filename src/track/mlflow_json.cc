// SPDX-License-Identifier: Apache-2.0
// Runs and points as MLflow's JSON has them, written straight to text: answers are long.
#include "takt/track/mlflow_routes.h"

namespace takt::track {
namespace {

void write_words(JsonWriter& out, std::string_view name, const Words& words) {
  out.key(name).begin_array();
  for (const auto& [key, value] : words)
    out.begin_object().member("key", key).member("value", value).end_object();
  out.end_array();
}

void write_dataset_input(JsonWriter& out, const RunInput& input) {
  out.begin_object().key("dataset").begin_object();
  out.member("digest", input.digest).member("name", input.name);
  if (!input.profile.empty()) out.member("profile", input.profile);
  if (!input.schema.empty()) out.member("schema", input.schema);
  out.member("source", input.source).member("source_type", input.source_type).end_object();
  write_words(out, "tags", input.tags);
  out.end_object();
}

void write_inputs_and_outputs(JsonWriter& out, const Run& run) {
  out.key("inputs").begin_object().key("dataset_inputs").begin_array();
  for (const RunInput& input : run.inputs) write_dataset_input(out, input);
  out.end_array().key("model_inputs").begin_array();
  for (const ModelLink& link : run.model_inputs)
    out.begin_object().member("model_id", link.model).end_object();
  out.end_array().end_object();
  out.key("outputs").begin_object().key("model_outputs").begin_array();
  for (const ModelLink& link : run.model_outputs)
    out.begin_object().member("model_id", link.model).member("step", link.step).end_object();
  out.end_array().end_object();
}

}  // namespace

void write_point(JsonWriter& out, const RunId& run, std::string_view key, const Point& point) {
  out.begin_object().member("key", key).member("run_id", run.value);
  out.member("step", point.step).member("timestamp", point.timestamp_ms);
  out.member("value", point.value).end_object();
}

void write_run_info(JsonWriter& out, const Run& run) {
  out.begin_object().member("artifact_uri", run.artifact_uri);
  if (run.end_ms >= 0) out.member("end_time", run.end_ms);
  out.member("experiment_id", run.experiment.value);
  out.member("lifecycle_stage", run.is_deleted ? "deleted" : "active");
  out.member("run_id", run.id.value).member("run_name", run.name);
  out.member("run_uuid", run.id.value).member("start_time", run.start_ms);
  out.member("status", run_status_name(run.status)).member("user_id", run.user.value);
  out.end_object();
}

void write_run(JsonWriter& out, const Run& run) {
  out.begin_object().key("data").begin_object().key("metrics").begin_array();
  for (const auto& [key, point] : run.metrics) write_point(out, run.id, key, point);
  out.end_array();
  write_words(out, "params", run.params);
  write_words(out, "tags", run.tags);
  out.end_object().key("info");
  write_run_info(out, run);
  write_inputs_and_outputs(out, run);
  out.end_object();
}

net::Response run_response(const Run& run) {
  JsonWriter out;
  out.begin_object().key("run");
  write_run(out, run);
  out.end_object();
  return json_response(out);
}

net::Response json_response(JsonWriter& out) {
  return net::Response::bytes(out.take(), "application/json");
}

}  // namespace takt::track
