// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/engine.h"

#include <algorithm>
#include <chrono>

#include "takt/base/log.h"
#include "takt/base/passing.h"
#include "takt/pipelines/inputs.h"
#include "takt/pipelines/pipeline_store.h"
#include "takt/pipelines/spec.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"

namespace takt::pipelines {
namespace {

constexpr std::string_view kTriggerCursor = "pipelines.trigger";
constexpr int kEventsPerPass = 500;
constexpr std::int64_t kEventsUnsavedMax = 10'000;
constexpr std::int64_t kPollMs = 100;  // while nodes run: for what no event tells
constexpr std::int64_t kIdleMs = 1000;
constexpr std::int64_t kBackoffMsMax = 10 * 60 * 1000;

std::string attempt_key(const Node& node) { return node.name + "#" + std::to_string(node.attempt); }

std::string run_key(const ProjectId& project, std::string_view pipeline, std::int64_t number) {
  return project.value + "/" + std::string(pipeline) + "/" + std::to_string(number);
}

/// A run for one event; its key makes a second reading of the event harmless.
Result<PipelineRun> triggered_run(const Pipeline& pipeline, const store::Event& event,
                                  const actions::Registry& registry) {
  TAKT_ASSIGN(const PipelineSpec spec, parse_pipeline(pipeline.definition, registry));
  PipelineRun run;
  run.project = event.project;
  run.pipeline = pipeline.name;
  run.definition = pipeline.definition;
  run.code = pipeline.code;
  run.environment = pipeline.environment;
  run.trigger = event.subject.text();
  run.started_by = pipeline.created_by;
  TAKT_ASSIGN(run.params, merge_params(spec, Object{{"data", event.subject.path}}));
  TAKT_ASSIGN(run.bindings, resolve_bindings(spec, run.params, run.project, registry));
  for (const NodeSpec& node : spec.nodes) {
    run.nodes.emplace_back();
    run.nodes.back().name = node.name;
  }
  return run;
}

}  // namespace

bool outputs_exist(const actions::Registry& registry, const ProjectId& project,
                   const PortValues& outputs) {
  return std::ranges::all_of(outputs, [&](const auto& named) {
    const actions::PortValue& value = named.second;
    if (value.ref.kind.empty() || registry.find_resolver(value.kind) == nullptr) return true;
    if (value.kind != actions::PortKind::kDataset && value.kind != actions::PortKind::kModelVersion)
      return true;
    const auto now = registry.resolve(project, value.kind, value.ref.path);
    return now && now->digest == value.digest;
  });
}

Engine::Engine(store::Database& db, const actions::Registry& registry)
    : db_(db), registry_(registry) {}

Engine::~Engine() { stop(); }

void Engine::start() {
  thread_ = std::thread([this] { run(); });
}

void Engine::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Engine::wake() {
  {
    std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  wake_.notify_all();
}

void Engine::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      const std::chrono::milliseconds pause(has_running_ ? kPollMs : kIdleMs);
      wake_.wait_for(lock, pause, [this] { return is_woken_ || is_stopping_; });
      is_woken_ = false;
      if (is_stopping_) return;
    }
    if (const Status stepped = step(); !stepped)
      log_error("pipelines cannot move on", {{"error", stepped.error().text()}});
  }
}

Status Engine::step() {
  // Told at the end: triggers that cannot be read for now must not hold up the open runs.
  Status read = read_log();
  TAKT_ASSIGN(const std::vector<OpenRun*> runs, refresh());
  const Mono now = db_.clock().mono();
  polls_all_ = now >= next_poll_;
  if (polls_all_) next_poll_ = now + kPollMs * 1000;
  has_running_ = false;
  for (OpenRun* open : runs) {
    // One run's trouble must not hold up the others.
    if (const Status advanced = advance(*open); !advanced) {
      log_error("a pipeline run cannot move on",
                {{"run", open->run.ref().text()}, {"error", advanced.error().text()}});
      open->run.version = 0;  // a change may be in the copy and not in the store
    }
  }
  return read;
}

