// SPDX-License-Identifier: Apache-2.0
#include "takt/track/checks.h"
#include "takt/track/mlflow_request.h"
#include "takt/track/mlflow_routes.h"

namespace takt::track {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

constexpr std::int64_t kModelsDefault = 100;
constexpr std::int64_t kModelsMax = 1000;

Value mlflow_logged_model(const LoggedModel& model) {
  Array metrics;
  for (const auto& measured : model.metrics) {
    Object metric{{"key", measured.key},
                  {"value", mlflow_number(measured.point.value)},
                  {"timestamp", measured.point.timestamp_ms},
                  {"step", measured.point.step},
                  {"model_id", model.id},
                  {"run_id", measured.run.value}};
    if (!measured.dataset_name.empty()) metric["dataset_name"] = measured.dataset_name;
    if (!measured.dataset_digest.empty()) metric["dataset_digest"] = measured.dataset_digest;
    metrics.push_back(std::move(metric));
  }
  Object info{{"model_id", model.id},
              {"experiment_id", model.experiment.value},
              {"name", model.name},
              {"creation_timestamp_ms", model.created_ms},
              {"last_updated_timestamp_ms", model.updated_ms},
              {"artifact_uri", model.artifact_uri},
              {"status", model.status},
              {"tags", mlflow_words(model.tags)}};
  if (!model.model_type.empty()) info["model_type"] = model.model_type;
  if (!model.run.empty()) info["source_run_id"] = model.run.value;
  if (!model.status_message.empty()) info["status_message"] = model.status_message;
  return Object{
      {"info", std::move(info)},
      {"data", Object{{"params", mlflow_words(model.params)}, {"metrics", std::move(metrics)}}}};
}

Response model_response(const LoggedModel& model) {
  return Response::json(Object{{"model", mlflow_logged_model(model)}});
}

std::string model_subject(const Request& request) {
  return "logged-model/" + request.path_param("model_id");
}

Result<Response> create_logged_model(LoggedModelService& models, access::Policy& policy,
                                     Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "logged-model"));
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  NewLoggedModel asked;
  asked.experiment.value = args.text("experiment_id");
  asked.name = args.text("name", "");
  asked.model_type = args.text("model_type", "");
  asked.run.value = args.text("source_run_id", "");
  asked.params = args.words("params");
  asked.tags = args.words("tags");
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_ASSIGN(const LoggedModel made, models.create(by, asked));
  return model_response(made);
}

Result<std::string> model_status_argument(const MlflowArgs& args) {
  static constexpr std::string_view kByNumber[] = {"LOGGED_MODEL_STATUS_UNSPECIFIED",
                                                   "LOGGED_MODEL_PENDING", "LOGGED_MODEL_READY",
                                                   "LOGGED_MODEL_UPLOAD_FAILED"};
  const Value& value = args.object()["status"];
  if (value.is_int() && value.as_int() >= 1 && value.as_int() <= 3)
    return std::string(kByNumber[value.as_int()]);
  for (const std::string_view name : kByNumber)
    if (value == Value(name) && name != kByNumber[0]) return std::string(name);
  if (value.is_null()) return missing_value("status");
  return invalid_value("status", value);
}

Result<Response> finalize(LoggedModelService& models, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, model_subject(request)));
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  TAKT_ASSIGN(const std::string status, model_status_argument(args));
  const std::string message = args.text("status_message", "");
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_ASSIGN(const LoggedModel model,
              models.set_status(by, request.path_param("model_id"), status, message));
  return model_response(model);
}

/// Adds one term of `order_by` with its dataset.
Status add_order(LoggedModelSearch& search, const Value& item) {
  MlflowArgs args(item, "order_by");
  const std::string field = args.text("field_name");
  const bool is_ascending = args.boolean("ascending", true);
  DatasetChoice dataset{args.text("dataset_name", ""), args.text("dataset_digest", "")};
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_ASSIGN(const auto terms, parse_order({field}, logged_model_filter_rules()));
  OrderTerm term = terms.front();
  if (term.entity != Entity::kMetric && term.entity != Entity::kAttribute)
    return fail(Code::kInvalid,
                "Invalid order by field name: " + field + ", only `metrics.<name>` is allowed.", {},
                "order_by");
  if (!dataset.digest.empty() && dataset.name.empty())
    return fail(Code::kInvalid,
                "`dataset_digest` can only be specified if `dataset_name` is also specified.", {},
                "order_by");
  term.is_descending = !is_ascending;
  search.order.push_back(std::move(term));
  search.order_datasets.push_back(std::move(dataset));
  return {};
}

