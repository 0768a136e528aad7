// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/engine.h"

#include <algorithm>
#include <chrono>

#include "takt/base/log.h"
#include "takt/pipelines/inputs.h"
#include "takt/pipelines/pipeline_store.h"
#include "takt/pipelines/spec.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"

namespace takt::pipelines {
namespace {

constexpr std::string_view kTriggerCursor = "pipelines.trigger";
constexpr int kEventsPerPass = 500;
constexpr auto kPollInterval = std::chrono::milliseconds(100);  // while nodes run
constexpr auto kIdleInterval = std::chrono::milliseconds(1000);
constexpr std::int64_t kBackoffMsMax = 10 * 60 * 1000;

std::string attempt_key(const PipelineRun& run, const Node& node) {
  return run.project.value + "/" + run.node_ref(node.name).path + "#" +
         std::to_string(node.attempt);
}

std::string run_key(const PipelineRun& run) { return run.project.value + "/" + run.ref().path; }

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
      wake_.wait_for(lock, has_running_ ? kPollInterval : kIdleInterval,
                     [this] { return is_woken_ || is_stopping_; });
      is_woken_ = false;
      if (is_stopping_) return;
    }
    if (const Status stepped = step(); !stepped)
      log_error("pipelines cannot move on", {{"error", stepped.error().text()}});
  }
}

Status Engine::step() {
  TAKT_RETURN_IF_ERROR(fire_triggers());
  std::vector<PipelineRun> runs;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(runs, load_open_runs(reader));
    return {};
  }));
  has_running_ = false;
  std::set<std::string> open;
  for (PipelineRun& run : runs) {
    open.insert(run_key(run));
    // One run's trouble must not hold up the others.
    if (const Status advanced = advance(run); !advanced)
      log_error("a pipeline run cannot move on",
                {{"run", run.ref().text()}, {"error", advanced.error().text()}});
  }
  std::erase_if(specs_, [&](const auto& entry) { return !open.contains(entry.first); });
  return {};
}

Status Engine::fire_triggers() {
  std::int64_t cursor = 0;
  std::vector<store::Event> events;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(cursor, store::load_cursor(reader, kTriggerCursor));
    TAKT_ASSIGN(events, store::read_events(reader, cursor, kEventsPerPass));
    return {};
  }));
  if (events.empty()) return {};
  std::vector<std::pair<PipelineRun, std::int64_t>> due;
  for (const store::Event& event : events) {
    if (event.verb != "dataset.version-added") continue;
    TAKT_RETURN_IF_ERROR(collect_due(event, due));
  }
  // The mark moves with the runs: a pipeline that is armed later starts for later events only.
  return db_.write([&](store::Tx& tx) -> Status {
    for (const auto& [run, sequence] : due)
      TAKT_RETURN_IF_ERROR(insert_run(tx, run, "event/" + std::to_string(sequence)));
    return store::save_cursor(tx, kTriggerCursor, events.back().sequence);
  });
}

Status Engine::collect_due(const store::Event& event,
                           std::vector<std::pair<PipelineRun, std::int64_t>>& due) {
  std::vector<Pipeline> armed;
  const std::string dataset = event.subject.path.substr(0, event.subject.path.rfind('@'));
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(armed, load_armed(reader, event.project, dataset));
    return {};
  }));
  for (const Pipeline& pipeline : armed) {
    auto run = triggered_run(pipeline, event, registry_);
    if (run) {
      due.emplace_back(std::move(*run), event.sequence);
    } else {
      log_warn(
          "a trigger could not start its pipeline",
          {{"pipeline", pipeline.name}, {"event", event.sequence}, {"error", run.error().text()}});
    }
  }
  return {};
}

const PipelineSpec* Engine::spec_of(const PipelineRun& run) {
  const std::string key = run_key(run);
  if (const auto known = specs_.find(key); known != specs_.end()) return &known->second;
  auto spec = parse_pipeline(run.definition, registry_);
  if (!spec) {
    log_error("a stored definition is no longer valid",
              {{"run", run.ref().text()}, {"error", spec.error().text()}});
    return nullptr;
  }
  return &specs_.emplace(key, std::move(*spec)).first->second;
}

Status Engine::advance(PipelineRun& run) {
  const PipelineSpec* spec = spec_of(run);
  if (spec == nullptr)
    return db_.write([&](store::Tx& tx) {
      return end_run(tx, run, RunState::kFailed,
                     "its definition is not valid for this version of takt");
    });
  // Each pass may make the next nodes ready; bounded by the depth of the graph.
  for (std::size_t pass = 0; pass <= run.nodes.size(); ++pass) {
    const RunPlan plan = plan_run(*spec, run, db_.clock().now_ms());
    if (plan.end)
      return db_.write(
          [&](store::Tx& tx) { return end_run(tx, run, plan.end->state, plan.end->reason); });
    for (const Decision& decision : plan.decisions) TAKT_RETURN_IF_ERROR(act(run, *spec, decision));
    bool has_changed = !plan.decisions.empty();
    for (Node& node : run.nodes) {
      if (node.state != NodeState::kRunning) continue;
      TAKT_RETURN_IF_ERROR(poll(run, *spec, node));
      has_changed = has_changed || node.state != NodeState::kRunning;
    }
    if (!has_changed) break;
  }
  for (const Node& node : run.nodes)
    has_running_ =
        has_running_ || node.state == NodeState::kRunning || node.state == NodeState::kRetrying;
  return {};
}

