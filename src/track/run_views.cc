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

Result<Run> row_of_run(store::Reader& reader, const ProjectId& project, const RunId& id) {
  TAKT_ASSIGN(auto run, find_run_row(reader, project, id));
  if (!run) return fail(Code::kNotFound, "Run with id=" + id.value + " not found");
  return *std::move(run);
}

/// A block at a time, so that a series of any length takes little memory.
template <class Take>
Status for_each_point(store::Reader& reader, const Series& series, Take take) {
  constexpr std::size_t kBlock = 10'000;
  PointReader points(reader, series, std::nullopt);
  std::vector<Point> block;
  do {
    block.clear();
    TAKT_RETURN_IF_ERROR(points.read(kBlock, block));
    for (const Point& point : block) take(point);
  } while (block.size() == kBlock);
  return {};
}

Status no_experiment_called(store::Reader& reader, const ProjectId& project,
                            const std::string& word) {
  TAKT_ASSIGN(const auto all, load_experiments(reader, project));
  std::vector<std::string> names;
  for (const Experiment& experiment : all) names.push_back(experiment.name);
  const std::string near = nearest_name(word, names);
  return fail(Code::kNotFound, "no experiment '" + word + "'",
              near.empty() ? "see /runs" : "did you mean '" + near + "'?", "experiment");
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

Result<ExperimentPage> TrackService::search_experiments(const access::CanRead& by,
                                                        const ExperimentSearch& search) {
  ExperimentPage page;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(page, track::search_experiments(reader, by.project(), search));
    return {};
  }));
  return page;
}

Result<RunScope> TrackService::scope(const access::CanRead& by,
                                     const std::vector<std::string>& named) {
  RunScope scope{.is_all = named.empty()};
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    for (const std::string& word : named) {
      // A name wins over an id of the same digits.
      TAKT_ASSIGN(auto found, find_experiment_by_name(reader, by.project(), word));
      if (!found) {
        TAKT_ASSIGN(found, find_experiment(reader, by.project(), ExperimentId{word}));
      }
      if (!found) return no_experiment_called(reader, by.project(), word);
      scope.experiments.push_back(found->id.value);
    }
    return {};
  }));
  return scope;
}

Result<RunScope> TrackService::scope_of_ids(const access::CanRead& by,
                                            std::vector<std::string> ids) {
  RunScope scope{.is_all = ids.empty(), .experiments = std::move(ids)};
  for (std::string& id : scope.experiments) {
    if (id != "0") continue;  // the project's own Default
    TAKT_ASSIGN(const Experiment own, experiment(by, ExperimentId{id}));
    id = own.id.value;
  }
  return scope;
}

Result<std::vector<RunColumn>> TrackService::columns(const access::CanRead& by,
                                                     const RunScope& scope) {
  std::vector<RunColumn> columns;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(columns, list_run_columns(reader, by.project(), scope));
    return {};
  }));
  return columns;
}

Result<History> TrackService::history(const access::CanRead& by, const RunId& id,
                                      std::string_view key, const std::optional<Point>& after,
                                      std::int64_t limit) {
  History history;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_RETURN_IF_ERROR(row_of_run(reader, by.project(), id));
    TAKT_ASSIGN(const auto series, find_series(reader, id, key));
    if (!series) return {};
    history.total = series->points;
    PointReader points(reader, *series, after);
    return points.read(static_cast<std::size_t>(limit), history.points);
  }));
  return history;
}

Result<ThinHistory> TrackService::thin_history(const access::CanRead& by, const RunId& id,
                                               std::string_view key, const CurveRange& steps,
                                               std::size_t max) {
  ThinHistory history;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_RETURN_IF_ERROR(row_of_run(reader, by.project(), id));
    TAKT_ASSIGN(const auto series, find_series(reader, id, key));
    if (!series) return {};
    history.total = series->points;
    Thinner thinner(max);
    TAKT_RETURN_IF_ERROR(for_each_point(reader, *series, [&](const Point& point) {
      if (steps.holds(point.step)) thinner.add(point);
    }));
    history.is_thinned = thinner.is_thinned();
    history.points = thinner.points();
    return {};
  }));
  return history;
}

Result<std::vector<Curve>> TrackService::curves(const access::CanRead& by,
                                                const std::vector<RunId>& runs,
                                                const CurveQuery& query) {
  std::vector<Curve> curves;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    for (const RunId& run : runs) {
      TAKT_RETURN_IF_ERROR(row_of_run(reader, by.project(), run));
      TAKT_ASSIGN(const auto series, find_series(reader, run, query.key));
      Curve& curve = curves.emplace_back(Curve{.run = run});
      if (!series) continue;
      CurveBuilder builder(query.axis, query.stretches_max);
      TAKT_RETURN_IF_ERROR(for_each_point(reader, *series, [&](const Point& point) {
        const bool is_by_step = query.axis == CurveAxis::kStep;
        if (query.range.holds(is_by_step ? point.step : point.timestamp_ms)) builder.add(point);
      }));
      curve.total = series->points;
      curve.looked = builder.count();
      curve.stretches = builder.stretches();
    }
    return {};
  }));
  return curves;
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

}  // namespace takt::track
