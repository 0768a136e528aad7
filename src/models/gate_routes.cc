// SPDX-License-Identifier: Apache-2.0
// takt's own routes of the gate: rules, checks, approvals, measurements, reports, rollback.
#include <algorithm>

#include "takt/models/checks.h"
#include "takt/models/gate.h"
#include "takt/models/routes.h"
#include "takt/track/mlflow_request.h"

namespace takt::models {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

struct GateRoutes {
  ModelGate gate;
  access::Policy& policy;
};

Value rules_value(std::string_view model, const StoredRules& stored) {
  Object object{{"model", model}, {"rules", to_value(stored.rules)}};
  if (stored.updated_ms > 0) {
    object["updated_by"] = stored.updated_by.value;
    object["updated_at"] = format_time(stored.updated_ms);
  }
  return object;
}

Value result_value(const RuleResult& result) {
  Object object{{"rule", result.rule.name},
                {"kind", rule_kind_name(result.rule.kind)},
                {"verdict", verdict_name(result.verdict)},
                {"wanted", result.wanted},
                {"found", result.found}};
  if (!result.remedy.empty()) object["remedy"] = result.remedy;
  return object;
}

Value check_value(const GateCheck& check) {
  Array results;
  for (const RuleResult& result : check.results) results.push_back(result_value(result));
  Object object{{"ref", ref_of(check.candidate).text()},
                {"alias", check.alias},
                {"is_allowed", check.is_allowed},
                {"rules", std::move(results)}};
  if (check.holder != 0) object["holder"] = check.holder;
  return object;
}

Value approval_value(const Approval& approval) {
  return Object{{"alias", approval.alias},
                {"user", approval.user.value},
                {"verdict", approval.is_approval ? "approved" : "rejected"},
                {"comment", approval.comment},
                {"at", format_time(approval.time_ms)}};
}

Value measurement_value(const Measurement& measurement) {
  Object object{{"metric", measurement.metric},
                {"value", track::mlflow_number(measurement.value)},
                {"by", measurement.by.value},
                {"at", format_time(measurement.time_ms)}};
  if (!measurement.data.empty()) object["data"] = measurement.data;
  if (!measurement.source.empty()) object["source"] = measurement.source;
  return object;
}

Value move_value(const AliasMove& move) {
  Object object{{"version", move.number}, {"kind", move_kind_name(move.kind)}};
  if (!move.by.empty()) object["by"] = move.by.value;
  if (!move.reason.empty()) object["reason"] = move.reason;
  if (move.time_ms > 0) object["at"] = format_time(move.time_ms);
  return object;
}

Array texts_of(const std::vector<Ref>& refs) {
  Array texts;
  for (const Ref& ref : refs) texts.push_back(ref.text());
  return texts;
}

void put_origin(const Origin& origin, Object& object) {
  if (!origin.run.empty()) object["run"] = ref_of(origin.run).text();
  for (const auto& [key, value] :
       {std::pair{"job", origin.job}, std::pair{"code", origin.code},
        std::pair{"environment", origin.environment}, std::pair{"seed", origin.seed}})
    if (!value.empty()) object[key] = value;
  object["data"] = texts_of(origin.data);
  Object params;
  for (const auto& [key, value] : origin.params) params[key] = value;
  object["params"] = std::move(params);
}

Value evidence_value(const ModelGate::WholeEvidence& whole) {
  const Evidence& evidence = whole.evidence;
  const ModelVersion& version = evidence.version;
  Array submitters, measurements, approvals;
  for (const UserId& user : evidence.submitters) submitters.push_back(user.value);
  for (const Measurement& measurement : evidence.measurements)
    measurements.push_back(measurement_value(measurement));
  for (const Approval& approval : evidence.approvals) approvals.push_back(approval_value(approval));
  Object reports;
  for (const auto& [kind, report] : evidence.reports)
    reports[kind] = Object{
        {"report", report.report}, {"by", report.by.value}, {"at", format_time(report.time_ms)}};
  Object object{{"ref", ref_of(version.id).text()},
                {"submitters", std::move(submitters)},
                {"files", version.files},
                {"size_bytes", version.bytes},
                {"measurements", std::move(measurements)},
                {"approvals", std::move(approvals)},
                {"reports", std::move(reports)}};
  if (!version.tree.empty()) object["digest"] = version.tree.value;
  if (!whole.signature.is_null()) object["signature"] = whole.signature;
  put_origin(whole.origin, object);
  return object;
}

/// The version that the path names, by number, alias or latest.
template <Right R>
struct VersionCall {
  access::Authorized<R> by;
  ModelVersionId id;
};
template <Right R>
Result<VersionCall<R>> version_call(GateRoutes& r, const Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(auto by, r.policy.check<R>(request.caller, "model/" + name));
  TAKT_ASSIGN(const auto can_read, r.policy.check<Right::kRead>(request.caller, "model/" + name));
  TAKT_ASSIGN(const VersionSelector selector, version_of_path(request));
  TAKT_ASSIGN(const ModelVersion version, r.gate.registry().resolve(can_read, selector));
  return VersionCall<R>{std::move(by), version.id};
}

Result<Response> get_rules(GateRoutes& r, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kRead>(request.caller, "model/" + name));
  TAKT_ASSIGN(const StoredRules stored, r.gate.rules(by, name));
  return Response::json(rules_value(name, stored));
}

