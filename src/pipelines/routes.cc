// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/routes.h"

#include <charconv>

#include "takt/pipelines/graph.h"
#include "takt/pipelines/inputs.h"
#include "takt/pipelines/spec.h"

namespace takt::pipelines {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

constexpr int kRunsOfPipeline = 20;

std::string state_text(const PipelineRun& run) {
  return run.waits_for_approval() ? "waiting-approval" : std::string(run_state_name(run.state));
}

Value json_of(const Pipeline& pipeline, const std::vector<PipelineRun>& runs) {
  Array last;
  for (const PipelineRun& run : runs) {
    Object one{{"number", run.number},
               {"state", state_text(run)},
               {"started_at", format_time(run.started_ms)}};
    if (run.ended_ms != 0) one["ended_at"] = format_time(run.ended_ms);
    last.push_back(std::move(one));
  }
  Object object{{"name", pipeline.name},
                {"definition", pipeline.definition},
                {"digest", pipeline.digest.value},
                {"armed", pipeline.is_armed},
                {"created_by", pipeline.created_by.value},
                {"updated_at", format_time(pipeline.updated_ms)},
                {"last_run", pipeline.last_run},
                {"runs", std::move(last)}};
  if (!pipeline.code.empty()) object["code"] = pipeline.code.value;
  if (!pipeline.environment.empty()) object["environment"] = pipeline.environment.value;
  if (!pipeline.on_dataset.empty()) object["on_dataset"] = pipeline.on_dataset;
  return object;
}

Value json_of(const Node& node, const NodeSpec& spec, const Place& place) {
  Array needs;
  for (const std::string& need : spec.needs) needs.push_back(need);
  Object object{{"name", node.name},
                {"action", spec.action},
                {"state", node_state_name(node.state)},
                {"reason", node.reason},
                {"attempt", node.attempt},
                {"inputs", to_value(node.inputs)},
                {"outputs", to_value(node.outputs)},
                {"needs", std::move(needs)},
                {"x", place.x},
                {"y", place.y}};
  if (node.started_ms != 0) object["started_at"] = format_time(node.started_ms);
  if (node.ended_ms != 0) object["ended_at"] = format_time(node.ended_ms);
  if (!node.work.kind.empty()) object["work"] = node.work.text();
  if (spec.approval == ApprovalRule::kNone) return object;
  Object approve{{"by", spec.approval == ApprovalRule::kNotSubmitter ? "not-submitter" : "anyone"},
                 {"question", spec.question.empty() ? "Run " + node.name + "?" : spec.question}};
  if (node.asked_ms != 0) approve["asked_at"] = format_time(node.asked_ms);
  if (!node.approver.empty()) {
    approve["approver"] = node.approver.value;
    approve["note"] = node.note;
  }
  object["approve"] = std::move(approve);
  return object;
}

Object head_of(const PipelineRun& run) {
  Object params;
  for (const auto& [name, value] : run.params) params[name] = value;
  Object object{{"pipeline", run.pipeline},
                {"number", run.number},
                {"ref", run.ref().text()},
                {"state", state_text(run)},
                {"reason", run.reason},
                {"started_by", run.started_by.value},
                {"started_at", format_time(run.started_ms)},
                {"params", std::move(params)},
                {"trigger", run.trigger}};
  if (run.ended_ms != 0) object["ended_at"] = format_time(run.ended_ms);
  if (!run.code.empty()) object["code"] = run.code.value;
  if (!run.environment.empty()) object["environment"] = run.environment.value;
  return object;
}

Result<Value> json_of(const PipelineRun& run, const actions::Registry& registry) {
  Object object = head_of(run);
  TAKT_ASSIGN(const PipelineSpec spec, parse_pipeline(run.definition, registry));
  const std::vector<Place> places = layout(spec);
  Array nodes, edges;
  for (std::size_t i = 0; i < run.nodes.size(); ++i)
    nodes.push_back(json_of(run.nodes[i], spec.nodes[i], places[i]));
  for (const GraphEdge& edge : edges_of(spec))
    edges.push_back(Object{{"from", edge.from}, {"to", edge.to}, {"label", edge.label}});
  object["nodes"] = std::move(nodes);
  object["edges"] = std::move(edges);
  return Value(std::move(object));
}

Result<std::int64_t> number_param(const Request& request) {
  const std::string& text = request.path_param("number");
  if (text == "latest") return 0;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    return fail(Code::kInvalid, "'" + text + "' is no run number", "use 1, 2, 3 … or latest",
                "number");
  return number;
}

Result<Response> run_response(const PipelineService& pipelines, const PipelineRun& run,
                              int status = 200) {
  TAKT_ASSIGN(const Value body, json_of(run, pipelines.registry()));
  return Response::json(body, status);
}

Result<Digest> digest_field(Fields& fields, std::string_view key) {
  const std::string text = fields.text(key, "");
  if (!text.empty() && !is_digest(text)) fields.reject(key, "'" + text + "' is no SHA-256 digest");
  return Digest{text};
}

Result<Response> apply(PipelineService& pipelines, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "pipeline"));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  ApplyPipeline wanted;
  wanted.definition = Value(fields.object("definition"));
  TAKT_ASSIGN(wanted.code, digest_field(fields, "code"));
  TAKT_ASSIGN(wanted.environment, digest_field(fields, "environment"));
  if (fields.has("arm"))
    wanted.arm = fields.boolean("arm", false);
  else
    fields.any("arm");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const Pipeline pipeline, pipelines.apply(by, wanted));
  return Response::json(json_of(pipeline, {}));
}

