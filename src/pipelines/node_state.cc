// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/node_state.h"

#include <array>

namespace takt::pipelines {
namespace {

struct Transition {
  NodeState from;
  NodeEvent event;
  NodeState to;
};

constexpr std::array kTransitions = {
    Transition{NodeState::kPending, NodeEvent::kStarted, NodeState::kRunning},
    Transition{NodeState::kPending, NodeEvent::kFoundCached, NodeState::kCached},
    Transition{NodeState::kPending, NodeEvent::kApprovalAsked, NodeState::kWaitingApproval},
    Transition{NodeState::kPending, NodeEvent::kSkipped, NodeState::kSkipped},
    Transition{NodeState::kPending, NodeEvent::kFailed, NodeState::kFailed},
    Transition{NodeState::kPending, NodeEvent::kCancelled, NodeState::kCancelled},
    Transition{NodeState::kWaitingApproval, NodeEvent::kApproved, NodeState::kRunning},
    Transition{NodeState::kWaitingApproval, NodeEvent::kRejected, NodeState::kRejected},
    Transition{NodeState::kWaitingApproval, NodeEvent::kCancelled, NodeState::kCancelled},
    Transition{NodeState::kRunning, NodeEvent::kDone, NodeState::kDone},
    Transition{NodeState::kRunning, NodeEvent::kStopped, NodeState::kStopped},
    Transition{NodeState::kRunning, NodeEvent::kFailed, NodeState::kFailed},
    Transition{NodeState::kRunning, NodeEvent::kRetryPlanned, NodeState::kRetrying},
    Transition{NodeState::kRunning, NodeEvent::kCancelled, NodeState::kCancelled},
    Transition{NodeState::kRetrying, NodeEvent::kStarted, NodeState::kRunning},
    Transition{NodeState::kRetrying, NodeEvent::kCancelled, NodeState::kCancelled},
};

constexpr std::array<std::string_view, 11> kNodeStateNames = {
    "pending", "waiting-approval", "running",  "retrying", "done",     "cached",
    "failed",  "stopped",          "rejected", "skipped",  "cancelled"};
constexpr std::array<std::string_view, 5> kRunStateNames = {"running", "succeeded", "failed",
                                                            "stopped", "cancelled"};
constexpr std::array<std::string_view, 11> kNodeEventNames = {
    "started", "found cached", "approval asked", "approved", "rejected", "done",
    "stopped", "failed",       "retry planned",  "skipped",  "cancelled"};

template <class Enum, std::size_t N>
Result<Enum> parse_name(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return fail(Code::kInternal, "stored state '" + std::string(name) + "' is unknown");
}

}  // namespace

std::string_view node_state_name(NodeState state) {
  return kNodeStateNames[static_cast<std::size_t>(state)];
}
Result<NodeState> parse_node_state(std::string_view name) {
  return parse_name<NodeState>(kNodeStateNames, name);
}
std::string_view run_state_name(RunState state) {
  return kRunStateNames[static_cast<std::size_t>(state)];
}
Result<RunState> parse_run_state(std::string_view name) {
  return parse_name<RunState>(kRunStateNames, name);
}

Result<NodeState> next(NodeState state, NodeEvent event) {
  for (const Transition& transition : kTransitions)
    if (transition.from == state && transition.event == event) return transition.to;
  return fail(Code::kConflict, "a node that is " + std::string(node_state_name(state)) +
                                   " cannot be " +
                                   std::string(kNodeEventNames[static_cast<std::size_t>(event)]));
}

const NodeSpec* PipelineSpec::find(std::string_view node) const {
  for (const NodeSpec& spec : nodes)
    if (spec.name == node) return &spec;
  return nullptr;
}

const Node* PipelineRun::find(std::string_view name) const {
  for (const Node& node : nodes)
    if (node.name == name) return &node;
  return nullptr;
}

Node* PipelineRun::find(std::string_view name) {
  return const_cast<Node*>(std::as_const(*this).find(name));
}

bool PipelineRun::waits_for_approval() const {
  for (const Node& node : nodes)
    if (node.state == NodeState::kWaitingApproval) return true;
  return false;
}

}  // namespace takt::pipelines