Status Engine::move(const PipelineRun& run, Node& node, NodeEvent event) {
  const NodeState from = node.state;
  TAKT_RETURN_IF_ERROR(db_.write(
      [&](store::Tx& tx) { return move_node(tx, run, from, node, event, run.started_by); }));
  TAKT_ASSIGN(node.state, next(from, event));
  return {};
}

Status Engine::act(PipelineRun& run, const PipelineSpec& spec, const Decision& decision) {
  Node& node = *run.find(decision.node);
  switch (decision.kind) {
    case Decision::Kind::kSkip:
      node.reason = decision.reason;
      return move(run, node, NodeEvent::kSkipped);
    case Decision::Kind::kCancel:
      node.reason = decision.reason;
      return cancel_node(run, spec, node);
    case Decision::Kind::kRetry:
      ++node.attempt;
      node.reason.clear();
      return move(run, node, NodeEvent::kStarted);
    case Decision::Kind::kPrepare:
      return prepare(run, spec, *spec.find(node.name), node);
  }
  return {};
}

Status Engine::cancel_node(const PipelineRun& run, const PipelineSpec& spec, Node& node) {
  if (node.state == NodeState::kRunning) {
    TAKT_ASSIGN(const auto request, request_of(run, *spec.find(node.name), node));
    TAKT_RETURN_IF_ERROR(registry_.find_runner(spec.find(node.name)->action)->cancel(request));
  }
  return move(run, node, NodeEvent::kCancelled);
}

Status Engine::prepare(PipelineRun& run, const PipelineSpec&, const NodeSpec& node_spec,
                       Node& node) {
  auto inputs =
      gather_inputs(node_spec, run.bindings, [&](std::string_view name) -> const PortValues* {
        const Node* other = run.find(name);
        return other == nullptr ? nullptr : &other->outputs;
      });
  if (!inputs) return fail_node(run, node, inputs.error());
  node.inputs = std::move(*inputs);
  TAKT_ASSIGN(const auto definition, step_definition(node_spec, run.params));
  TAKT_ASSIGN(const auto ports, registry_.find_runner(node_spec.action)->describe(definition));
  if (ports.cacheable) {
    node.cache_key =
        cache_key(node_spec.action, definition, node.inputs, run.code, run.environment);
    std::optional<KnownResult> known;
    TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(known, find_result(reader, run.project, node.cache_key));
      return {};
    }));
    if (known && outputs_exist(registry_, run.project, known->outputs)) {
      node.outputs = known->outputs;
      node.work = known->node;
      node.reason = "same inputs, options, code and environment as " + known->node.text();
      return move(run, node, NodeEvent::kFoundCached);
    }
  }
  node.attempt = 1;
  if (node_spec.approval == ApprovalRule::kNone) return move(run, node, NodeEvent::kStarted);
  node.asked_ms = db_.clock().now_ms();
  node.reason = node_spec.approval == ApprovalRule::kNotSubmitter
                    ? "waits for approval by an operator other than " + run.started_by.value
                    : "waits for approval by an operator";
  return move(run, node, NodeEvent::kApprovalAsked);
}

Status Engine::fail_node(const PipelineRun& run, Node node, const Error& error) {
  node.reason = error.text();
  return move(run, node, NodeEvent::kFailed);
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

Status Engine::poll(PipelineRun& run, const PipelineSpec& spec, Node& node) {
  const NodeSpec& node_spec = *spec.find(node.name);
  actions::StepRunner* runner = registry_.find_runner(node_spec.action);
  TAKT_ASSIGN(const actions::StepRequest request, request_of(run, node_spec, node));
  if (told_.insert(attempt_key(run, node)).second) {
    if (const Status started = runner->start(request); !started) {
      if (started.error().code == Code::kUnavailable) {
        told_.erase(attempt_key(run, node));  // later
        return {};
      }
      actions::StepProgress failed;
      failed.state = actions::StepState::kFailed;
      failed.reason = started.error().text();
      TAKT_RETURN_IF_ERROR(take_progress(run, node_spec, node, failed));
      node.state = NodeState::kFailed;  // read afresh in the next pass
      return {};
    }
  }
  auto progress = runner->poll(request);
  if (!progress) {
    actions::StepProgress failed;
    failed.state = actions::StepState::kFailed;
    failed.reason = progress.error().text();
    progress = failed;
  }
  if (progress->state == actions::StepState::kRunning) {
    const bool is_new = progress->work != node.work || progress->reason != node.reason;
    if (!is_new) return {};
    node.work = progress->work;
    node.reason = progress->reason;
    return db_.write([&](store::Tx& tx) { return store_node_work(tx, run, node); });
  }
  TAKT_RETURN_IF_ERROR(take_progress(run, node_spec, node, *progress));
  return db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const PipelineRun fresh, load_run(reader, run.project, run.pipeline, run.number));
    node = *fresh.find(node.name);
    return {};
  });
}

Status Engine::take_progress(const PipelineRun& run, const NodeSpec& spec, Node node,
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
  const bool is_known = event == NodeEvent::kDone && !node.cache_key.empty();
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(move_node(tx, run, NodeState::kRunning, node, event, run.started_by));
    if (!is_known) return {};
    return save_result(tx, run.project, node.cache_key, {node.outputs, run.node_ref(node.name)});
  });
}

}  // namespace takt::pipelines
