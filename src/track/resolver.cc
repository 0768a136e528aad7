// SPDX-License-Identifier: Apache-2.0
#include "takt/track/resolver.h"

#include <algorithm>

#include "takt/base/units.h"
#include "takt/base/value.h"
#include "takt/track/mlflow_request.h"
#include "takt/track/run_store.h"

namespace takt::track {
namespace {

constexpr std::size_t kShownMax = 12;

std::string lower_word(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return lower;
}

std::string number_word(double value) {
  const Value shown = mlflow_number(value);
  return shown.is_string() ? shown.as_string() : dump_json(shown);
}

template <class Map, class Show>
std::string joined(const Map& map, Show show) {
  std::string text;
  std::size_t count = 0;
  for (const auto& [key, value] : map) {
    if (++count > kShownMax) return text + ", …";
    text += (text.empty() ? "" : ", ") + key + " " + show(value);
  }
  return text;
}

}  // namespace

Result<spine::Explanation> RunExplainer::explain(const ProjectId& project, const Ref& ref) {
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  TAKT_ASSIGN(const Run run, track_.run(by, RunId{ref.path}));
  TAKT_ASSIGN(const RunLinks links, track_.links(by, run));
  spine::Explanation explanation;
  explanation.ref = ref_of(run.id);
  explanation.state = run.is_deleted ? "deleted" : lower_word(run_status_name(run.status));
  explanation.title = "run " + run.name + " (" + explanation.state + ")";
  std::string first = "by " + run.user.value + " in experiment " + run.experiment_name +
                      ", started " + format_time(run.start_ms);
  if (run.end_ms >= 0) first += ", took " + format_duration_ms(run.end_ms - run.start_ms);
  explanation.lines.push_back(std::move(first));
  if (!run.metrics.empty())
    explanation.lines.push_back("metrics: " + joined(run.metrics, [](const Point& point) {
                                  return number_word(point.value);
                                }));
  if (!run.params.empty())
    explanation.lines.push_back("params: " +
                                joined(run.params, [](const std::string& value) { return value; }));
  if (!links.job.empty()) {
    explanation.lines.push_back("logged by " + links.job);
    if (run.status == RunStatus::kFailed) explanation.next.push_back("takt why " + links.job);
  }
  if (links.artifact_files > 0)
    explanation.lines.push_back(std::to_string(links.artifact_files) +
                                (links.artifact_files == 1 ? " artifact, " : " artifacts, ") +
                                format_bytes(links.artifact_bytes));
  Object metrics, params;
  for (const auto& [key, point] : run.metrics) metrics[key] = mlflow_number(point.value);
  for (const auto& [key, value] : run.params) params[key] = value;
  Object facts{{"experiment", run.experiment_name},
               {"metrics", std::move(metrics)},
               {"params", std::move(params)}};
  if (const std::string seed = word_of(run.tags, "takt.seed"); !seed.empty()) facts["seed"] = seed;
  if (!links.code.empty()) facts["code"] = links.code;
  if (!links.environment.empty()) facts["environment"] = links.environment;
  explanation.facts = std::move(facts);
  return explanation;
}

Result<spine::LineCard> RunExplainer::line_card(const ProjectId& project, std::int64_t since_ms) {
  RunCounts counts;
  std::vector<RunId> running;
  TAKT_RETURN_IF_ERROR(track_.db().read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(counts, count_runs(reader, project, since_ms));
    TAKT_ASSIGN(running, running_runs(reader, project));
    return {};
  }));
  spine::LineCard card;
  card.station = "runs";
  card.total = counts.runs;
  card.moving = counts.running;
  card.lines.push_back(std::to_string(counts.since) + " new");
  card.lines.push_back(std::to_string(counts.failed_since) + " failed");
  for (const RunId& run : running) card.pieces.push_back(ref_of(run));
  return card;
}

}  // namespace takt::track
