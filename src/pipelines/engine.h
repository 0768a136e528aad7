// SPDX-License-Identifier: Apache-2.0
// Moves every open run forward. The one thread that starts, polls and ends nodes.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "takt/actions/step.h"
#include "takt/base/clock.h"
#include "takt/pipelines/node_state.h"
#include "takt/pipelines/pipeline.h"
#include "takt/pipelines/pipeline_store.h"
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
  /// A run that has not ended, kept between passes: most commits change nothing of it.
  struct OpenRun {
    PipelineRun run;
    std::optional<PipelineSpec> spec;
    std::set<std::string> told;  // nodes and attempts whose runner was started by this process
  };

  /// An event that an armed pipeline waited for, and the run it makes or why it makes none.
  struct Triggered {
    Pipeline pipeline;
    store::Event event;
    Result<PipelineRun> run;
  };

  void run();
  Status read_log();
  Status fire_triggers(const std::vector<store::Event>& events);
  Status collect_due(const store::Event& event, std::vector<Triggered>& due);
  Result<std::vector<OpenRun*>> refresh();
  Status advance(OpenRun& open);
  Status act(OpenRun& open, const Decision& decision);
  Status prepare(OpenRun& open, const NodeSpec& node_spec, Node& node);
  Status fail_node(OpenRun& open, Node& node, const Error& error);
  Status cancel_node(OpenRun& open, Node& node);
  Status poll(OpenRun& open, Node& node);
  /// Tells people why a running node does not get on for now.
  Status note_delay(OpenRun& open, Node& node, const Error& error);
  Status take_progress(OpenRun& open, const NodeSpec& spec, Node& node,
                       const actions::StepProgress& progress);
  Result<actions::StepRequest> request_of(const PipelineRun& run, const NodeSpec& spec,
                                          const Node& node) const;
  /// Can a look at a running node that was told show anything new?
  bool may_have_moved(const Node& node) const;
  Status move(OpenRun& open, Node& node, NodeEvent event);
  /// Stores a change that this thread makes to its copy as well.
  Status store(PipelineRun& run, const std::function<Status(store::Tx&)>& change);

  store::Database& db_;
  const actions::Registry& registry_;
  std::map<std::string, OpenRun> open_;  // by run_key
  std::optional<std::int64_t> cursor_;   // the log was read up to here
  std::int64_t cursor_saved_ = 0;        // and this was stored of it
  std::set<Ref> touched_;                // subjects of the events that this pass read
  Mono next_poll_;
  bool polls_all_ = false;
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
