// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/pipeline_store.h"

#include "takt/pipelines/inputs.h"
#include "takt/pipelines/sql.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"

namespace takt::pipelines {
namespace {

Result<Pipeline> pipeline_from(const store::Row& row) {
  Pipeline pipeline;
  pipeline.name = row.text(0);
  TAKT_ASSIGN(pipeline.definition, parse_json(row.text(1)));
  pipeline.digest.value = row.text(2);
  pipeline.code.value = row.text(3);
  pipeline.environment.value = row.text(4);
  pipeline.is_armed = row.integer(5) != 0;
  pipeline.on_dataset = row.text(6);
  pipeline.created_by.value = row.text(7);
  pipeline.updated_ms = row.integer(8);
  pipeline.last_run = row.integer(9);
  return pipeline;
}

Result<std::vector<Pipeline>> pipelines_from(const store::Rows& rows) {
  std::vector<Pipeline> pipelines;
  for (const auto& row : rows) {
    TAKT_ASSIGN(Pipeline pipeline, pipeline_from(row));
    pipelines.push_back(std::move(pipeline));
  }
  return pipelines;
}

Result<PortValues> stored_ports(const std::string& text) {
  TAKT_ASSIGN(const Value value, parse_json(text));
  return port_values_from(value);
}

Result<PipelineRun> run_from(const store::Row& row) {
  PipelineRun run;
  run.project.value = row.text(0);
  run.pipeline = row.text(1);
  run.number = row.integer(2);
  TAKT_ASSIGN(run.state, parse_run_state(row.text(3)));
  run.reason = row.text(4);
  TAKT_ASSIGN(run.definition, parse_json(row.text(5)));
  run.code.value = row.text(6);
  run.environment.value = row.text(7);
  TAKT_ASSIGN(const Value params, parse_json(row.text(8)));
  for (const auto& [name, value] : params.as_object()) run.params[name] = value;
  TAKT_ASSIGN(run.bindings, stored_ports(row.text(9)));
  run.trigger = row.text(10);
  run.started_by.value = row.text(11);
  run.is_cancel_asked = row.integer(12) != 0;
  run.started_ms = row.integer(13);
  run.ended_ms = row.integer(14);
  run.version = row.integer(15);
  return run;
}

Result<Node> node_from(const store::Row& row) {
  Node node;
  node.name = row.text(0);
  TAKT_ASSIGN(node.state, parse_node_state(row.text(1)));
  node.attempt = static_cast<int>(row.integer(2));
  node.reason = row.text(3);
  TAKT_ASSIGN(node.inputs, stored_ports(row.text(4)));
  TAKT_ASSIGN(node.outputs, stored_ports(row.text(5)));
  node.cache_key.value = row.text(6);
  if (!row.text(7).empty()) {
    TAKT_ASSIGN(node.work, parse_ref(row.text(7)));
  }
  node.approver.value = row.text(8);
  node.note = row.text(9);
  node.asked_ms = row.integer(10);
  node.retry_ms = row.integer(11);
  node.started_ms = row.integer(12);
  node.ended_ms = row.integer(13);
  return node;
}

Status load_nodes(store::Reader& reader, PipelineRun& run) {
  TAKT_ASSIGN(const auto rows,
              reader.query(sql::kListNodes, {run.project.value, run.pipeline, run.number}));
  for (const auto& row : rows) {
    TAKT_ASSIGN(Node node, node_from(row));
    run.nodes.push_back(std::move(node));
  }
  return {};
}

Result<std::vector<PipelineRun>> runs_from(store::Reader& reader, const store::Rows& rows,
                                           bool with_nodes) {
  std::vector<PipelineRun> runs;
  for (const auto& row : rows) {
    TAKT_ASSIGN(PipelineRun run, run_from(row));
    if (with_nodes) TAKT_RETURN_IF_ERROR(load_nodes(reader, run));
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string text_of(const PortValues& values) { return dump_json(to_value(values)); }
std::string text_of(const Ref& ref) { return ref.kind.empty() ? std::string() : ref.text(); }

store::Event event_of(std::string_view verb, const PipelineRun& run, const UserId& actor,
                      Ref subject, Object details) {
  store::Event event;
  event.verb = std::string(verb);
  event.project = run.project;
  event.actor = actor;
  event.subject = std::move(subject);
  event.details = std::move(details);
  return event;
}

Status touch_run(store::Tx& tx, const PipelineRun& run) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kTouchRun, {run.project.value, run.pipeline, run.number}));
  return {};
}

std::string_view verb_of(NodeEvent event) {
  switch (event) {
    case NodeEvent::kStarted:
      return "node.started";
    case NodeEvent::kApprovalAsked:
      return "node.waits-approval";
    case NodeEvent::kApproved:
      return "node.approved";
    case NodeEvent::kRejected:
      return "node.rejected";
    case NodeEvent::kRetryPlanned:
      return "node.retry-planned";
    default:
      return "node.ended";
  }
}

}  // namespace

