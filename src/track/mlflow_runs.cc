// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "takt/track/checks.h"
#include "takt/track/mlflow_request.h"
#include "takt/track/mlflow_routes.h"

namespace takt::track {
namespace {

using access::CanWrite;
using access::Right;
using net::Method;
using net::Request;
using net::Response;

std::string run_subject(const RunId& id) { return "run/" + id.value; }

Result<Response> create_run(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "run"));
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  ClientRun asked;
  asked.experiment.value = args.text("experiment_id", "");
  asked.name = args.text("run_name", "");
  asked.user = args.text("user_id", "");
  asked.start_ms = args.integer("start_time", 0);
  for (auto& [key, value] : args.words("tags")) asked.tags[key] = value;
  TAKT_RETURN_IF_ERROR(args.done());
  // Clients that do not know their user say so; takt does.
  if (asked.user == "unknown") asked.user.clear();
  asked.idempotency_key = request.headers.get("Idempotency-Key");
  TAKT_RETURN_IF_ERROR(check_length("Idempotency-Key", asked.idempotency_key, kKeyBytesMax));
  TAKT_ASSIGN(const Run run, track.create_run(by, asked));
  return run_response(run);
}

Result<RunStatus> status_argument(const MlflowArgs& args) {
  const Value& value = args.object()["status"];
  constexpr RunStatus kByNumber[] = {RunStatus::kRunning, RunStatus::kScheduled,
                                     RunStatus::kFinished, RunStatus::kFailed, RunStatus::kKilled};
  if (value.is_int() && value.as_int() >= 1 && value.as_int() <= 5)
    return kByNumber[value.as_int() - 1];
  if (value.is_string()) {
    if (auto status = parse_run_status(value.as_string())) return *status;
  }
  return invalid_value("status", value);
}

Result<Response> update_run(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  const RunId id = args.run_id();
  RunChange change;
  if (args.has("status")) {
    TAKT_ASSIGN(change.status, status_argument(args));
  }
  if (args.has("end_time")) change.end_ms = args.integer("end_time", 0);
  if (args.has("run_name")) change.name = args.text("run_name", "");
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, run_subject(id)));
  TAKT_ASSIGN(const Run run, track.update_run(by, id, change));
  JsonWriter out;
  out.begin_object().key("run_info");
  write_run_info(out, run);
  out.end_object();
  return json_response(out);
}

Result<Metric> metric_argument(MlflowArgs& args) {
  Metric metric;
  metric.key = args.text("key");
  metric.point.value = args.number("value");
  metric.point.timestamp_ms = args.integer("timestamp");
  metric.point.step = args.integer("step", 0);
  metric.model = args.text("model_id", "");
  metric.dataset_name = args.text("dataset_name", "");
  metric.dataset_digest = args.text("dataset_digest", "");
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_RETURN_IF_ERROR(check_key(args.path_of("name"), metric.key));
  if (metric.point.timestamp_ms < 0)
    return invalid_value(
        args.path_of("timestamp"), metric.point.timestamp_ms,
        "metric '" + metric.key + "'. Timestamp must be a nonnegative long (64-bit integer) ");
  return metric;
}

Result<Batch> batch_argument(MlflowArgs& args) {
  Batch batch;
  const Array& metrics = args.array("metrics");
  TAKT_RETURN_IF_ERROR(args.done());
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const std::string path = "metrics[" + std::to_string(i) + "]";
    if (!metrics[i].is_object()) return invalid_value("metrics", metrics);
    MlflowArgs item(metrics[i], path);
    TAKT_ASSIGN(Metric metric, metric_argument(item));
    batch.metrics.push_back(std::move(metric));
  }
  batch.params = args.words("params");
  batch.tags = args.words("tags");
  TAKT_RETURN_IF_ERROR(args.done());
  for (std::size_t i = 0; i < batch.params.size(); ++i)
    TAKT_RETURN_IF_ERROR(check_key("params[" + std::to_string(i) + "].key", batch.params[i].first));
  for (std::size_t i = 0; i < batch.tags.size(); ++i)
    TAKT_RETURN_IF_ERROR(check_key("tags[" + std::to_string(i) + "].key", batch.tags[i].first));
  return batch;
}

