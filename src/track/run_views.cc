// SPDX-License-Identifier: Apache-2.0
// The reading half of TrackService: searches, columns, histories, links.
#include <algorithm>
#include <charconv>

#include "takt/base/value.h"
#include "takt/store/lineage.h"
#include "takt/track/artifact_store.h"
#include "takt/track/metric_store.h"
#include "takt/track/run_store.h"
#include "takt/track/track_service.h"

namespace takt::track {
namespace {

/// Tags hold bare values (41, a digest) or whole refs.
std::string ref_from_tag(const Run& run, std::string_view tag, std::string_view kind) {
  const std::string value = word_of(run.tags, tag);
  if (value.empty() || value.find('/') != std::string::npos) return value;
  return std::string(kind) + "/" + value;
}

}  // namespace

Result<RunPage> TrackService::search(const access::CanRead& by, const RunSearch& search,
                                     const RunColumns& columns, bool with_inputs) {
  RunPage page;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(page, search_runs(reader, by.project(), search));
    TAKT_RETURN_IF_ERROR(load_run_data(reader, page.runs, columns));
    return with_inputs ? load_run_inputs(reader, page.runs) : Status{};
  }));
  return page;
}

Result<std::vector<std::string>> TrackService::experiment_ids(
    const access::CanRead& by, const std::vector<std::string>& named) {
  TAKT_ASSIGN(const auto all, experiments(by));
  std::vector<std::string> ids, names;
  for (const Experiment& experiment : all) {
    names.push_back(experiment.name);
    if (named.empty() && !experiment.is_deleted) ids.push_back(experiment.id.value);
  }
  for (const std::string& word : named) {
    // A name wins over an id of the same digits.
    auto found = std::ranges::find(all, word, &Experiment::name);
    if (found == all.end())
      found = std::ranges::find(all, word, [](const Experiment& e) { return e.id.value; });
    if (found == all.end()) {
      const std::string near = nearest_name(word, names);
      return fail(Code::kNotFound, "no experiment '" + word + "'",
                  near.empty() ? "see /runs" : "did you mean '" + near + "'?", "experiment");
    }
    ids.push_back(found->id.value);
  }
  return ids;
}

Result<std::vector<RunColumn>> TrackService::columns(const access::CanRead& by,
                                                     const std::vector<std::string>& experiments) {
  std::vector<RunColumn> columns;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(columns, list_run_columns(reader, by.project(), experiments));
    return {};
  }));
  return columns;
}

Result<History> TrackService::history(const access::CanRead& by, const RunId& id,
                                      std::string_view key, const std::optional<Point>& after,
                                      std::int64_t limit) {
  History history;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto run, find_run_row(reader, by.project(), id));
    if (!run) return fail(Code::kNotFound, "Run with id=" + id.value + " not found");
    TAKT_ASSIGN(history.total, count_points(reader, id, key));
    TAKT_ASSIGN(history.points, load_points(reader, id, key, after, limit));
    return {};
  }));
  return history;
}

Result<RunLinks> TrackService::links(const access::CanRead& by, const Run& run) {
  RunLinks links;
  links.job = ref_from_tag(run, kJobTag, "job");
  links.code = ref_from_tag(run, "takt.code", "code");
  links.environment = ref_from_tag(run, "takt.environment", "environment");
  links.parent = ref_from_tag(run, kParentRunTag, "run");
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto origins, store::edges_from(reader, by.project(), ref_of(run.id)));
    for (const auto& edge : origins)
      if (edge.to.kind == "dataset") links.datasets.push_back(edge.to);
    TAKT_ASSIGN(const auto results, store::edges_to(reader, by.project(), ref_of(run.id)));
    for (const auto& edge : results)
      if (edge.from.kind == "model") links.models.push_back(edge.from);
    TAKT_ASSIGN(links.children, runs_by_tag(reader, by.project(), kParentRunTag, run.id.value));
    TAKT_ASSIGN(const auto total, artifacts_total(reader, by.project(), root_of_run(run.id)));
    links.artifact_files = total.files;
    links.artifact_bytes = total.bytes;
    return {};
  }));
  return links;
}

std::vector<Point> thin_points(const std::vector<Point>& points, std::size_t max) {
  if (points.size() <= max) return points;
  const std::size_t stretches = std::max<std::size_t>(max / 3, 1);
  std::vector<Point> kept;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t from = points.size() * i / stretches;
    const std::size_t to = points.size() * (i + 1) / stretches;
    std::size_t low = from, high = from;
    for (std::size_t j = from; j < to; ++j) {
      // Comparisons with not-a-number are false: it is kept only where nothing else is.
      if (points[j].value < points[low].value || std::isnan(points[low].value)) low = j;
      if (points[j].value > points[high].value || std::isnan(points[high].value)) high = j;
    }
    std::vector<std::size_t> chosen{low, high, to - 1};
    std::ranges::sort(chosen);
    const auto repeated = std::ranges::unique(chosen);
    chosen.erase(repeated.begin(), repeated.end());
    for (const std::size_t j : chosen) kept.push_back(points[j]);
  }
  return kept;
}

}  // namespace takt::track