Status Engine::read_log() {
  std::vector<store::Event> events;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    if (!cursor_) {
      TAKT_ASSIGN(cursor_saved_, store::load_cursor(reader, kTriggerCursor));
      cursor_ = cursor_saved_;
    }
    TAKT_ASSIGN(events, store::read_events(reader, *cursor_, kEventsPerPass));
    return {};
  }));
  touched_.clear();
  for (const store::Event& event : events) touched_.insert(event.subject);
  TAKT_RETURN_IF_ERROR(fire_triggers(events));
  if (std::cmp_equal(events.size(), kEventsPerPass)) wake();
  return {};
}

Status Engine::fire_triggers(const std::vector<store::Event>& events) {
  if (events.empty()) return {};
  std::vector<Triggered> due;
  bool is_concerned = false;
  for (const store::Event& event : events) {
    if (event.verb != "dataset.version-added") continue;
    is_concerned = true;
    TAKT_RETURN_IF_ERROR(collect_due(event, due));
  }
  const std::int64_t last = events.back().sequence;
  // Events that start nothing may be read again after a restart; a mark for each would double the
  // commits. Past a new version it moves with the runs: a pipeline that is armed later starts for
  // later versions only.
  if (is_concerned || last - cursor_saved_ > kEventsUnsavedMax) {
    TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
      for (const Triggered& one : due) {
        const std::string key = "event/" + std::to_string(one.event.sequence);
        if (one.run) {
          TAKT_RETURN_IF_ERROR(insert_run(tx, *one.run, key));
        } else {
          TAKT_RETURN_IF_ERROR(tell_failed_trigger(tx, one.pipeline, one.event, one.run.error()));
        }
      }
      return store::save_cursor(tx, kTriggerCursor, last);
    }));
    cursor_saved_ = last;
  }
  cursor_ = last;
  return {};
}

Status Engine::collect_due(const store::Event& event, std::vector<Triggered>& due) {
  std::vector<Pipeline> armed;
  const std::string dataset = event.subject.path.substr(0, event.subject.path.rfind('@'));
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(armed, load_armed(reader, event.project, dataset));
    return {};
  }));
  for (const Pipeline& pipeline : armed) {
    auto run = triggered_run(pipeline, event, registry_);
    // The mark stays where it is: the event is read again.
    if (!run && is_passing(run.error().code)) return fail(std::move(run).error());
    if (!run)
      log_warn(
          "a trigger could not start its pipeline",
          {{"pipeline", pipeline.name}, {"event", event.sequence}, {"error", run.error().text()}});
    due.push_back({pipeline, event, std::move(run)});
  }
  return {};
}

Result<std::vector<Engine::OpenRun*>> Engine::refresh() {
  std::vector<OpenRun*> runs;
  std::set<std::string> keys;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto versions, load_open_versions(reader));
    for (const OpenVersion& stored : versions) {
      const std::string key = run_key(stored.project, stored.pipeline, stored.number);
      OpenRun& open = open_[key];
      if (open.run.version != stored.version) {
        TAKT_ASSIGN(open.run, load_run(reader, stored.project, stored.pipeline, stored.number));
      }
      keys.insert(key);
      runs.push_back(&open);
    }
    return {};
  }));
  std::erase_if(open_, [&](const auto& entry) { return !keys.contains(entry.first); });
  return runs;
}

Status Engine::store(PipelineRun& run, const std::function<Status(store::Tx&)>& change) {
  std::int64_t version = 0;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(change(tx));
    TAKT_ASSIGN(version, load_run_version(tx, run));
    return {};
  }));
  // When somebody else changed it too (a decision, a cancel), the next pass reads it again.
  run.version = version == run.version + 1 ? version : 0;
  return {};
}

