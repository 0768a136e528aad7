// SPDX-License-Identifier: Apache-2.0
#include "takt/track/routes.h"

#include <algorithm>
#include <charconv>

#include "takt/base/limits.h"
#include "takt/track/download.h"
#include "takt/track/mlflow_request.h"
#include "takt/track/mlflow_routes.h"
#include "takt/track/run_diff.h"

namespace takt::track {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

Value json_of(const Words& words) {
  Object object;
  for (const auto& [key, value] : words) object[key] = value;
  return object;
}

Value json_of(const Point& point) {
  return Object{{"value", mlflow_number(point.value)},
                {"step", point.step},
                {"at", format_time(point.timestamp_ms)}};
}

std::string lower_status(RunStatus status) {
  std::string name(run_status_name(status));
  std::ranges::transform(name, name.begin(), [](char c) { return static_cast<char>(c + 32); });
  return name;
}

std::string ref_of_tag(const Run& run, std::string_view tag, std::string_view kind) {
  const std::string value = word_of(run.tags, tag);
  return value.empty() || value.find('/') != std::string::npos ? value
                                                               : std::string(kind) + "/" + value;
}

Object json_of(const Run& run) {
  Object metrics;
  for (const auto& [key, point] : run.metrics) metrics[key] = json_of(point);
  Object object{{"id", run.id.value},
                {"ref", ref_of(run.id).text()},
                {"name", run.name},
                {"experiment", run.experiment_name},
                {"experiment_id", run.experiment.value},
                {"status", lower_status(run.status)},
                {"is_deleted", run.is_deleted},
                {"user", run.user.value},
                {"started_at", format_time(run.start_ms)},
                {"params", json_of(run.params)},
                {"metrics", std::move(metrics)},
                {"tags", json_of(run.tags)}};
  if (run.end_ms >= 0) {
    object["ended_at"] = format_time(run.end_ms);
    object["duration_ms"] = run.end_ms - run.start_ms;
  }
  if (std::string job = ref_of_tag(run, kJobTag, "job"); !job.empty())
    object["job"] = std::move(job);
  if (std::string parent = ref_of_tag(run, kParentRunTag, "run"); !parent.empty())
    object["parent"] = std::move(parent);
  return object;
}

Array texts_of_refs(const std::vector<Ref>& refs) {
  Array array;
  for (const Ref& ref : refs) array.push_back(ref.text());
  return array;
}

Result<Response> run_detail(TrackService& track, const access::CanRead& by, const RunId& id) {
  TAKT_ASSIGN(const Run run, track.run(by, id));
  TAKT_ASSIGN(const RunLinks links, track.links(by, run));
  Object object = json_of(run);
  Array children, inputs;
  for (const RunId& child : links.children) children.push_back(ref_of(child).text());
  Object joined{{"datasets", texts_of_refs(links.datasets)},
                {"models", texts_of_refs(links.models)},
                {"children", std::move(children)}};
  if (!links.job.empty()) joined["job"] = links.job;
  if (!links.code.empty()) joined["code"] = links.code;
  if (!links.environment.empty()) joined["environment"] = links.environment;
  for (const RunInput& input : run.inputs)
    inputs.push_back(Object{{"name", input.name},
                            {"digest", input.digest},
                            {"source_type", input.source_type},
                            {"source", input.source},
                            {"schema", input.schema},
                            {"profile", input.profile},
                            {"tags", json_of(input.tags)}});
  object["links"] = std::move(joined);
  object["inputs"] = std::move(inputs);
  object["artifact_files"] = links.artifact_files;
  object["artifact_bytes"] = links.artifact_bytes;
  object["artifact_uri"] = run.artifact_uri;
  return Response::json(std::move(object));
}

Value json_of(const Experiment& experiment, const std::map<std::string, ExperimentCounts>& counts) {
  Object object{{"id", experiment.id.value},
                {"name", experiment.name},
                {"ref", "experiment/" + experiment.id.value},
                {"is_deleted", experiment.is_deleted},
                {"runs", 0},
                {"running", 0},
                {"tags", json_of(experiment.tags)},
                {"created_at", format_time(experiment.created_ms)},
                {"updated_at", format_time(experiment.updated_ms)}};
  if (const auto found = counts.find(experiment.id.value); found != counts.end()) {
    object["runs"] = found->second.runs;
    object["running"] = found->second.running;
    object["last_run_at"] = format_time(found->second.last_run_ms);
  }
  return object;
}

Result<RunView> view_param(const Request& request) {
  const std::string_view view = request.query_param("view");
  if (view.empty() || view == "active") return RunView::kActive;
  if (view == "deleted") return RunView::kDeleted;
  if (view == "all") return RunView::kAll;
  return fail(Code::kInvalid, "view is '" + std::string(view) + "'", "use active, deleted or all",
              "view");
}

/// `columns=metrics.acc,params.lr`
Result<RunColumns> columns_param(const Request& request) {
  RunColumns columns;
  for (const std::string& list : request.query_params("columns")) {
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t comma = std::min(list.find(',', at), list.size());
      if (comma > at) TAKT_RETURN_IF_ERROR(add_column(columns, list.substr(at, comma - at)));
      at = comma + 1;
    }
  }
  // What links a run is always sent.
  if (columns.is_restricted)
    columns.tags.insert({std::string(kJobTag), std::string(kParentRunTag)});
  return columns;
}

