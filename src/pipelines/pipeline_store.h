// SPDX-License-Identifier: Apache-2.0
// The tables of pipelines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/pipelines/node_state.h"
#include "takt/pipelines/pipeline.h"
#include "takt/store/database.h"
#include "takt/store/event_log.h"

namespace takt::pipelines {

Status store_pipeline(store::Tx& tx, const ProjectId& project, const Pipeline& pipeline);
/// An armed pipeline made no run of the event that it waited for: one event says why.
Status tell_failed_trigger(store::Tx& tx, const Pipeline& pipeline, const store::Event& cause,
                           const Error& error);
/// kNotFound names the nearest pipeline.
Result<Pipeline> load_pipeline(store::Reader& reader, const ProjectId& project,
                               std::string_view name);
Result<std::vector<Pipeline>> load_pipelines(store::Reader& reader, const ProjectId& project);
Result<std::vector<Pipeline>> load_armed(store::Reader& reader, const ProjectId& project,
                                         std::string_view dataset);

/// Takes the next number and stores the run with its pending nodes, and its first event. With a
/// request key that a run has already, gives that run's number.
Result<std::int64_t> insert_run(store::Tx& tx, const PipelineRun& run,
                                std::string_view request_key);
Result<PipelineRun> load_run(store::Reader& reader, const ProjectId& project,
                             std::string_view pipeline, std::int64_t number);
/// Newest first, below `before` (0: all); without nodes unless asked.
Result<std::vector<PipelineRun>> load_runs(store::Reader& reader, const ProjectId& project,
                                           std::string_view pipeline, std::int64_t before,
                                           int limit, bool with_nodes);
/// Of all projects, with nodes.
Result<std::vector<PipelineRun>> load_open_runs(store::Reader& reader);
Result<std::vector<PipelineRun>> load_failed_since(store::Reader& reader, const ProjectId& project,
                                                   UnixMs since_ms);
Result<std::int64_t> count_runs_since(store::Reader& reader, const ProjectId& project,
                                      UnixMs since_ms);

/// An open run, and the version that it has in the store.
struct OpenVersion {
  ProjectId project;
  std::string pipeline;
  std::int64_t number = 0;
  std::int64_t version = 0;
};
/// Of all projects, oldest first.
Result<std::vector<OpenVersion>> load_open_versions(store::Reader& reader);
Result<std::int64_t> load_run_version(store::Reader& reader, const PipelineRun& run);

/// Moves the node by the state table and stores it with one event; kConflict when its stored state
/// is no longer `from`. `changed` holds the new fields; the node as stored, with its new state and
/// times, is the result.
Result<Node> move_node(store::Tx& tx, const PipelineRun& run, NodeState from, Node changed,
                       NodeEvent event, const UserId& actor);
/// What a running node waits for; no event, since nothing changed state.
Status store_node_work(store::Tx& tx, const PipelineRun& run, const Node& node);
Status end_run(store::Tx& tx, const PipelineRun& run, RunState state, const std::string& reason);
Status ask_cancel(store::Tx& tx, const PipelineRun& run, const UserId& actor);

struct KnownResult {
  PortValues outputs;
  Ref node;  // that made it
};
Result<std::optional<KnownResult>> find_result(store::Reader& reader, const ProjectId& project,
                                               const Digest& key);
Status save_result(store::Tx& tx, const ProjectId& project, const Digest& key,
                   const KnownResult& result);

}  // namespace takt::pipelines