Status Engine::advance(OpenRun& open) {
  PipelineRun& run = open.run;
  if (!open.spec) {
    auto spec = parse_pipeline(run.definition, registry_);
    if (!spec) {
      log_error("a stored definition is no longer valid",
                {{"run", run.ref().text()}, {"error", spec.error().text()}});
      return db_.write([&](store::Tx& tx) {
        return end_run(tx, run, RunState::kFailed,
                       "its definition is not valid for this version of takt");
      });
    }
    open.spec = std::move(*spec);
  }
  // Each pass may make the next nodes ready; bounded by the depth of the graph.
  for (std::size_t pass = 0; pass <= run.nodes.size(); ++pass) {
    const RunPlan plan = plan_run(*open.spec, run, db_.clock().now_ms());
    if (plan.end)
      return db_.write(
          [&](store::Tx& tx) { return end_run(tx, run, plan.end->state, plan.end->reason); });
    for (const Decision& decision : plan.decisions) TAKT_RETURN_IF_ERROR(act(open, decision));
    bool has_changed = !plan.decisions.empty();
    for (Node& node : run.nodes) {
      if (node.state != NodeState::kRunning) continue;
      const bool is_new = !open.told.contains(attempt_key(node));
      if (!is_new && (pass > 0 || !may_have_moved(node))) continue;
      TAKT_RETURN_IF_ERROR(poll(open, node));
      has_changed = has_changed || node.state != NodeState::kRunning;
    }
    if (!has_changed) break;
  }
  for (const Node& node : run.nodes)
    has_running_ =
        has_running_ || node.state == NodeState::kRunning || node.state == NodeState::kRetrying;
  return {};
}

bool Engine::may_have_moved(const Node& node) const {
  return polls_all_ || node.work.kind.empty() || touched_.contains(node.work);
}

Status Engine::move(OpenRun& open, Node& node, NodeEvent event) {
  PipelineRun& run = open.run;
  const bool is_result = event == NodeEvent::kDone && !node.cache_key.empty();
  Node moved;
  TAKT_RETURN_IF_ERROR(store(run, [&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(moved, move_node(tx, run, node.state, node, event, run.started_by));
    if (!is_result) return {};
    return save_result(tx, run.project, node.cache_key, {node.outputs, run.node_ref(node.name)});
  }));
  node = std::move(moved);
  return {};
}

Status Engine::act(OpenRun& open, const Decision& decision) {
  Node& node = *open.run.find(decision.node);
  switch (decision.kind) {
    case Decision::Kind::kSkip:
      node.reason = decision.reason;
      return move(open, node, NodeEvent::kSkipped);
    case Decision::Kind::kCancel:
      node.reason = decision.reason;
      return cancel_node(open, node);
    case Decision::Kind::kRetry:
      ++node.attempt;
      node.reason.clear();
      return move(open, node, NodeEvent::kStarted);
    case Decision::Kind::kPrepare:
      return prepare(open, *open.spec->find(node.name), node);
  }
  return {};
}

Status Engine::cancel_node(OpenRun& open, Node& node) {
  if (node.state == NodeState::kRunning) {
    const NodeSpec& spec = *open.spec->find(node.name);
    TAKT_ASSIGN(const auto request, request_of(open.run, spec, node));
    TAKT_RETURN_IF_ERROR(registry_.find_runner(spec.action)->cancel(request));
  }
  return move(open, node, NodeEvent::kCancelled);
}

Status Engine::prepare(OpenRun& open, const NodeSpec& node_spec, Node& node) {
  const PipelineRun& run = open.run;
  auto inputs =
      gather_inputs(node_spec, run.bindings, [&](std::string_view name) -> const PortValues* {
        const Node* other = run.find(name);
        return other == nullptr ? nullptr : &other->outputs;
      });
  if (!inputs) return fail_node(open, node, inputs.error());
  node.inputs = std::move(*inputs);
  const auto definition = step_definition(node_spec, run.params);
  if (!definition) return fail_node(open, node, definition.error());
  const auto ports = registry_.find_runner(node_spec.action)->describe(*definition);
  if (!ports) return fail_node(open, node, ports.error());
  if (ports->cacheable) {
    node.cache_key =
        cache_key(node_spec.action, *definition, node.inputs, run.code, run.environment);
    std::optional<KnownResult> known;
    TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(known, find_result(reader, run.project, node.cache_key));
      return {};
    }));
    if (known && outputs_exist(registry_, run.project, known->outputs)) {
      node.outputs = known->outputs;
      node.work = known->node;
      node.reason = "same inputs, options, code and environment as " + known->node.text();
      return move(open, node, NodeEvent::kFoundCached);
    }
  }
  node.attempt = 1;
  if (node_spec.approval == ApprovalRule::kNone) return move(open, node, NodeEvent::kStarted);
  node.asked_ms = db_.clock().now_ms();
  node.reason = node_spec.approval == ApprovalRule::kNotSubmitter
                    ? "waits for approval by an operator other than " + run.started_by.value
                    : "waits for approval by an operator";
  return move(open, node, NodeEvent::kApprovalAsked);
}

