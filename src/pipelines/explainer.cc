// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/explainer.h"

#include <charconv>

#include "takt/base/units.h"
#include "takt/pipelines/pipeline_store.h"

namespace takt::pipelines {
namespace {

/// PIPELINE, PIPELINE/N or PIPELINE/N/NODE.
struct NodePath {
  std::string pipeline, node;
  std::int64_t number = 0;
};
Result<NodePath> parse_place(const std::string& path) {
  NodePath place;
  const auto first = path.find('/');
  place.pipeline = path.substr(0, first);
  if (first == std::string::npos) return place;
  const auto second = path.find('/', first + 1);
  const std::string number =
      path.substr(first + 1, second == std::string::npos ? second : second - first - 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), place.number);
  if (error != std::errc() || end != number.data() + number.size())
    return fail(Code::kInvalid, "'" + number + "' is no run number");
  if (second != std::string::npos) place.node = path.substr(second + 1);
  return place;
}

std::string approve_command(const PipelineRun& run, const Node& node) {
  return "takt pipeline approve " + run.pipeline + " " + std::to_string(run.number) + " " +
         node.name;
}

std::string sentence_of(const Node& node) {
  std::string text = node.name + " is " + std::string(node_state_name(node.state));
  if (node.attempt > 1) text += " (attempt " + std::to_string(node.attempt) + ")";
  if (!node.reason.empty()) text += ": " + node.reason;
  return text;
}

spine::Explanation explain_run(const PipelineRun& run) {
  spine::Explanation explanation;
  explanation.ref = run.ref();
  explanation.state =
      run.waits_for_approval() ? "waiting-approval" : std::string(run_state_name(run.state));
  explanation.title = "pipeline run " + run.ref().path + " is " + explanation.state;
  if (!run.reason.empty()) explanation.lines.push_back(run.reason);
  explanation.lines.push_back("started by " + run.started_by.value + " at " +
                              format_time(run.started_ms) + ", trigger: " + run.trigger);
  for (const Node& node : run.nodes) {
    const bool is_quiet = node.state == NodeState::kDone || node.state == NodeState::kPending;
    if (!is_quiet) explanation.lines.push_back(sentence_of(node));
    if (node.state == NodeState::kWaitingApproval)
      explanation.next.push_back(approve_command(run, node));
    if (node.state == NodeState::kFailed && node.work.kind == "job")
      explanation.next.push_back("takt why " + node.work.text());
  }
  return explanation;
}

spine::Explanation explain_node(const PipelineRun& run, const Node& node) {
  spine::Explanation explanation;
  explanation.ref = run.node_ref(node.name);
  explanation.state = std::string(node_state_name(node.state));
  explanation.title = "node " + explanation.ref.path + " is " + explanation.state;
  if (!node.reason.empty()) explanation.lines.push_back(node.reason);
  if (node.state == NodeState::kPending)
    explanation.lines.push_back("what it needs has not ended yet");
  for (const auto& [name, value] : node.inputs)
    explanation.lines.push_back("input " + name + ": " +
                                (value.ref.kind.empty() ? value.digest.value : value.ref.text()));
  for (const auto& [name, value] : node.outputs)
    explanation.lines.push_back("output " + name + ": " +
                                (value.ref.kind.empty() ? value.digest.value : value.ref.text()));
  if (!node.approver.empty())
    explanation.lines.push_back("decided by " + node.approver.value +
                                (node.note.empty() ? "" : ": " + node.note));
  if (node.state == NodeState::kWaitingApproval)
    explanation.next.push_back(approve_command(run, node));
  if (!node.work.kind.empty()) explanation.next.push_back("takt why " + node.work.text());
  explanation.facts = Object{{"attempt", node.attempt}, {"cache_key", node.cache_key.value}};
  return explanation;
}

}  // namespace

Result<spine::Explanation> PipelineExplainer::explain(const ProjectId& project, const Ref& ref) {
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  TAKT_ASSIGN(const NodePath place, parse_place(ref.path));
  const std::string_view wanted = !place.node.empty() ? "node"
                                  : place.number > 0  ? "pipeline-run"
                                                      : "pipeline";
  if (ref.kind != wanted) return fail(Code::kNotFound, "no " + ref.kind + " '" + ref.path + "'");
  if (place.number == 0) {
    TAKT_ASSIGN(const Pipeline pipeline, pipelines_.get(by, place.pipeline));
    spine::Explanation explanation;
    explanation.ref = Ref{"pipeline", pipeline.name};
    explanation.state = pipeline.is_armed ? "armed" : "stored";
    explanation.title = "pipeline " + pipeline.name + " is " + explanation.state;
    explanation.lines.push_back(pipeline.is_armed ? "starts for each new version of dataset " +
                                                        pipeline.on_dataset
                                                  : "starts by hand only");
    explanation.lines.push_back(pipeline.last_run == 0
                                    ? "never ran"
                                    : "ran " + std::to_string(pipeline.last_run) + " times");
    return explanation;
  }
  TAKT_ASSIGN(const PipelineRun run, pipelines_.get_run(by, place.pipeline, place.number));
  if (place.node.empty()) return explain_run(run);
  const Node* node = run.find(place.node);
  if (node == nullptr)
    return fail(Code::kNotFound, "run " + run.ref().path + " has no node '" + place.node + "'");
  return explain_node(run, *node);
}

Result<spine::LineCard> PipelineExplainer::line_card(const ProjectId& project,
                                                     std::int64_t since_ms) {
  spine::LineCard card;
  card.station = "pipelines";
  std::int64_t waiting = 0;
  TAKT_RETURN_IF_ERROR(pipelines_.db().read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(card.total, count_runs_since(reader, project, since_ms));
    TAKT_ASSIGN(const auto open, load_open_runs(reader));
    for (const PipelineRun& run : open) {
      if (run.project != project) continue;
      ++card.moving;
      if (card.pieces.size() < 20) card.pieces.push_back(run.ref());
      for (const Node& node : run.nodes) {
        if (node.state != NodeState::kWaitingApproval) continue;
        ++waiting;
        card.stops.push_back({"approval", run.node_ref(node.name),
                              run.ref().path + ": " + node.name + " " + node.reason,
                              approve_command(run, node), node.asked_ms});
      }
    }
    TAKT_ASSIGN(const auto failed, load_failed_since(reader, project, since_ms));
    for (const PipelineRun& run : failed)
      card.stops.push_back({"failed", run.ref(), run.ref().path + " failed at " + run.reason,
                            "takt why " + run.ref().text(), run.ended_ms});
    return {};
  }));
  card.lines.push_back(std::to_string(card.moving) + " running");
  card.lines.push_back(std::to_string(waiting) + " waiting for approval");
  return card;
}

}  // namespace takt::pipelines
