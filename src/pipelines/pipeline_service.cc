// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/pipeline_service.h"

#include <map>

#include "takt/base/digest.h"
#include "takt/pipelines/engine.h"
#include "takt/pipelines/graph.h"
#include "takt/pipelines/inputs.h"
#include "takt/pipelines/pipeline_store.h"
#include "takt/pipelines/spec.h"
#include "takt/store/lineage.h"

namespace takt::pipelines {
namespace {

/// What planning knows of a node so far: its outputs, or why they are not known yet.
struct Planned {
  PlannedNode node;
  PortValues outputs;
  bool has_outputs = false;
};

/// Looks a node's result up as a run would, without starting anything.
class Planner {
 public:
  Planner(store::Database& db, const actions::Registry& registry, const ProjectId& project,
          const Pipeline& pipeline, const PipelineSpec& spec, std::map<std::string, Value> params,
          const PipelineRun* last)
      : db_(db),
        registry_(registry),
        project_(project),
        pipeline_(pipeline),
        spec_(spec),
        params_(std::move(params)),
        last_(last) {}

  Status plan_all(const PortValues& bindings) {
    TAKT_ASSIGN(const auto order, topological_order(spec_));
    for (const std::size_t i : order) {
      TAKT_ASSIGN(planned_[spec_.nodes[i].name], plan_one(spec_.nodes[i], bindings));
    }
    return {};
  }
  std::vector<PlannedNode> result() const {
    std::vector<PlannedNode> nodes;
    for (const NodeSpec& node : spec_.nodes) nodes.push_back(planned_.at(node.name).node);
    return nodes;
  }

 private:
  Result<Planned> plan_one(const NodeSpec& node, const PortValues& bindings) {
    Planned planned;
    planned.node.name = node.name;
    for (const std::string& need : node.needs) {
      const Planned& upstream = planned_.at(need);
      if (upstream.node.verdict == Verdict::kBlocked ||
          spec_.find(need)->approval != ApprovalRule::kNone) {
        planned.node.verdict = Verdict::kBlocked;
        planned.node.reason = "until " + need + " is approved";
        return planned;
      }
    }
    if (node.approval != ApprovalRule::kNone) {
      planned.node.verdict = Verdict::kBlocked;
      planned.node.reason = node.approval == ApprovalRule::kNotSubmitter
                                ? "until an operator other than the submitter approves"
                                : "until an operator approves";
      return planned;
    }
    for (const std::string& need : node.needs)
      if (!planned_.at(need).has_outputs) {
        planned.node.reason = need + " will run first";
        return planned;
      }
    return look_up(node, bindings, std::move(planned));
  }

  Result<Planned> look_up(const NodeSpec& node, const PortValues& bindings, Planned planned) {
    TAKT_ASSIGN(const PortValues inputs, gather_inputs(node, bindings, [&](std::string_view name) {
                  const auto found = planned_.find(std::string(name));
                  return found == planned_.end() ? nullptr : &found->second.outputs;
                }));
    TAKT_ASSIGN(const auto definition, step_definition(node, params_));
    TAKT_ASSIGN(const auto ports, registry_.find_runner(node.action)->describe(definition));
    if (!ports.cacheable) {
      planned.node.reason = node.action + " acts on the world, it always runs";
      return planned;
    }
    const Digest key =
        cache_key(node.action, definition, inputs, pipeline_.code, pipeline_.environment);
    // A read of its own: outputs_exist reads too, and who holds one reader while waiting for
    // another may wait for ever.
    std::optional<KnownResult> known;
    TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(known, find_result(reader, project_, key));
      return {};
    }));
    const Node* before = last_ == nullptr ? nullptr : last_->find(node.name);
    if (!known || !outputs_exist(registry_, project_, known->outputs)) {
      planned.node.reason = known ? "an output of " + known->node.text() + " was removed"
                            : before == nullptr ? "it never ran"
                            : before->cache_key == key
                                ? "its last run did not succeed"
                                : "its inputs, options, code or environment changed";
      return planned;
    }
    planned.outputs = known->outputs;
    planned.has_outputs = true;
    const bool is_fresh = before != nullptr && is_good(before->state) && before->cache_key == key;
    planned.node.verdict = is_fresh ? Verdict::kFresh : Verdict::kCached;
    planned.node.reason = is_fresh
                              ? "outputs of run " + std::to_string(last_->number) + " are in place"
                              : "will be restored from " + known->node.text();
    return planned;
  }

  store::Database& db_;
  const actions::Registry& registry_;
  const ProjectId& project_;
  const Pipeline& pipeline_;
  const PipelineSpec& spec_;
  std::map<std::string, Value> params_;
  const PipelineRun* last_;
  std::map<std::string, Planned> planned_;
};