Result<bool> count_param(const Request& request) {
  const std::string_view text = request.query_param("count");
  if (text.empty() || text == "false") return false;
  if (text == "true") return true;
  return fail(Code::kInvalid, "count is '" + std::string(text) + "'", "use true or false", "count");
}

Result<Response> list_experiments(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "experiment"));
  TAKT_ASSIGN(const RunView view, view_param(request));
  TAKT_ASSIGN(auto experiments, track.experiments(by));
  TAKT_ASSIGN(const auto counts, track.experiment_counts(by));
  std::erase_if(experiments, [&](const Experiment& experiment) {
    return view != RunView::kAll && experiment.is_deleted != (view == RunView::kDeleted);
  });
  const auto last_run = [&](const Experiment& experiment) {
    const auto found = counts.find(experiment.id.value);
    return found == counts.end() ? 0 : found->second.last_run_ms;
  };
  std::ranges::stable_sort(experiments,
                           [&](const auto& a, const auto& b) { return last_run(a) > last_run(b); });
  Array items;
  for (const Experiment& experiment : experiments) items.push_back(json_of(experiment, counts));
  return Response::json(Object{{"items", std::move(items)}});
}

Result<Response> get_experiment(TrackService& track, access::Policy& policy, Request& request) {
  const std::string& word = request.path_param("experiment");
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "experiment/" + word));
  TAKT_ASSIGN(const RunScope scope, track.scope(by, {word}));
  const ExperimentId id{scope.experiments.front()};
  TAKT_ASSIGN(const Experiment experiment, track.experiment(by, id));
  TAKT_ASSIGN(const auto counts, track.experiment_counts(by, id));
  return Response::json(json_of(experiment, counts));
}

Result<Response> list_runs(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run"));
  RunSearch search;
  TAKT_ASSIGN(search.view, view_param(request));
  TAKT_ASSIGN(search.limit, request.query_integer("page_size", limits::kPageSizeDefault, 1,
                                                  limits::kPageSizeMax));
  search.page_token = request.query_param("page_token");
  TAKT_ASSIGN(search.counts, count_param(request));
  TAKT_ASSIGN(search.scope, track.scope(by, request.query_params("experiment")));
  TAKT_ASSIGN(search.filter, parse_filter(request.query_param("filter"), run_filter_rules()));
  TAKT_ASSIGN(search.order, parse_order(request.query_params("order"), run_filter_rules()));
  TAKT_ASSIGN(const RunColumns columns, columns_param(request));
  TAKT_ASSIGN(const RunPage page, track.search(by, search, columns, false));
  Array items;
  for (const Run& run : page.runs) items.push_back(json_of(run));
  Object answer{{"items", std::move(items)}};
  if (!page.next_page_token.empty()) answer["next_page_token"] = page.next_page_token;
  if (search.counts) answer["total"] = page.total;
  return Response::json(std::move(answer));
}