Status store_pipeline(store::Tx& tx, const ProjectId& project, const Pipeline& pipeline) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kUpsertPipeline,
              {project.value, pipeline.name, dump_json(pipeline.definition), pipeline.digest.value,
               pipeline.code.value, pipeline.environment.value, std::int64_t{pipeline.is_armed},
               pipeline.on_dataset, pipeline.created_by.value, tx.now_ms()}));
  store::Event event;
  event.verb = "pipeline.stored";
  event.project = project;
  event.actor = pipeline.created_by;
  event.subject = Ref{"pipeline", pipeline.name};
  event.after_digest = pipeline.digest.value;
  event.details = Object{{"armed", pipeline.is_armed}, {"on_dataset", pipeline.on_dataset}};
  TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
  return {};
}

Status tell_failed_trigger(store::Tx& tx, const Pipeline& pipeline, const store::Event& cause,
                           const Error& error) {
  store::Event event;
  event.verb = "pipeline.trigger-failed";
  event.project = cause.project;
  event.actor = pipeline.created_by;
  event.subject = Ref{"pipeline", pipeline.name};
  event.details = Object{{"trigger", cause.subject.text()}, {"reason", error.text()}};
  TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
  return {};
}

Result<Pipeline> load_pipeline(store::Reader& reader, const ProjectId& project,
                               std::string_view name) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindPipeline, {project.value, std::string(name)}));
  if (row) return pipeline_from(*row);
  TAKT_ASSIGN(const auto all, load_pipelines(reader, project));
  std::vector<std::string> names;
  for (const Pipeline& pipeline : all) names.push_back(pipeline.name);
  const std::string near = nearest_name(name, names);
  return fail(
      Code::kNotFound, "no pipeline '" + std::string(name) + "'",
      near.empty() ? "store one with `takt apply -f FILE`" : "did you mean '" + near + "'?");
}

Result<std::vector<Pipeline>> load_pipelines(store::Reader& reader, const ProjectId& project) {
  TAKT_ASSIGN(const auto rows, reader.query(sql::kListPipelines, {project.value}));
  return pipelines_from(rows);
}

Result<std::vector<Pipeline>> load_armed(store::Reader& reader, const ProjectId& project,
                                         std::string_view dataset) {
  TAKT_ASSIGN(const auto rows,
              reader.query(sql::kListArmed, {project.value, std::string(dataset)}));
  return pipelines_from(rows);
}

