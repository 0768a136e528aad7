// SPDX-License-Identifier: Apache-2.0
// GET /api/v1/curves: one metric of many runs, to draw.
#include "takt/track/mlflow_request.h"
#include "takt/track/routes.h"

namespace takt::track {
namespace {

using access::Right;
using net::Request;
using net::Response;

constexpr std::size_t kCurveRunsMax = 100;
constexpr std::int64_t kStretchesMax = 5000;

Result<CurveQuery> query_of(const Request& request) {
  CurveQuery query;
  query.key = request.query_param("key");
  if (query.key.empty()) return fail(Code::kInvalid, "no metric is named", "give ?key=NAME", "key");
  const std::string_view axis = request.query_param("x");
  if (axis != "" && axis != "step" && axis != "time")
    return fail(Code::kInvalid, "x is '" + std::string(axis) + "'", "use step or time", "x");
  query.axis = axis == "time" ? CurveAxis::kTime : CurveAxis::kStep;
  TAKT_ASSIGN(query.range.from,
              request.query_integer("from", query.range.from, INT64_MIN, INT64_MAX));
  TAKT_ASSIGN(query.range.to, request.query_integer("to", query.range.to, INT64_MIN, INT64_MAX));
  TAKT_ASSIGN(const std::int64_t stretches,
              request.query_integer("buckets", 500, 1, kStretchesMax));
  query.stretches_max = static_cast<std::size_t>(stretches);
  return query;
}

/// Columns side by side: a third of the bytes of one object per bucket.
Value json_of(const Curve& curve, CurveAxis axis) {
  Array x, counts, low, high, last;
  for (const Stretch& stretch : curve.stretches) {
    x.push_back(axis == CurveAxis::kTime ? stretch.last.timestamp_ms : stretch.last.step);
    counts.push_back(stretch.count);
    low.push_back(mlflow_number(stretch.low.value));
    high.push_back(mlflow_number(stretch.high.value));
    last.push_back(mlflow_number(stretch.last.value));
  }
  const bool is_thinned = curve.looked > static_cast<std::int64_t>(curve.stretches.size());
  return Object{{"run", curve.run.value}, {"total", curve.total},       {"is_thinned", is_thinned},
                {"x", std::move(x)},      {"count", std::move(counts)}, {"min", std::move(low)},
                {"max", std::move(high)}, {"last", std::move(last)}};
}

Result<Response> get_curves(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run"));
  TAKT_ASSIGN(const CurveQuery query, query_of(request));
  std::vector<RunId> runs;
  for (const std::string& run : request.query_params("run")) runs.push_back(RunId{run});
  if (runs.empty() || runs.size() > kCurveRunsMax)
    return fail(Code::kInvalid, "curves of " + std::to_string(runs.size()) + " runs are asked for",
                "name 1 to " + std::to_string(kCurveRunsMax) + " runs, ?run=ID&run=ID", "run");
  TAKT_ASSIGN(const auto curves, track.curves(by, runs, query));
  Array items;
  for (const Curve& curve : curves) items.push_back(json_of(curve, query.axis));
  return Response::json(Object{{"key", query.key},
                               {"axis", query.axis == CurveAxis::kTime ? "time" : "step"},
                               {"items", std::move(items)}});
}

}  // namespace

void register_curve_routes(net::Router& router, TrackService& track, access::Policy& policy) {
  router.add(net::Method::kGet, "/api/v1/curves",
             [&track, &policy](Request& request) { return get_curves(track, policy, request); });
}

}  // namespace takt::track
