// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/plan.h"

#include <algorithm>

namespace takt::pipelines {
namespace {

std::optional<Decision> decide_pending(const NodeSpec& spec, const PipelineRun& run) {
  bool is_ready = true;
  for (const std::string& need : spec.needs) {
    const Node* upstream = run.find(need);
    if (upstream == nullptr || !is_final(upstream->state)) {
      is_ready = false;
      continue;
    }
    if (!is_good(upstream->state))
      return Decision{
          Decision::Kind::kSkip, spec.name,
          "needs " + need + ", which is " + std::string(node_state_name(upstream->state))};
  }
  if (!is_ready) return std::nullopt;
  return Decision{Decision::Kind::kPrepare, spec.name, ""};
}

RunEnd end_of(const PipelineRun& run) {
  const auto first = [&](std::initializer_list<NodeState> states) -> const Node* {
    const auto found = std::ranges::find_if(run.nodes, [&](const Node& node) {
      return std::ranges::find(states, node.state) != states.end();
    });
    return found == run.nodes.end() ? nullptr : &*found;
  };
  if (const Node* node = first({NodeState::kFailed}))
    return {RunState::kFailed, node->name + ": " + node->reason};
  if (const Node* node = first({NodeState::kCancelled}))
    return {RunState::kCancelled, node->reason};
  if (const Node* node = first({NodeState::kStopped, NodeState::kRejected}))
    return {RunState::kStopped, node->name + ": " + node->reason};
  return {RunState::kSucceeded, ""};
}

}  // namespace

RunPlan plan_run(const PipelineSpec& spec, const PipelineRun& run, UnixMs now_ms) {
  RunPlan plan;
  bool all_ended = true;
  for (const Node& node : run.nodes) {
    if (is_final(node.state)) continue;
    all_ended = false;
    if (run.is_cancel_asked) {
      plan.decisions.push_back({Decision::Kind::kCancel, node.name, "the run was cancelled"});
      continue;
    }
    if (node.state == NodeState::kRetrying && now_ms >= node.retry_ms)
      plan.decisions.push_back({Decision::Kind::kRetry, node.name, ""});
    if (node.state != NodeState::kPending) continue;
    const NodeSpec* node_spec = spec.find(node.name);
    TAKT_CHECK(node_spec != nullptr, "a run has its definition's nodes");
    if (auto decision = decide_pending(*node_spec, run))
      plan.decisions.push_back(std::move(*decision));
  }
  if (all_ended) plan.end = end_of(run);
  return plan;
}

}  // namespace takt::pipelines
