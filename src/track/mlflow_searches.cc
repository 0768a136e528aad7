// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "takt/track/checks.h"
#include "takt/track/mlflow_request.h"
#include "takt/track/mlflow_routes.h"
#include "takt/track/page_token.h"

namespace takt::track {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

constexpr std::int64_t kRunsMax = 50'000;
constexpr std::int64_t kHistoryMax = 25'000;
constexpr std::int64_t kWholeHistoryMax = 1'000'000;
constexpr std::size_t kBulkRunsMax = 100;
constexpr std::size_t kPointBytes = 140;  // of one point's JSON, without its key

Status check_runs_max(std::int64_t limit) {
  if (limit >= 1 && limit <= kRunsMax) return {};
  return fail(Code::kInvalid,
              "Invalid value " + std::to_string(limit) +
                  " for parameter 'max_results' supplied. It must be at most " +
                  std::to_string(kRunsMax) + ", but got value " + std::to_string(limit),
              {}, "max_results");
}

Result<Response> search_mlflow_runs(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run"));
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  RunSearch search;
  auto experiments = args.texts("experiment_ids");
  const std::string filter = args.text("filter", "");
  const auto order = args.texts("order_by");
  search.limit = args.integer("max_results", 1000);
  search.page_token = args.text("page_token", "");
  search.counts = args.boolean("count", false);
  const auto wanted = args.texts("columns");
  TAKT_ASSIGN(search.view, mlflow_view(args, "run_view_type"));
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_RETURN_IF_ERROR(check_runs_max(search.limit));
  TAKT_ASSIGN(search.scope, track.scope_of_ids(by, std::move(experiments)));
  TAKT_ASSIGN(search.filter, parse_filter(filter, run_filter_rules()));
  TAKT_ASSIGN(search.order, parse_order(order, run_filter_rules()));
  RunColumns columns;
  for (const std::string& column : wanted) TAKT_RETURN_IF_ERROR(add_column(columns, column));
  TAKT_ASSIGN(const RunPage page, track.search(by, search, columns, !columns.is_restricted));
  JsonWriter out;
  out.begin_object();
  if (!page.next_page_token.empty()) out.member("next_page_token", page.next_page_token);
  if (search.counts) out.member("total", page.total);
  out.key("runs").begin_array();
  for (const Run& run : page.runs) write_run(out, run);
  out.end_array().end_object();
  return json_response(out);
}

Result<std::optional<Point>> point_of_token(const std::string& token, const std::string& identity) {
  if (token.empty()) return std::nullopt;
  TAKT_ASSIGN(const Value place, read_page_token(token, identity));
  MlflowArgs args(place, "page_token");
  Point point;
  point.timestamp_ms = args.integer("t");
  point.step = args.integer("s");
  point.value = args.number("v");
  TAKT_RETURN_IF_ERROR(args.done());
  return point;
}

Result<Response> get_history(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  const RunId id = args.run_id();
  const std::string key = args.text("metric_key");
  const bool is_paged = args.has("max_results");
  std::int64_t limit = args.integer("max_results", kWholeHistoryMax);
  const std::string token = args.text("page_token", "");
  TAKT_RETURN_IF_ERROR(args.done());
  if (limit < 1) return invalid_value("max_results", limit);
  limit = std::min(limit, is_paged ? kHistoryMax : kWholeHistoryMax);
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run/" + id.value));
  const std::string identity = "history\n" + id.value + "\n" + key;
  TAKT_ASSIGN(const auto after, point_of_token(token, identity));
  TAKT_ASSIGN(const History history, track.history(by, id, key, after, limit + 1));
  JsonWriter out;
  out.begin_object().key("metrics").begin_array();
  const auto count = std::min(history.points.size(), static_cast<std::size_t>(limit));
  out.reserve(count * (key.size() + kPointBytes));
  for (std::size_t i = 0; i < count; ++i) write_point(out, id, key, history.points[i]);
  out.end_array();
  if (history.points.size() > count) {
    const Point& last = history.points[count - 1];
    Object place{{"t", last.timestamp_ms}, {"s", last.step}, {"v", mlflow_number(last.value)}};
    out.member("next_page_token", make_page_token(identity, std::move(place)));
  }
  out.end_object();
  return json_response(out);
}

Result<std::vector<std::string>> bulk_runs(MlflowArgs& args, std::string_view singular,
                                           std::string_view plural) {
  auto runs = args.texts(singular);
  if (runs.empty()) runs = args.texts(plural);
  TAKT_RETURN_IF_ERROR(args.done());
  if (runs.empty())
    return fail(Code::kInvalid, "GetMetricHistoryBulk request must specify at least one run_id.",
                {}, std::string(singular));
  if (runs.size() > kBulkRunsMax)
    return fail(Code::kInvalid,
                "GetMetricHistoryBulk request cannot specify more than " +
                    std::to_string(kBulkRunsMax) + " run_ids. Received " +
                    std::to_string(runs.size()) + " run_ids.",
                {}, std::string(singular));
  return runs;
}

Result<Response> get_history_bulk(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run"));
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  TAKT_ASSIGN(auto runs, bulk_runs(args, "run_id", "run_ids"));
  std::ranges::sort(runs);
  const std::string key = args.text("metric_key");
  std::int64_t left =
      std::clamp<std::int64_t>(args.integer("max_results", kHistoryMax), 1, kHistoryMax);
  TAKT_RETURN_IF_ERROR(args.done());
  JsonWriter out;
  out.begin_object().key("metrics").begin_array();
  for (const std::string& run : runs) {
    if (left <= 0) break;
    TAKT_ASSIGN(const History history, track.history(by, RunId{run}, key, std::nullopt, left));
    for (const Point& point : history.points) write_point(out, RunId{run}, key, point);
    left -= static_cast<std::int64_t>(history.points.size());
  }
  out.end_array().end_object();
  return json_response(out);
}

/// Each run gives its points within the steps, thinned to max_results; runs as they were named.
Result<Response> get_history_bulk_interval(TrackService& track, access::Policy& policy,
                                           Request& request) {
  constexpr std::int64_t kPerRunMax = 2500;
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run"));
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  TAKT_ASSIGN(const auto runs, bulk_runs(args, "run_ids", "run_id"));
  const std::string key = args.text("metric_key");
  const std::int64_t max = args.integer("max_results", kPerRunMax);
  const std::int64_t from = args.integer("start_step", INT64_MIN);
  const std::int64_t to = args.integer("end_step", INT64_MAX);
  TAKT_RETURN_IF_ERROR(args.done());
  if (max < 1 || max > kPerRunMax)
    return fail(Code::kInvalid,
                "max_results must be between 1 and " + std::to_string(kPerRunMax) + ".", {},
                "max_results");
  if (args.has("start_step") != args.has("end_step"))
    return fail(Code::kInvalid,
                "If either start step or end step are specified, both must be specified.");
  if (from > to)
    return fail(Code::kInvalid, "end_step must be greater than start_step. Found start_step=" +
                                    std::to_string(from) + " and end_step=" + std::to_string(to) +
                                    ".");
  JsonWriter out;
  out.begin_object().key("metrics").begin_array();
  for (const std::string& run : runs) {
    TAKT_ASSIGN(const ThinHistory history,
                track.thin_history(by, RunId{run}, key, {from, to}, static_cast<std::size_t>(max)));
    for (const Point& point : history.points) write_point(out, RunId{run}, key, point);
  }
  out.end_array().end_object();
  return json_response(out);
}

}  // namespace

void register_mlflow_searches(net::Router& router, TrackService& t, access::Policy& p) {
  add_mlflow_route(router, Method::kPost, "runs/search",
                   [&](Request& r) { return search_mlflow_runs(t, p, r); });
  add_mlflow_route(router, Method::kGet, "metrics/get-history",
                   [&](Request& r) { return get_history(t, p, r); });
  add_mlflow_route(router, Method::kGet, "metrics/get-history-bulk",
                   [&](Request& r) { return get_history_bulk(t, p, r); });
  add_mlflow_route(router, Method::kGet, "metrics/get-history-bulk-interval",
                   [&](Request& r) { return get_history_bulk_interval(t, p, r); });
}

}  // namespace takt::track