Result<Response> list_columns(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run"));
  RunSearch all;
  all.limit = 1;
  all.counts = true;
  TAKT_ASSIGN(all.scope, track.scope(by, request.query_params("experiment")));
  TAKT_ASSIGN(const auto columns, track.columns(by, all.scope));
  TAKT_ASSIGN(const RunPage page, track.search(by, all, {}, false));
  Array items;
  for (const RunColumn& column : columns)
    items.push_back(Object{{"name", column.kind + "s." + column.key},
                           {"kind", column.kind},
                           {"key", column.key},
                           {"runs", column.runs}});
  return Response::json(Object{{"runs", page.total}, {"items", std::move(items)}});
}

Result<Response> metric_history(TrackService& track, access::Policy& policy, Request& request) {
  const RunId id{request.path_param("run")};
  const std::string& key = request.path_param("key");
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run/" + id.value));
  TAKT_ASSIGN(const std::int64_t max, request.query_integer("max_points", 2000, 3, 25'000));
  TAKT_ASSIGN(const ThinHistory history,
              track.thin_history(by, id, key, {}, static_cast<std::size_t>(max)));
  if (history.total == 0)
    return fail(Code::kNotFound, "run " + id.value + " has no metric '" + key + "'");
  Array points;
  for (const Point& point : history.points) points.push_back(json_of(point));
  return Response::json(Object{{"key", key},
                               {"total", history.total},
                               {"is_thinned", history.is_thinned},
                               {"points", std::move(points)}});
}

Result<Response> list_artifacts(TrackServices services, access::Policy& policy, Request& request) {
  const RunId id{request.path_param("run")};
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run/" + id.value));
  TAKT_RETURN_IF_ERROR(services.track.run(by, id));
  const std::string folder(request.query_param("path"));
  TAKT_RETURN_IF_ERROR(check_artifact_path(folder));
  TAKT_ASSIGN(const auto files, services.artifacts.list_in(by, {root_of_run(id), {}, folder}));
  Array items;
  for (const ArtifactItem& file : files) {
    Object item{{"path", folder.empty() ? file.name : folder + "/" + file.name},
                {"name", file.name},
                {"is_folder", file.is_folder}};
    if (!file.is_folder) {
      item["size_bytes"] = file.size;
      item["digest"] = file.digest.value;
    }
    items.push_back(std::move(item));
  }
  return Response::json(Object{{"items", std::move(items)}});
}

Result<Response> get_artifact(TrackServices services, access::Policy& policy, Request& request) {
  const RunId id{request.path_param("run")};
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run/" + id.value));
  const std::string& path = request.path_param("path");
  TAKT_RETURN_IF_ERROR(check_artifact_path(path));
  TAKT_ASSIGN(const content::Entry file,
              services.artifacts.find_in(by, {root_of_run(id), {}, path}));
  return download(services.artifacts.blobs(), by.project(), file);
}

/// `tolerance=0.01`: a number from 0 to 1.
Result<double> tolerance_param(const Request& request) {
  const std::string text(request.query_param("tolerance"));
  double tolerance = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tolerance);
  const bool is_number = text.empty() || (error == std::errc() && end == text.data() + text.size());
  if (is_number && tolerance >= 0 && tolerance <= 1) return tolerance;
  return fail(Code::kInvalid, "tolerance is '" + text + "'", "write a number from 0 to 1",
              "tolerance");
}

Result<Response> diff_route(TrackServices services, access::Policy& policy, Request& request) {
  const RunId before{request.path_param("run")}, after{request.path_param("other")};
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run/" + before.value));
  DiffOptions options;
  TAKT_ASSIGN(options.tolerance, tolerance_param(request));
  options.metrics = request.query_params("metric");
  TAKT_ASSIGN(const RunDiff diff,
              diff_runs(services.track, services.artifacts.blobs(), by, before, after, options));
  return Response::json(to_value(diff, options));
}

Result<Response> set_run_tag_route(TrackService& track, access::Policy& policy, Request& request) {
  const RunId id{request.path_param("run")};
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "run/" + id.value));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::string value = fields.text("value");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_RETURN_IF_ERROR(track.set_tag(by, id, request.path_param("key"), value));
  return Response::empty();
}

