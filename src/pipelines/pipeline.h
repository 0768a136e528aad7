// SPDX-License-Identifier: Apache-2.0
// Pipelines, their runs and nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "takt/actions/step.h"
#include "takt/base/clock.h"
#include "takt/base/ids.h"
#include "takt/base/value.h"

namespace takt::pipelines {

enum class ApprovalRule { kNone, kAnyone, kNotSubmitter };

struct NodeSpec {
  std::string name;
  std::string action;              // "job" when the node has `job:`
  Value with;                      // as written: options, or the job's spec with params and outputs
  std::vector<std::string> needs;  // written ones and those that inputs refer to, without repeats
  std::map<std::string, Value>
      inputs;  // as written: a reference, ${params.x} or ${nodes.n.outputs.o}
  std::map<std::string, actions::Port> outputs;
  ApprovalRule approval = ApprovalRule::kNone;
  std::string question;  // of the approval
  int retries_max = 0;
  std::int64_t retry_backoff_ms = 1000;
};

/// A definition, checked: names exist, ports fit, no cycle.
struct PipelineSpec {
  std::string name;
  std::string on_dataset;               // `on: {dataset: NAME}`; empty: none
  std::map<std::string, Value> params;  // defaults
  std::vector<NodeSpec> nodes;          // as written
  const NodeSpec* find(std::string_view node) const;
};

struct Pipeline {
  std::string name;
  Value definition;          // the document
  Digest digest;             // of the definition's canonical text
  Digest code, environment;  // empty: none
  bool is_armed = false;
  std::string on_dataset;
  UserId created_by;
  UnixMs updated_ms = 0;
  std::int64_t last_run = 0;
};

// A node's life; `next` in node_state.h is the table.
enum class NodeState {
  kPending,
  kWaitingApproval,
  kRunning,
  kRetrying,
  kDone,
  kCached,
  kFailed,
  kStopped,
  kRejected,
  kSkipped,
  kCancelled
};
inline bool is_final(NodeState state) { return state >= NodeState::kDone; }
inline bool is_good(NodeState state) {
  return state == NodeState::kDone || state == NodeState::kCached;
}
std::string_view node_state_name(NodeState state);
Result<NodeState> parse_node_state(std::string_view name);

enum class RunState { kRunning, kSucceeded, kFailed, kStopped, kCancelled };
inline bool is_final(RunState state) { return state != RunState::kRunning; }
std::string_view run_state_name(RunState state);
Result<RunState> parse_run_state(std::string_view name);

using PortValues = std::map<std::string, actions::PortValue>;

struct Node {
  std::string name;
  NodeState state = NodeState::kPending;
  int attempt = 0;
  std::string reason;
  PortValues inputs;   // filled when it becomes ready
  PortValues outputs;  // when done
  Digest cache_key;
  Ref work;
  UserId approver;
  std::string note;  // of who approved or rejected
  UnixMs asked_ms = 0, retry_ms = 0, started_ms = 0, ended_ms = 0;
};

struct PipelineRun {
  ProjectId project;
  std::string pipeline;
  std::int64_t number = 0;
  RunState state = RunState::kRunning;
  std::string reason;
  Value definition;
  Digest code, environment;
  std::map<std::string, Value> params;
  PortValues
      bindings;  // references in inputs, resolved when the run was made: "node.input" -> value
  std::string trigger = "manual";
  UserId started_by;
  bool is_cancel_asked = false;
  UnixMs started_ms = 0, ended_ms = 0;
  std::int64_t version = 0;  // grows with each stored change of the run or a node
  std::vector<Node> nodes;   // in definition order

  Ref ref() const { return {"pipeline-run", pipeline + "/" + std::to_string(number)}; }
  Ref node_ref(std::string_view node) const {
    return {"node", pipeline + "/" + std::to_string(number) + "/" + std::string(node)};
  }
  Node* find(std::string_view node);
  const Node* find(std::string_view node) const;
  bool waits_for_approval() const;
};

}  // namespace takt::pipelines
