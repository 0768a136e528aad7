// SPDX-License-Identifier: Apache-2.0
// Experiments and runs as clients see them: permission, validation, transaction, event.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/access/access.h"
#include "takt/store/database.h"
#include "takt/track/curve.h"
#include "takt/track/experiment_search_store.h"
#include "takt/track/experiment_store.h"
#include "takt/track/run.h"
#include "takt/track/run_search_store.h"

namespace takt::track {

/// A run as a client creates it.
struct ClientRun {
  ExperimentId experiment;  // empty: Default
  std::string name;         // empty: the tag mlflow.runName, else a made one
  std::string user;         // empty: the caller
  UnixMs start_ms = 0;      // 0: now
  Words tags;
  std::string idempotency_key;  // the same again gives the run of the first time
};
struct RunChange {
  std::optional<RunStatus> status;
  std::optional<UnixMs> end_ms;
  std::optional<std::string> name;
};
/// One log-batch: written in one transaction, all or nothing.
struct Batch {
  std::vector<Metric> metrics;
  std::vector<std::pair<std::string, std::string>> params, tags;
};
struct RunLinks {
  std::string job, code, environment, parent;  // refs, "" when none
  std::vector<Ref> datasets, models;
  std::vector<RunId> children;
  std::int64_t artifact_files = 0, artifact_bytes = 0;
};
struct History {
  std::int64_t total = 0;
  std::vector<Point> points;
};
/// Bounds of what is looked at, both included.
struct CurveRange {
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  bool holds(std::int64_t place) const { return place >= from && place <= to; }
};
struct ThinHistory {
  std::int64_t total = 0;  // of the series
  bool is_thinned = false;
  std::vector<Point> points;  // by step
};
struct CurveQuery {
  std::string key;
  CurveAxis axis = CurveAxis::kStep;
  CurveRange range;  // steps, or milliseconds
  std::size_t stretches_max = 500;
};
struct Curve {
  RunId run;
  std::int64_t total = 0;   // points of the series
  std::int64_t looked = 0;  // of them in the range
  std::vector<Stretch> stretches;
};

class TrackService {
 public:
  explicit TrackService(store::Database& db) : db_(db) {}

  Result<Experiment> create_experiment(const access::CanWrite& by, Experiment experiment);
  /// The id 0 is each project's own Default, made when first asked for.
  Result<Experiment> experiment(const access::CanRead& by, const ExperimentId& id);
  Result<Experiment> experiment_by_name(const access::CanRead& by, std::string_view name);
  Result<std::vector<Experiment>> experiments(const access::CanRead& by);
  /// By id; of one experiment only, when that is named.
  Result<std::map<std::string, ExperimentCounts>> experiment_counts(const access::CanRead& by,
                                                                    const ExperimentId& only = {});
  Status rename_experiment(const access::CanWrite& by, const ExperimentId& id,
                           std::string_view name);
  /// With its runs, or back with those that went with it.
  Status mark_experiment(const access::CanWrite& by, const ExperimentId& id, bool is_deleted);
  Status set_experiment_tag(const access::CanWrite& by, const ExperimentId& id,
                            std::string_view key, std::string_view value);
  Status delete_experiment_tag(const access::CanWrite& by, const ExperimentId& id,
                               std::string_view key);

  Result<Run> create_run(const access::CanWrite& by, const ClientRun& run);
  /// Whole: params, tags, latest metrics, inputs. Deleted ones too.
  Result<Run> run(const access::CanRead& by, const RunId& id);
  Result<Run> update_run(const access::CanWrite& by, const RunId& id, const RunChange& change);
  Status mark_run(const access::CanWrite& by, const RunId& id, bool is_deleted);
  Status log_batch(const access::CanWrite& by, const RunId& id, const Batch& batch);
  Status set_tag(const access::CanWrite& by, const RunId& id, std::string_view key,
                 std::string_view value);
  Status delete_tag(const access::CanWrite& by, const RunId& id, std::string_view key);
  Status log_inputs(const access::CanWrite& by, const RunId& id,
                    const std::vector<RunInput>& inputs, const std::vector<ModelLink>& models);
  Status log_outputs(const access::CanWrite& by, const RunId& id,
                     const std::vector<ModelLink>& models);

  /// With their data; inputs only when asked for.
  Result<RunPage> search(const access::CanRead& by, const RunSearch& search,
                         const RunColumns& columns, bool with_inputs);
  Result<ExperimentPage> search_experiments(const access::CanRead& by,
                                            const ExperimentSearch& search);
  /// Experiments named by name or id; all active ones for none. kNotFound names the unknown.
  Result<RunScope> scope(const access::CanRead& by, const std::vector<std::string>& named);
  /// Experiments by id, as clients have them; all active ones for none. Unknown ids find nothing.
  Result<RunScope> scope_of_ids(const access::CanRead& by, std::vector<std::string> ids);
  Result<std::vector<RunColumn>> columns(const access::CanRead& by, const RunScope& scope);
  /// By time; `after` goes on behind a point.
  Result<History> history(const access::CanRead& by, const RunId& id, std::string_view key,
                          const std::optional<Point>& after, std::int64_t limit);
  /// As `history`, thinned to at most `max` points whose steps are in the range.
  Result<ThinHistory> thin_history(const access::CanRead& by, const RunId& id, std::string_view key,
                                   const CurveRange& steps, std::size_t max);
  /// One metric of many runs, to draw. A run without that metric gives an empty curve.
  Result<std::vector<Curve>> curves(const access::CanRead& by, const std::vector<RunId>& runs,
                                    const CurveQuery& query);
  Result<RunLinks> links(const access::CanRead& by, const Run& run);
  store::Database& db() { return db_; }
  /// Called after a write that filled a metric's head (MetricFolder). Set before the first write.
  void on_full_head(std::function<void()> wake) { wake_folder_ = std::move(wake); }

 private:
  store::Database& db_;
  std::function<void()> wake_folder_ = [] {};
};

/// "nimble-otter-417"
std::string make_run_name();

}  // namespace takt::track