Result<std::int64_t> insert_run(store::Tx& tx, const PipelineRun& run,
                                std::string_view request_key) {
  if (!request_key.empty()) {
    TAKT_ASSIGN(const auto known, tx.find(sql::kFindRunByKey, {run.project.value, run.pipeline,
                                                               std::string(request_key)}));
    if (known) return known->integer(0);
  }
  TAKT_ASSIGN(const auto taken, tx.find(sql::kTakeRunNumber, {run.project.value, run.pipeline}));
  if (!taken) return fail(Code::kNotFound, "no pipeline '" + run.pipeline + "'");
  PipelineRun numbered = run;
  numbered.number = taken->integer(0);
  Object params;
  for (const auto& [name, value] : run.params) params[name] = value;
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kInsertRun,
      {run.project.value, run.pipeline, numbered.number, dump_json(run.definition), run.code.value,
       run.environment.value, dump_json(Value(params)), text_of(run.bindings), run.trigger,
       std::string(request_key), run.started_by.value, tx.now_ms()}));
  for (std::size_t i = 0; i < run.nodes.size(); ++i)
    TAKT_RETURN_IF_ERROR(
        tx.exec(sql::kInsertNode, {run.project.value, run.pipeline, numbered.number,
                                   static_cast<std::int64_t>(i), run.nodes[i].name}));
  TAKT_RETURN_IF_ERROR(
      store::add_edge(tx, run.project, numbered.ref(), "part-of", Ref{"pipeline", run.pipeline}));
  for (const auto& [input, value] : run.bindings)
    if (!value.ref.kind.empty())
      TAKT_RETURN_IF_ERROR(store::add_edge(tx, run.project, numbered.ref(), "used", value.ref));
  TAKT_RETURN_IF_ERROR(store::append_event(
      tx, event_of("pipeline-run.started", numbered, run.started_by, numbered.ref(),
                   Object{{"trigger", run.trigger}, {"params", std::move(params)}})));
  return numbered.number;
}

Result<PipelineRun> load_run(store::Reader& reader, const ProjectId& project,
                             std::string_view pipeline, std::int64_t number) {
  TAKT_ASSIGN(const auto row,
              reader.find(sql::kFindRun, {project.value, std::string(pipeline), number}));
  if (!row) {
    TAKT_ASSIGN(const Pipeline known, load_pipeline(reader, project, pipeline));
    return fail(
        Code::kNotFound, "pipeline '" + known.name + "' has no run " + std::to_string(number),
        known.last_run == 0 ? "it never ran" : "its last is " + std::to_string(known.last_run));
  }
  TAKT_ASSIGN(PipelineRun run, run_from(*row));
  TAKT_RETURN_IF_ERROR(load_nodes(reader, run));
  return run;
}

Result<std::vector<PipelineRun>> load_runs(store::Reader& reader, const ProjectId& project,
                                           std::string_view pipeline, std::int64_t before,
                                           int limit, bool with_nodes) {
  TAKT_ASSIGN(const auto rows, reader.query(sql::kListRuns, {project.value, std::string(pipeline),
                                                             before, std::int64_t{limit}}));
  return runs_from(reader, rows, with_nodes);
}

Result<std::vector<PipelineRun>> load_open_runs(store::Reader& reader) {
  TAKT_ASSIGN(const auto rows, reader.query(sql::kListOpenRuns));
  return runs_from(reader, rows, true);
}

Result<std::vector<OpenVersion>> load_open_versions(store::Reader& reader) {
  TAKT_ASSIGN(const auto rows, reader.query(sql::kListOpenVersions));
  std::vector<OpenVersion> versions;
  for (const auto& row : rows)
    versions.push_back({{row.text(0)}, row.text(1), row.integer(2), row.integer(3)});
  return versions;
}

Result<std::int64_t> load_run_version(store::Reader& reader, const PipelineRun& run) {
  TAKT_ASSIGN(const auto row,
              reader.find(sql::kFindRunVersion, {run.project.value, run.pipeline, run.number}));
  return row ? row->integer(0) : 0;
}

Result<std::vector<PipelineRun>> load_failed_since(store::Reader& reader, const ProjectId& project,
                                                   UnixMs since_ms) {
  TAKT_ASSIGN(const auto rows, reader.query(sql::kListEndedSince, {project.value, since_ms}));
  return runs_from(reader, rows, false);
}

Result<std::int64_t> count_runs_since(store::Reader& reader, const ProjectId& project,
                                      UnixMs since_ms) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kCountRunsSince, {project.value, since_ms}));
  return row->integer(0);
}