bool is_same_pipeline(const Pipeline& a, const Pipeline& b) {
  return a.digest == b.digest && a.code == b.code && a.environment == b.environment &&
         a.on_dataset == b.on_dataset && a.is_armed == b.is_armed && a.created_by == b.created_by;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFresh:
      return "fresh";
    case Verdict::kCached:
      return "cached";
    case Verdict::kWillRun:
      return "will-run";
    case Verdict::kBlocked:
      return "blocked";
  }
  return "";
}

PipelineService::PipelineService(store::Database& db, const actions::Registry& registry,
                                 access::Policy& policy)
    : db_(db), registry_(registry), policy_(policy) {}

Result<Pipeline> PipelineService::apply(const access::CanWrite& by, const ApplyPipeline& request) {
  TAKT_ASSIGN(const PipelineSpec spec, parse_pipeline(request.definition, registry_));
  const bool is_armed = request.arm.value_or(false);
  if (is_armed && spec.on_dataset.empty())
    return fail(Code::kInvalid, "pipeline '" + spec.name + "' has no trigger to arm",
                "add `on: {dataset: NAME}`", "spec.on");
  Pipeline pipeline;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    pipeline = Pipeline{};
    pipeline.name = spec.name;
    pipeline.definition = request.definition;
    pipeline.digest = sha256(dump_json(request.definition));
    pipeline.code = request.code;
    pipeline.environment = request.environment;
    pipeline.on_dataset = spec.on_dataset;
    pipeline.created_by = by.user();
    pipeline.is_armed = is_armed;
    const auto before = load_pipeline(tx, by.project(), spec.name);
    if (!request.arm) pipeline.is_armed = before && before->is_armed && !spec.on_dataset.empty();
    // Nothing new is not told: a client that repeats a call it got no answer to leaves one event.
    if (before && is_same_pipeline(*before, pipeline)) {
      pipeline = *before;
      return {};
    }
    TAKT_RETURN_IF_ERROR(store_pipeline(tx, by.project(), pipeline));
    TAKT_ASSIGN(pipeline, load_pipeline(tx, by.project(), spec.name));
    return {};
  }));
  return pipeline;
}

Result<std::vector<Pipeline>> PipelineService::list(const access::CanRead& by) {
  std::vector<Pipeline> pipelines;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(pipelines, load_pipelines(reader, by.project()));
    return {};
  }));
  return pipelines;
}

Result<Pipeline> PipelineService::get(const access::CanRead& by, std::string_view name) {
  Pipeline pipeline;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(pipeline, load_pipeline(reader, by.project(), name));
    return {};
  }));
  return pipeline;
}

Result<std::vector<PlannedNode>> PipelineService::plan(const access::CanRead& by,
                                                       std::string_view name, const Object& given) {
  TAKT_ASSIGN(const Pipeline pipeline, get(by, name));
  TAKT_ASSIGN(const PipelineSpec spec, parse_pipeline(pipeline.definition, registry_));
  TAKT_ASSIGN(const auto params, merge_params(spec, given));
  TAKT_ASSIGN(const PortValues bindings, resolve_bindings(spec, params, by.project(), registry_));
  std::optional<PipelineRun> last;
  if (pipeline.last_run > 0) {
    TAKT_ASSIGN(last, get_run(by, name, pipeline.last_run));
  }
  Planner planner(db_, registry_, by.project(), pipeline, spec, params, last ? &*last : nullptr);
  TAKT_RETURN_IF_ERROR(planner.plan_all(bindings));
  return planner.result();
}

