// SPDX-License-Identifier: Apache-2.0
// Moves every open run forward. The one thread that starts, polls and ends nodes.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "takt/actions/step.h"
#include "takt/base/clock.h"
#include "takt/pipelines/node_state.h"
#include "takt/pipelines/pipeline.h"
#include "takt/pipelines/plan.h"
#include "takt/store/database.h"
#include "takt/store/event_log.h"

namespace takt::pipelines {

/// Owner thread. Derives all it does from stored state: what a running node's runner was told is
/// told again after a restart, and runners find what they made before (StepRunner's contract).
class Engine {
 public:
  Engine(store::Database& db, const actions::Registry& registry);
  ~Engine();
  void start();
  /// Something was committed. Any thread.
  void wake();
  void stop();
  /// One pass over triggers and open runs; what the thread does each time. For tests.
  Status step();

 private:
  void run();
  Status fire_triggers();
  Status collect_due(const store::Event& event,
                     std::vector<std::pair<PipelineRun, std::int64_t>>& due);
  Status advance(PipelineRun& run);
  Status act(PipelineRun& run, const PipelineSpec& spec, const Decision& decision);
  Status prepare(PipelineRun& run, const PipelineSpec& spec, const NodeSpec& node_spec, Node& node);
  Status fail_node(const PipelineRun& run, Node node, const Error& error);
  Status cancel_node(const PipelineRun& run, const PipelineSpec& spec, Node& node);
  Status poll(PipelineRun& run, const PipelineSpec& spec, Node& node);
  Status take_progress(const PipelineRun& run, const NodeSpec& spec, Node node,
                       const actions::StepProgress& progress);
  Result<actions::StepRequest> request_of(const PipelineRun& run, const NodeSpec& spec,
                                          const Node& node) const;
  Status move(const PipelineRun& run, Node& node, NodeEvent event);
  const PipelineSpec* spec_of(const PipelineRun& run);

  store::Database& db_;
  const actions::Registry& registry_;
  std::set<std::string> told_;  // nodes and attempts whose runner was started by this process
  std::map<std::string, PipelineSpec> specs_;  // of open runs, by run
  bool has_running_ = false;
  std::mutex mutex_;  // guards the two below
  std::condition_variable wake_;
  bool is_woken_ = true;
  bool is_stopping_ = false;
  std::thread thread_;
};

/// Are the outputs of an earlier result still there? (A dataset version may have been removed.)
bool outputs_exist(const actions::Registry& registry, const ProjectId& project,
                   const PortValues& outputs);

}  // namespace takt::pipelines