void register_own_routes(net::Router& router, TrackServices s, access::Policy& p) {
  TrackService& t = s.track;
  const std::string one = "/api/v1/runs/{run}";
  router.add(Method::kGet, "/api/v1/experiments",
             [&t, &p](Request& r) { return list_experiments(t, p, r); });
  router.add(Method::kGet, "/api/v1/experiments/{experiment}",
             [&t, &p](Request& r) { return get_experiment(t, p, r); });
  router.add(Method::kGet, "/api/v1/runs", [&t, &p](Request& r) { return list_runs(t, p, r); });
  router.add(Method::kGet, "/api/v1/run-columns",
             [&t, &p](Request& r) { return list_columns(t, p, r); });
  router.add(Method::kGet, one, [&t, &p](Request& r) -> Result<Response> {
    const RunId id{r.path_param("run")};
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "run/" + id.value));
    return run_detail(t, by, id);
  });
  router.add(Method::kDelete, one, [&t, &p](Request& r) -> Result<Response> {
    const RunId id{r.path_param("run")};
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, "run/" + id.value));
    TAKT_RETURN_IF_ERROR(t.mark_run(by, id, true));
    return Response::empty();
  });
  router.add(Method::kPost, one + "/restore", [&t, &p](Request& r) -> Result<Response> {
    const RunId id{r.path_param("run")};
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, "run/" + id.value));
    TAKT_RETURN_IF_ERROR(t.mark_run(by, id, false));
    TAKT_ASSIGN(const auto can_read, p.check<Right::kRead>(r.caller, "run/" + id.value));
    return run_detail(t, can_read, id);
  });
  router.add(Method::kPut, one + "/tags/{key...}",
             [&t, &p](Request& r) { return set_run_tag_route(t, p, r); });
  router.add(Method::kDelete, one + "/tags/{key...}", [&t, &p](Request& r) -> Result<Response> {
    const RunId id{r.path_param("run")};
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, "run/" + id.value));
    TAKT_RETURN_IF_ERROR(t.delete_tag(by, id, r.path_param("key")));
    return Response::empty();
  });
  router.add(Method::kGet, one + "/metrics/{key...}",
             [&t, &p](Request& r) { return metric_history(t, p, r); });
  router.add(Method::kGet, one + "/diff/{other}",
             [s, &p](Request& r) { return diff_route(s, p, r); });
  router.add(Method::kGet, one + "/artifacts",
             [s, &p](Request& r) { return list_artifacts(s, p, r); });
  router.add(Method::kGet, one + "/content/{path...}",
             [s, &p](Request& r) { return get_artifact(s, p, r); });
}

}  // namespace

void register_routes(net::Router& router, TrackServices services, access::Policy& policy) {
  register_own_routes(router, services, policy);
  register_curve_routes(router, services.track, policy);
  set_mlflow_error_form(router);
  register_mlflow_experiments(router, services.track, policy);
  register_mlflow_runs(router, services.track, policy);
  register_mlflow_searches(router, services.track, policy);
  register_mlflow_logged_models(router, services.track, services.logged_models, services.artifacts,
                                policy);
  register_mlflow_artifacts(router, services.track, services.artifacts, policy);
}

}  // namespace takt::track