Result<PipelineRun> PipelineService::start_run(const access::CanWrite& by, std::string_view name,
                                               const Object& given, std::string_view request_key) {
  const auto read = policy_.as_server<access::Right::kRead>(by.project(), by.user());
  TAKT_ASSIGN(const Pipeline pipeline, get(read, name));
  TAKT_ASSIGN(const PipelineSpec spec, parse_pipeline(pipeline.definition, registry_));
  PipelineRun run;
  run.project = by.project();
  run.pipeline = pipeline.name;
  run.definition = pipeline.definition;
  run.code = pipeline.code;
  run.environment = pipeline.environment;
  run.started_by = by.user();
  TAKT_ASSIGN(run.params, merge_params(spec, given));
  TAKT_ASSIGN(run.bindings, resolve_bindings(spec, run.params, run.project, registry_));
  for (const NodeSpec& node : spec.nodes) {
    run.nodes.emplace_back();
    run.nodes.back().name = node.name;
  }
  std::int64_t number = 0;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(number, insert_run(tx, run, request_key));
    return {};
  }));
  return get_run(read, name, number);
}

Result<PipelineRun> PipelineService::get_run(const access::CanRead& by, std::string_view name,
                                             std::int64_t number) {
  PipelineRun run;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    if (number == 0) {
      TAKT_ASSIGN(const Pipeline pipeline, load_pipeline(reader, by.project(), name));
      number = pipeline.last_run;
    }
    TAKT_ASSIGN(run, load_run(reader, by.project(), name, number));
    return {};
  }));
  return run;
}

Result<std::vector<PipelineRun>> PipelineService::list_runs(const access::CanRead& by,
                                                            std::string_view name,
                                                            std::int64_t before, int limit) {
  std::vector<PipelineRun> runs;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_RETURN_IF_ERROR(load_pipeline(reader, by.project(), name));
    TAKT_ASSIGN(runs, load_runs(reader, by.project(), name, before, limit, true));
    return {};
  }));
  return runs;
}

Result<PipelineRun> PipelineService::cancel(const access::CanWrite& by, std::string_view name,
                                            std::int64_t number) {
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const PipelineRun run, load_run(tx, by.project(), name, number));
    if (run.is_cancel_asked) return {};
    return ask_cancel(tx, run, by.user());
  }));
  return get_run(policy_.as_server<access::Right::kRead>(by.project(), by.user()), name, number);
}

Result<PipelineRun> PipelineService::approve(const access::CanOperate& by, std::string_view name,
                                             std::int64_t number, std::string_view node,
                                             std::string note) {
  return decide(by, name, number, node, std::move(note), true);
}

Result<PipelineRun> PipelineService::reject(const access::CanOperate& by, std::string_view name,
                                            std::int64_t number, std::string_view node,
                                            std::string note) {
  return decide(by, name, number, node, std::move(note), false);
}

Result<PipelineRun> PipelineService::decide(const access::CanOperate& by, std::string_view name,
                                            std::int64_t number, std::string_view node_name,
                                            std::string note, bool is_approval) {
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const PipelineRun run, load_run(tx, by.project(), name, number));
    const Node* found = run.find(node_name);
    if (found == nullptr)
      return fail(Code::kNotFound,
                  "run " + run.ref().path + " has no node '" + std::string(node_name) + "'");
    TAKT_ASSIGN(const PipelineSpec spec, parse_pipeline(run.definition, registry_));
    const bool by_submitter = by.user() == run.started_by;
    if (spec.find(node_name)->approval == ApprovalRule::kNotSubmitter && by_submitter)
      return fail(Code::kDenied,
                  "node " + found->name + " must be decided by someone other than " +
                      run.started_by.value + ", who started the run",
                  "ask another operator");
    // The same decision by the same person again: a client that did not get the first reply.
    const bool is_repeat =
        found->approver == by.user() && (found->state == NodeState::kRejected) != is_approval;
    if (is_repeat) return {};
    if (found->state != NodeState::kWaitingApproval)
      return fail(Code::kConflict, "node " + found->name + " of " + run.ref().path + " is " +
                                       std::string(node_state_name(found->state)) +
                                       ", it waits for no decision");
    Node node = *found;
    node.approver = by.user();
    node.note = note;
    node.reason =
        is_approval ? "" : "rejected by " + by.user().value + (note.empty() ? "" : ": " + note);
    TAKT_RETURN_IF_ERROR(move_node(tx, run, NodeState::kWaitingApproval, node,
                                   is_approval ? NodeEvent::kApproved : NodeEvent::kRejected,
                                   by.user()));
    return {};
  }));
  return get_run(policy_.as_server<access::Right::kRead>(by.project(), by.user()), name, number);
}

}  // namespace takt::pipelines