Result<Response> put_rules(GateRoutes& r, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kOperate>(request.caller, "rules of " + name));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const Value& asked = fields.any("rules");
  if (asked.is_null()) fields.reject("rules", "required");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const auto rules, parse_rules(asked));
  TAKT_ASSIGN(const StoredRules stored, r.gate.set_rules(by, name, rules));
  return Response::json(rules_value(name, stored));
}

Result<Response> check_version(GateRoutes& r, Request& request) {
  TAKT_ASSIGN(const auto call, version_call<Right::kRead>(r, request));
  const std::string alias(request.query_param("alias"));
  if (alias.empty()) return fail(Code::kInvalid, "alias: required", "", "alias");
  TAKT_ASSIGN(const GateCheck check, r.gate.check(call.by, call.id, alias));
  return Response::json(check_value(check));
}

Result<Response> decide_version(GateRoutes& r, Request& request) {
  TAKT_ASSIGN(const auto call, version_call<Right::kOperate>(r, request));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::string alias = fields.text("alias");
  const std::string verdict = fields.text("verdict", "approved");
  const std::string comment = fields.text("comment", "");
  if (verdict != "approved" && verdict != "rejected")
    fields.reject("verdict", "must be approved or rejected, got '" + verdict + "'");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const Approval approval,
              r.gate.decide(call.by, call.id, alias, verdict == "approved", comment));
  return Response::json(approval_value(approval), 201);
}

Result<Response> roll_back(GateRoutes& r, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kWrite>(request.caller, "model/" + name));
  std::string reason;
  if (!request.body.empty()) {
    TAKT_ASSIGN(const Value body, request.json());
    Fields fields(body, "");
    reason = fields.text("reason", "");
    TAKT_RETURN_IF_ERROR(fields.done());
  }
  TAKT_ASSIGN(const ModelVersion version,
              r.gate.roll_back(by, name, request.path_param("alias"), reason));
  return Response::json(to_value(version));
}

Result<Response> alias_history(GateRoutes& r, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kRead>(request.caller, "model/" + name));
  TAKT_ASSIGN(auto moves, r.gate.moves(by, name, request.path_param("alias")));
  std::ranges::reverse(moves);
  Array items;
  for (const AliasMove& move : moves) items.push_back(move_value(move));
  return Response::json(Object{{"items", std::move(items)}});
}

Result<Response> measure_version(GateRoutes& r, Request& request) {
  TAKT_ASSIGN(const auto call, version_call<Right::kWrite>(r, request));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  ModelGate::Measured measured;
  measured.data = fields.text("data", "");
  measured.source = fields.text("source", "");
  for (const auto& [key, value] : fields.object("metrics")) {
    if (value.is_number())
      measured.metrics[key] = value.as_number();
    else
      fields.reject("metrics", "metric '" + key + "' is no number");
  }
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_RETURN_IF_ERROR(r.gate.measure(call.by, call.id, measured));
  return Response::empty();
}

Result<Response> put_report(GateRoutes& r, Request& request) {
  TAKT_ASSIGN(const auto call, version_call<Right::kWrite>(r, request));
  TAKT_ASSIGN(const Value report, request.json());
  TAKT_RETURN_IF_ERROR(r.gate.report(call.by, call.id, request.path_param("kind"), report));
  return Response::empty();
}

Result<Response> show_evidence(GateRoutes& r, Request& request) {
  TAKT_ASSIGN(const auto call, version_call<Right::kRead>(r, request));
  TAKT_ASSIGN(const auto whole, r.gate.evidence(call.by, call.id));
  return Response::json(evidence_value(whole));
}

}  // namespace

void register_gate_routes(net::Router& router, ModelRegistry& registry, access::Policy& policy) {
  const auto routes = std::make_shared<GateRoutes>(GateRoutes{ModelGate(registry), policy});
  const auto add = [&](Method method, const std::string& pattern,
                       Result<Response> (*handler)(GateRoutes&, Request&)) {
    router.add(method, pattern,
               [routes, handler](Request& request) { return handler(*routes, request); });
  };
  const std::string model = "/api/v1/models/{name}";
  const std::string version = model + "/versions/{version}";
  const std::string alias = model + "/aliases/{alias}";
  add(Method::kGet, model + "/rules", &get_rules);
  add(Method::kPut, model + "/rules", &put_rules);
  add(Method::kGet, version + "/check", &check_version);
  add(Method::kGet, version + "/evidence", &show_evidence);
  add(Method::kPost, version + "/approvals", &decide_version);
  add(Method::kPost, version + "/measurements", &measure_version);
  add(Method::kPut, version + "/reports/{kind}", &put_report);
  add(Method::kPost, alias + "/rollback", &roll_back);
  add(Method::kGet, alias + "/history", &alias_history);
}

}  // namespace takt::models