Status Engine::fail_node(OpenRun& open, Node& node, const Error& error) {
  node.reason = error.text();
  return move(open, node, NodeEvent::kFailed);
}

Result<actions::StepRequest> Engine::request_of(const PipelineRun& run, const NodeSpec& spec,
                                                const Node& node) const {
  actions::StepRequest request;
  request.project = run.project;
  request.actor = run.started_by;
  request.approver = node.approver;
  request.node = run.node_ref(node.name);
  request.attempt = node.attempt;
  TAKT_ASSIGN(request.definition, step_definition(spec, run.params));
  request.inputs = node.inputs;
  request.code = run.code;
  request.environment = run.environment;
  request.experiment = run.pipeline;
  return request;
}

Status Engine::poll(OpenRun& open, Node& node) {
  const NodeSpec& spec = *open.spec->find(node.name);
  actions::StepRunner& runner = *registry_.find_runner(spec.action);
  TAKT_ASSIGN(const actions::StepRequest request, request_of(open.run, spec, node));
  const auto failed = [](const Error& error) {
    actions::StepProgress progress;
    progress.state = actions::StepState::kFailed;
    progress.reason = error.text();
    return progress;
  };
  if (!open.told.contains(attempt_key(node))) {
    const Status started = runner.start(request);
    if (!started && is_passing(started.error().code))
      return note_delay(open, node, started.error());
    open.told.insert(attempt_key(node));
    if (!started) return take_progress(open, spec, node, failed(started.error()));
  }
  const auto polled = runner.poll(request);
  // The store's trouble, not the step's: what was begun goes on and is asked again.
  if (!polled && is_passing(polled.error().code)) return note_delay(open, node, polled.error());
  const actions::StepProgress progress = polled ? *polled : failed(polled.error());
  if (progress.state != actions::StepState::kRunning)
    return take_progress(open, spec, node, progress);
  if (progress.work == node.work && progress.reason == node.reason) return {};
  node.work = progress.work;
  node.reason = progress.reason;
  return store(open.run, [&](store::Tx& tx) { return store_node_work(tx, open.run, node); });
}

Status Engine::note_delay(OpenRun& open, Node& node, const Error& error) {
  const std::string reason = "asked again soon: " + error.text();
  if (node.reason == reason) return {};
  node.reason = reason;
  return store(open.run, [&](store::Tx& tx) { return store_node_work(tx, open.run, node); });
}

Status Engine::take_progress(OpenRun& open, const NodeSpec& spec, Node& node,
                             const actions::StepProgress& progress) {
  node.reason = progress.reason;
  if (!progress.work.kind.empty()) node.work = progress.work;
  NodeEvent event = NodeEvent::kFailed;
  if (progress.state == actions::StepState::kDone) {
    event = NodeEvent::kDone;
    node.outputs = progress.outputs;
  } else if (progress.state == actions::StepState::kStopped) {
    event = NodeEvent::kStopped;
  } else if (node.attempt <= spec.retries_max) {
    event = NodeEvent::kRetryPlanned;
    const std::int64_t backoff = spec.retry_backoff_ms << std::min(node.attempt - 1, 16);
    node.retry_ms = db_.clock().now_ms() + std::min(backoff, kBackoffMsMax);
  }
  return move(open, node, event);
}

}  // namespace takt::pipelines
