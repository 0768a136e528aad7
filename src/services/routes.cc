// SPDX-License-Identifier: Apache-2.0
#include "takt/services/routes.h"

#include <functional>

#include "takt/base/units.h"

namespace takt::services {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

constexpr std::int64_t kRangeMsMin = 10'000;

std::string subject_of(const Request& request) {
  return service_ref(request.path_param("name")).text();
}

/// 5, not 5.0: people see it.
Value share_value(double share) {
  const auto whole = static_cast<std::int64_t>(share);
  return static_cast<double>(whole) == share ? Value(whole) : Value(share);
}

Value json_of(const ServiceStatus& status, const RevisionStatus& revision) {
  const RevisionRow& row = revision.row;
  return Object{{"number", row.number},
                {"ref", revision_ref(row.service, row.number).text()},
                {"model", row.model.text()},
                {"state", revision_state_name(row.state)},
                {"share", share_value(share_of(status.row, row.number))},
                {"replicas", row.spec.replicas},
                {"ready_replicas", revision.ready_replicas},
                {"reason", revision.reason},
                {"created_at", format_time(row.created_ms)},
                {"created_by", row.created_by.value},
                {"role", role_of(status.row, row.number)}};
}

Value json_of(const ServiceStatus& status, const LiveReplica& replica) {
  Object object{{"name", status.row.name + "-r" + std::to_string(replica.revision) + "-" +
                             std::to_string(replica.slot)},
                {"revision", replica.revision},
                {"index", replica.slot},
                {"job", replica.job.value},
                {"state", replica.state},
                {"endpoint", replica.endpoint},
                {"restarts", replica.restarts},
                {"reason", replica.reason}};
  if (replica.started_ms > 0) object["started_at"] = format_time(replica.started_ms);
  return object;
}

Value json_of(const DecisionRow& decision) {
  return Object{{"at", format_time(decision.time_ms)},
                {"by", decision.actor.value},
                {"verb", decision.verb},
                {"text", decision.text}};
}

template <class T, class Make>
Array array_of(const std::vector<T>& items, Make make) {
  Array array;
  for (const T& item : items) array.push_back(make(item));
  return array;
}

Value json_of(const ServiceStatus& status, bool with_replicas) {
  const RevisionStatus* main = status.main();
  Object object{
      {"name", status.row.name},
      {"state", status.state},
      {"reason", status.reason},
      {"warnings", array_of(status.warnings, [](const std::string& text) { return Value(text); })},
      {"model", main == nullptr ? "" : main->row.model.text()},
      {"replicas_wanted", main == nullptr ? 0 : main->row.spec.replicas},
      {"spec", main == nullptr ? Value(Object{{"model", ""}}) : to_value(main->row.spec)},
      {"revisions",
       array_of(status.revisions, [&](const RevisionStatus& one) { return json_of(status, one); })},
      {"updated_at", format_time(status.row.updated_ms)},
      {"created_by", status.row.created_by.value},
      {"decisions",
       array_of(status.decisions, [](const DecisionRow& one) { return json_of(one); })}};
  if (with_replicas)
    object["replicas"] =
        array_of(status.replicas, [&](const LiveReplica& one) { return json_of(status, one); });
  if (!status.http.empty())
    object["url"] = "http://" + status.http + "/v2/models/" + status.row.name + "/infer";
  if (!status.grpc.empty()) object["grpc"] = status.grpc;
  const bool has_canary =
      status.row.candidate != 0 && !status.row.is_rollout && !status.row.is_stopped;
  if (has_canary)
    object["canary"] = Object{{"revision", status.row.candidate},
                              {"share", share_value(status.row.share)},
                              {"started_at", format_time(status.row.candidate_ms)}};
  return object;
}

Response one(const ServiceStatus& status) { return Response::json(json_of(status, true)); }

Value number_or_null(const std::optional<double>& number) {
  return number ? Value(*number) : Value();
}

Object counts_of(const TrafficPoint& point) {
  return Object{{"requests", point.requests},
                {"errors", point.errors},
                {"p50_ms", number_or_null(point.p50_ms)},
                {"p99_ms", number_or_null(point.p99_ms)}};
}

Value json_of(const RevisionTraffic& traffic) {
  Array points;
  for (const TrafficPoint& point : traffic.points) {
    Object object = counts_of(point);
    object["at"] = format_time(point.at_ms);
    points.push_back(std::move(object));
  }
  return Object{{"number", traffic.revision},
                {"points", std::move(points)},
                {"totals", counts_of(traffic.totals)}};
}

Result<double> share_field(Fields& fields) {
  if (!fields.has("share"))
    fields.reject("share", "required", "the canary's per cent of the requests, 0 to 100");
  const double share = fields.number("share", 0);
  if (!(share >= 0 && share <= 100)) fields.reject("share", "must be 0 to 100");
  return share;
}

Result<Response> list_all(ServiceDesk& desk, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "services"));
  TAKT_ASSIGN(const auto services, desk.list(by));
  return Response::json(Object{{"items", array_of(services, [](const ServiceStatus& status) {
                                  return json_of(status, false);
                                })}});
}