Result<Response> get_one(PipelineService& pipelines, access::Policy& policy, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "pipeline/" + name));
  TAKT_ASSIGN(const Pipeline pipeline, pipelines.get(by, name));
  TAKT_ASSIGN(const auto runs, pipelines.list_runs(by, name, 0, kRunsOfPipeline));
  return Response::json(json_of(pipeline, runs));
}

Result<Response> list(PipelineService& pipelines, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "pipeline"));
  TAKT_ASSIGN(const auto all, pipelines.list(by));
  Array items;
  for (const Pipeline& pipeline : all) {
    TAKT_ASSIGN(const auto runs, pipelines.list_runs(by, pipeline.name, 0, kRunsOfPipeline));
    items.push_back(json_of(pipeline, runs));
  }
  return Response::json(Object{{"items", std::move(items)}});
}

struct RunBody {
  Object params;
  std::string request_key;
};
Result<RunBody> run_body(const Request& request) {
  RunBody wanted;
  if (request.body.empty()) return wanted;
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  wanted.params = fields.object("params");
  wanted.request_key = fields.text("request_key", "");
  TAKT_RETURN_IF_ERROR(fields.done());
  return wanted;
}

Result<Response> plan(PipelineService& pipelines, access::Policy& policy, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "pipeline/" + name));
  TAKT_ASSIGN(const RunBody wanted, run_body(request));
  TAKT_ASSIGN(const auto planned, pipelines.plan(by, name, wanted.params));
  Array nodes;
  for (const PlannedNode& node : planned)
    nodes.push_back(Object{
        {"name", node.name}, {"verdict", verdict_name(node.verdict)}, {"reason", node.reason}});
  return Response::json(
      Object{{"pipeline", name}, {"params", wanted.params}, {"nodes", std::move(nodes)}});
}

Result<Response> start_run(PipelineService& pipelines, access::Policy& policy, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "pipeline/" + name));
  TAKT_ASSIGN(const RunBody wanted, run_body(request));
  TAKT_ASSIGN(const PipelineRun run,
              pipelines.start_run(by, name, wanted.params, wanted.request_key));
  return run_response(pipelines, run, 201);
}

Result<Response> list_runs(PipelineService& pipelines, access::Policy& policy, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "pipeline/" + name));
  TAKT_ASSIGN(const std::int64_t before, request.query_integer("before", 0, 0, INT64_MAX));
  TAKT_ASSIGN(const std::int64_t limit, request.query_integer("limit", 50, 1, 200));
  TAKT_ASSIGN(const auto runs, pipelines.list_runs(by, name, before, static_cast<int>(limit)));
  Array items;
  for (const PipelineRun& run : runs) items.push_back(head_of(run));
  Object body{{"items", std::move(items)}};
  if (static_cast<std::int64_t>(runs.size()) == limit)
    body["next_page_token"] = std::to_string(runs.back().number);
  return Response::json(std::move(body));
}

Result<Response> decide(PipelineService& pipelines, access::Policy& policy, Request& request,
                        bool is_approval) {
  const std::string& name = request.path_param("name");
  const std::string& node = request.path_param("node");
  TAKT_ASSIGN(const auto by,
              policy.check<Right::kOperate>(request.caller, "approving node " + node));
  TAKT_ASSIGN(const std::int64_t number, number_param(request));
  std::string note;
  if (!request.body.empty()) {
    TAKT_ASSIGN(const Value body, request.json());
    Fields fields(body, "");
    note = fields.text("note", "");
    TAKT_RETURN_IF_ERROR(fields.done());
  }
  TAKT_ASSIGN(const PipelineRun run, is_approval ? pipelines.approve(by, name, number, node, note)
                                                 : pipelines.reject(by, name, number, node, note));
  return run_response(pipelines, run);
}

}  // namespace

void register_routes(net::Router& router, PipelineService& s, access::Policy& p) {
  const std::string one = "/api/v1/pipelines/{name}";
  const std::string run = one + "/runs/{number}";
  router.add(Method::kGet, "/api/v1/pipelines", [&](Request& r) { return list(s, p, r); });
  router.add(Method::kPost, "/api/v1/pipelines", [&](Request& r) { return apply(s, p, r); });
  router.add(Method::kGet, one, [&](Request& r) { return get_one(s, p, r); });
  router.add(Method::kPost, one + "/plan", [&](Request& r) { return plan(s, p, r); });
  router.add(Method::kGet, one + "/runs", [&](Request& r) { return list_runs(s, p, r); });
  router.add(Method::kPost, one + "/runs", [&](Request& r) { return start_run(s, p, r); });
  router.add(Method::kGet, run, [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "pipeline/" + r.path_param("name")));
    TAKT_ASSIGN(const std::int64_t number, number_param(r));
    TAKT_ASSIGN(const PipelineRun found, s.get_run(by, r.path_param("name"), number));
    return run_response(s, found);
  });
  router.add(Method::kPost, run + "/cancel", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by,
                p.check<Right::kWrite>(r.caller, "pipeline/" + r.path_param("name")));
    TAKT_ASSIGN(const std::int64_t number, number_param(r));
    TAKT_ASSIGN(const PipelineRun found, s.cancel(by, r.path_param("name"), number));
    return run_response(s, found);
  });
  router.add(Method::kPost, run + "/nodes/{node}/approve",
             [&](Request& r) { return decide(s, p, r, true); });
  router.add(Method::kPost, run + "/nodes/{node}/reject",
             [&](Request& r) { return decide(s, p, r, false); });
}

}  // namespace takt::pipelines