Result<Response> search_models(TrackService& track, LoggedModelService& models,
                               access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "logged-model"));
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  LoggedModelSearch search;
  auto experiments = args.texts("experiment_ids");
  const std::string filter = args.text("filter", "");
  search.limit = args.integer("max_results", kModelsDefault);
  search.page_token = args.text("page_token", "");
  search.counts = args.boolean("count", false);
  for (const Value& item : args.array("datasets")) {
    MlflowArgs dataset(item, "datasets");
    std::string name = dataset.text("dataset_name");
    search.datasets.push_back({std::move(name), dataset.text("dataset_digest", "")});
    TAKT_RETURN_IF_ERROR(dataset.done());
  }
  for (const Value& item : args.array("order_by")) TAKT_RETURN_IF_ERROR(add_order(search, item));
  TAKT_RETURN_IF_ERROR(args.done());
  if (search.limit < 1 || search.limit > kModelsMax)
    return invalid_value("max_results", search.limit);
  TAKT_ASSIGN(search.filter, parse_filter(filter, logged_model_filter_rules()));
  TAKT_ASSIGN(search.scope, track.scope_of_ids(by, std::move(experiments)));
  TAKT_ASSIGN(const LoggedModelPage page, models.search(by, search));
  Array items;
  for (const LoggedModel& model : page.models) items.push_back(mlflow_logged_model(model));
  Object answer{{"models", std::move(items)}};
  if (!page.next_page_token.empty()) answer["next_page_token"] = page.next_page_token;
  if (search.counts) answer["total"] = page.total;
  return Response::json(std::move(answer));
}

Result<Response> list_model_artifacts(LoggedModelService& models, ArtifactService& artifacts,
                                      access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, model_subject(request)));
  TAKT_ASSIGN(const LoggedModel model, models.get(by, request.path_param("model_id")));
  const std::string folder(request.query_param("artifact_directory_path"));
  TAKT_RETURN_IF_ERROR(check_artifact_path(folder));
  TAKT_ASSIGN(const auto items,
              artifacts.list_in(by, {root_of_logged_model(model.id), {}, folder}));
  Array files;
  for (const ArtifactItem& item : items) {
    Object file{{"path", folder.empty() ? item.name : folder + "/" + item.name},
                {"is_dir", item.is_folder}};
    if (!item.is_folder) file["file_size"] = item.size;
    files.push_back(std::move(file));
  }
  return Response::json(Object{{"root_uri", model.artifact_uri}, {"files", std::move(files)}});
}

}  // namespace

void register_mlflow_logged_models(net::Router& router, TrackService& t, LoggedModelService& m,
                                   ArtifactService& a, access::Policy& p) {
  const auto add = [&](Method method, std::string_view path, const net::Handler& handler) {
    add_mlflow_route(router, method, path, handler);
  };
  constexpr std::string_view kOne = "logged-models/{model_id}";
  const std::string one(kOne);
  add(Method::kPost, "logged-models", [&](Request& r) { return create_logged_model(m, p, r); });
  add(Method::kPost, "logged-models/search", [&](Request& r) { return search_models(t, m, p, r); });
  add(Method::kGet, one, [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, model_subject(r)));
    const std::string_view deleted = r.query_param("allow_deleted");
    TAKT_ASSIGN(const LoggedModel model,
                m.get(by, r.path_param("model_id"), deleted == "true" || deleted == "True"));
    return model_response(model);
  });
  add(Method::kPatch, one, [&](Request& r) { return finalize(m, p, r); });
  add(Method::kDelete, one, [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, model_subject(r)));
    TAKT_RETURN_IF_ERROR(m.remove(by, r.path_param("model_id")));
    return mlflow_empty();
  });
  add(Method::kPost, one + "/params", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, model_subject(r)));
    TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(r));
    const auto params = args.words("params");
    TAKT_RETURN_IF_ERROR(args.done());
    TAKT_RETURN_IF_ERROR(m.log_params(by, r.path_param("model_id"), params));
    return mlflow_empty();
  });
  add(Method::kPatch, one + "/tags", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, model_subject(r)));
    TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(r));
    const auto tags = args.words("tags");
    TAKT_RETURN_IF_ERROR(args.done());
    TAKT_RETURN_IF_ERROR(m.set_tags(by, r.path_param("model_id"), tags));
    return mlflow_empty();
  });
  add(Method::kDelete, one + "/tags/{key...}", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, model_subject(r)));
    TAKT_RETURN_IF_ERROR(m.delete_tag(by, r.path_param("model_id"), r.path_param("key")));
    return mlflow_empty();
  });
  add(Method::kGet, one + "/artifacts/directories",
      [&](Request& r) { return list_model_artifacts(m, a, p, r); });
}

}  // namespace takt::track