Result<Response> apply_document(ServiceDesk& desk, access::Policy& policy, Request& request) {
  // A deployment may move all traffic.
  TAKT_ASSIGN(const auto by, policy.check<Right::kOperate>(request.caller, "services"));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::string kind = fields.text("kind");
  const std::string name = fields.text("name");
  const Value spec_value = fields.object("spec");
  if (!kind.empty() && kind != "Service")
    fields.reject("kind", "must be Service, got '" + kind + "'");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const ServiceSpec spec, parse_service_spec(spec_value));
  TAKT_ASSIGN(const ServiceStatus status, desk.apply(by, name, spec));
  return one(status);
}

Result<Response> get_one(ServiceDesk& desk, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, subject_of(request)));
  TAKT_ASSIGN(const ServiceStatus status, desk.get(by, request.path_param("name")));
  return one(status);
}

Result<Response> get_metrics(ServiceDesk& desk, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, subject_of(request)));
  const std::string_view text = request.query_param("range");
  TAKT_ASSIGN(const std::int64_t range_ms,
              parse_duration_ms(text.empty() ? "30m" : text).transform_error([](Error error) {
                return std::move(error).with_field("range");
              }));
  TAKT_ASSIGN(const auto traffic,
              desk.traffic(by, request.path_param("name"), std::max(range_ms, kRangeMsMin)));
  return Response::json(Object{
      {"bucket_ms", kBucketMs},
      {"revisions", array_of(traffic, [](const RevisionTraffic& item) { return json_of(item); })}});
}

Result<Response> start_canary(ServiceDesk& desk, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kOperate>(request.caller, subject_of(request)));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  CanaryWish wish;
  wish.service = request.path_param("name");
  wish.model = fields.text("model");
  TAKT_ASSIGN(wish.share, share_field(fields));
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const ServiceStatus status, desk.start_canary(by, wish));
  return one(status);
}

Result<Response> set_traffic(ServiceDesk& desk, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kOperate>(request.caller, subject_of(request)));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  TAKT_ASSIGN(const double share, share_field(fields));
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const ServiceStatus status, desk.set_share(by, request.path_param("name"), share));
  return one(status);
}

using Verb = std::function<Result<ServiceStatus>(const access::CanOperate&, std::string_view)>;

net::Handler act(access::Policy& policy, Verb verb) {
  return [&policy, verb = std::move(verb)](Request& request) -> Result<Response> {
    TAKT_ASSIGN(const auto by, policy.check<Right::kOperate>(request.caller, subject_of(request)));
    TAKT_ASSIGN(const ServiceStatus status, verb(by, request.path_param("name")));
    return one(status);
  };
}

}  // namespace

void register_routes(net::Router& router, Station& station, access::Policy& policy) {
  ServiceDesk& desk = station.desk();
  const std::string all = "/api/v1/services";
  const std::string named = all + "/{name}";
  using By = const access::CanOperate&;
  router.add(Method::kGet, all, [&](Request& r) { return list_all(desk, policy, r); });
  router.add(Method::kPost, all, [&](Request& r) { return apply_document(desk, policy, r); });
  router.add(Method::kGet, named, [&](Request& r) { return get_one(desk, policy, r); });
  router.add(Method::kGet, named + "/metrics",
             [&](Request& r) { return get_metrics(desk, policy, r); });
  router.add(Method::kPost, named + "/canary",
             [&](Request& r) { return start_canary(desk, policy, r); });
  router.add(Method::kPatch, named + "/traffic",
             [&](Request& r) { return set_traffic(desk, policy, r); });
  router.add(Method::kPost, named + "/promote",
             act(policy, [&](By by, std::string_view name) { return desk.promote(by, name); }));
  router.add(Method::kPost, named + "/abort",
             act(policy, [&](By by, std::string_view name) { return desk.abort(by, name); }));
  router.add(Method::kPost, named + "/rollback",
             act(policy, [&](By by, std::string_view name) { return desk.roll_back(by, name); }));
  router.add(Method::kPost, named + "/stop",
             act(policy, [&](By by, std::string_view name) { return desk.stop(by, name); }));
}

}  // namespace takt::services