Result<std::vector<RunInput>> inputs_argument(MlflowArgs& args) {
  std::vector<RunInput> inputs;
  const Array& datasets = args.array("datasets");
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    const std::string path = "datasets[" + std::to_string(i) + "]";
    MlflowArgs item(datasets[i], path);
    MlflowArgs dataset(datasets[i]["dataset"], path + ".dataset");
    RunInput input;
    for (auto& [key, value] : item.words("tags")) input.tags[key] = value;
    input.name = dataset.text("name");
    input.digest = dataset.text("digest");
    input.source_type = dataset.text("source_type");
    input.source = dataset.text("source");
    input.schema = dataset.text("schema", "");
    input.profile = dataset.text("profile", "");
    TAKT_RETURN_IF_ERROR(item.done());
    TAKT_RETURN_IF_ERROR(dataset.done());
    TAKT_RETURN_IF_ERROR(check_length(path + ".dataset.name", input.name, 500));
    TAKT_RETURN_IF_ERROR(check_length(path + ".dataset.digest", input.digest, 36));
    TAKT_RETURN_IF_ERROR(check_length(path + ".dataset.source", input.source, 65'535));
    TAKT_RETURN_IF_ERROR(check_length(path + ".dataset.schema", input.schema, 1'048'575));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::vector<ModelLink> models_argument(MlflowArgs& args) {
  std::vector<ModelLink> links;
  const Array& models = args.array("models");
  for (std::size_t i = 0; i < models.size(); ++i) {
    MlflowArgs item(models[i], "models[" + std::to_string(i) + "]");
    std::string model = item.text("model_id");
    links.push_back({std::move(model), item.integer("step", 0)});
    if (const Status status = item.done(); !status) args.reject(std::unexpected(status.error()));
  }
  return links;
}

/// A write to one run that answers {}.
using RunWrite = std::function<Status(const CanWrite&, const RunId&, MlflowArgs&)>;
net::Handler run_write(access::Policy& policy, RunWrite act) {
  return [&policy, act = std::move(act)](Request& request) -> Result<Response> {
    TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
    const RunId id = args.run_id();
    TAKT_RETURN_IF_ERROR(args.done());
    TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, run_subject(id)));
    TAKT_RETURN_IF_ERROR(act(by, id, args));
    return mlflow_empty();
  };
}

/// MLmodel facts of clients before 3: the tag mlflow.log-model.history grows by one.
Status log_old_model(TrackService& track, const CanWrite& by, const RunId& id, MlflowArgs& args,
                     const Run& run) {
  const std::string text = args.text("model_json");
  TAKT_RETURN_IF_ERROR(args.done());
  auto model = parse_json(text);
  if (!model || !model->is_object())
    return fail(Code::kInvalid,
                "Malformed model info. \n " + text.substr(0, 200) + " \n failed to parse", {},
                "model_json");
  constexpr std::string_view kHistoryTag = "mlflow.log-model.history";
  Array history;
  if (const auto old = parse_json(word_of(run.tags, kHistoryTag)); old && old->is_array())
    history = old->as_array();
  history.push_back(std::move(*model));
  return track.set_tag(by, id, kHistoryTag, dump_json(history));
}

/// Tags, inputs, outputs, and reading.
void add_run_word_routes(net::Router& router, TrackService& t, access::Policy& p) {
  const auto add = [&](Method method, std::string_view path, const net::Handler& handler) {
    add_mlflow_route(router, method, path, handler);
  };
  add(Method::kPost, "runs/set-tag",
      run_write(p, [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
        const std::string key = args.text("key");
        const std::string value = args.text("value", "");
        TAKT_RETURN_IF_ERROR(args.done());
        return t.set_tag(by, id, key, value);
      }));
  add(Method::kPost, "runs/delete-tag",
      run_write(p, [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
        const std::string key = args.text("key");
        TAKT_RETURN_IF_ERROR(args.done());
        return t.delete_tag(by, id, key);
      }));
  add(Method::kPost, "runs/log-inputs",
      run_write(p, [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
        TAKT_ASSIGN(const auto inputs, inputs_argument(args));
        const auto models = models_argument(args);
        TAKT_RETURN_IF_ERROR(args.done());
        return t.log_inputs(by, id, inputs, models);
      }));
  add(Method::kPost, "runs/outputs",
      run_write(p, [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
        const auto models = models_argument(args);
        TAKT_RETURN_IF_ERROR(args.done());
        return t.log_outputs(by, id, models);
      }));
  add(Method::kPost, "runs/log-model", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(r));
    const RunId id = args.run_id();
    TAKT_RETURN_IF_ERROR(args.done());
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, run_subject(id)));
    TAKT_ASSIGN(const auto can_read, p.check<Right::kRead>(r.caller, run_subject(id)));
    TAKT_ASSIGN(const Run run, t.run(can_read, id));
    TAKT_RETURN_IF_ERROR(log_old_model(t, by, id, args, run));
    return mlflow_empty();
  });
  add(Method::kGet, "runs/get", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(r));
    const RunId id = args.run_id();
    TAKT_RETURN_IF_ERROR(args.done());
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, run_subject(id)));
    TAKT_ASSIGN(const Run run, t.run(by, id));
    return run_response(run);
  });
}

}  // namespace

void register_mlflow_runs(net::Router& router, TrackService& t, access::Policy& p) {
  const auto add = [&](Method method, std::string_view path, const net::Handler& handler) {
    add_mlflow_route(router, method, path, handler);
  };
  add(Method::kPost, "runs/create", [&](Request& r) { return create_run(t, p, r); });
  add(Method::kPost, "runs/update", [&](Request& r) { return update_run(t, p, r); });
  add(Method::kPost, "runs/delete", run_write(p, [&](const auto& by, const auto& id, MlflowArgs&) {
        return t.mark_run(by, id, true);
      }));
  add(Method::kPost, "runs/restore", run_write(p, [&](const auto& by, const auto& id, MlflowArgs&) {
        return t.mark_run(by, id, false);
      }));
  add(Method::kPost, "runs/log-metric",
      run_write(p, [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
        Batch batch;
        TAKT_ASSIGN(Metric metric, metric_argument(args));
        batch.metrics.push_back(std::move(metric));
        return t.log_batch(by, id, batch);
      }));
  add(Method::kPost, "runs/log-parameter",
      run_write(p, [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
        Batch batch;
        std::string key = args.text("key");
        batch.params.emplace_back(std::move(key), args.text("value", ""));
        TAKT_RETURN_IF_ERROR(args.done());
        TAKT_RETURN_IF_ERROR(check_key("key", batch.params.front().first));
        return t.log_batch(by, id, batch);
      }));
  add(Method::kPost, "runs/log-batch",
      run_write(p, [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
        TAKT_ASSIGN(const Batch batch, batch_argument(args));
        return t.log_batch(by, id, batch);
      }));
  add_run_word_routes(router, t, p);
}

}  // namespace takt::track