Result<Node> move_node(store::Tx& tx, const PipelineRun& run, NodeState from, Node changed,
                       NodeEvent event, const UserId& actor) {
  TAKT_ASSIGN(changed.state, next(from, event));
  if (changed.state == NodeState::kRunning && changed.started_ms == 0)
    changed.started_ms = tx.now_ms();
  if (is_final(changed.state)) changed.ended_ms = tx.now_ms();
  TAKT_ASSIGN(
      const std::int64_t rows,
      tx.exec(sql::kUpdateNode,
              {run.project.value, run.pipeline, run.number, changed.name,
               std::string(node_state_name(from)), std::string(node_state_name(changed.state)),
               std::int64_t{changed.attempt}, changed.reason, text_of(changed.inputs),
               text_of(changed.outputs), changed.cache_key.value, text_of(changed.work),
               changed.approver.value, changed.note, changed.asked_ms, changed.retry_ms,
               changed.started_ms, changed.ended_ms}));
  if (rows == 0)
    return fail(Code::kConflict, "node " + changed.name + " of " + run.ref().path +
                                     " is no longer " + std::string(node_state_name(from)));
  TAKT_RETURN_IF_ERROR(touch_run(tx, run));
  Object details{{"state", node_state_name(changed.state)}, {"attempt", changed.attempt}};
  if (!changed.reason.empty()) details["reason"] = changed.reason;
  if (!changed.work.kind.empty()) details["work"] = changed.work.text();
  if (!changed.note.empty()) details["note"] = changed.note;
  const Ref subject = run.node_ref(changed.name);
  if (event == NodeEvent::kApproved || event == NodeEvent::kRejected)
    TAKT_RETURN_IF_ERROR(store::add_edge(
        tx, run.project, subject, event == NodeEvent::kApproved ? "approved-by" : "rejected-by",
        ref_of(actor)));
  if (event == NodeEvent::kDone) {
    TAKT_RETURN_IF_ERROR(store::add_edge(tx, run.project, subject, "part-of", run.ref()));
    if (!changed.work.kind.empty() && changed.work.kind == "job")
      TAKT_RETURN_IF_ERROR(store::add_edge(tx, run.project, changed.work, "part-of", subject));
  }
  TAKT_RETURN_IF_ERROR(
      store::append_event(tx, event_of(verb_of(event), run, actor, subject, std::move(details))));
  return changed;
}

Status store_node_work(store::Tx& tx, const PipelineRun& run, const Node& node) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kUpdateNodeWork, {run.project.value, run.pipeline, run.number,
                                                      node.name, text_of(node.work), node.reason}));
  return touch_run(tx, run);
}

Status end_run(store::Tx& tx, const PipelineRun& run, RunState state, const std::string& reason) {
  TAKT_ASSIGN(const std::int64_t rows,
              tx.exec(sql::kEndRun, {run.project.value, run.pipeline, run.number,
                                     std::string(run_state_name(state)), reason, tx.now_ms()}));
  if (rows == 0) return {};  // ended already
  Object details{{"state", run_state_name(state)}};
  if (!reason.empty()) details["reason"] = reason;
  TAKT_RETURN_IF_ERROR(store::append_event(
      tx, event_of("pipeline-run.ended", run, run.started_by, run.ref(), std::move(details))));
  return {};
}

Status ask_cancel(store::Tx& tx, const PipelineRun& run, const UserId& actor) {
  TAKT_ASSIGN(const std::int64_t rows,
              tx.exec(sql::kAskCancel, {run.project.value, run.pipeline, run.number}));
  if (rows == 0)
    return fail(Code::kConflict,
                "run " + run.ref().path + " has ended: " + std::string(run_state_name(run.state)));
  TAKT_RETURN_IF_ERROR(store::append_event(
      tx, event_of("pipeline-run.cancel-asked", run, actor, run.ref(), Object{})));
  return {};
}

Result<std::optional<KnownResult>> find_result(store::Reader& reader, const ProjectId& project,
                                               const Digest& key) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindResult, {project.value, key.value}));
  if (!row) return std::nullopt;
  KnownResult result;
  TAKT_ASSIGN(result.outputs, stored_ports(row->text(0)));
  TAKT_ASSIGN(result.node, parse_ref(row->text(1)));
  return result;
}

Status save_result(store::Tx& tx, const ProjectId& project, const Digest& key,
                   const KnownResult& result) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kSaveResult, {project.value, key.value, text_of(result.outputs),
                                                  result.node.text(), tx.now_ms()}));
  return {};
}

}  // namespace takt::pipelines
