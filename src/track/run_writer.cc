// SPDX-License-Identifier: Apache-2.0
#include "takt/track/run_writer.h"

#include "takt/store/event_log.h"
#include "takt/track/artifact_store.h"
#include "takt/track/checks.h"
#include "takt/track/events.h"
#include "takt/track/experiment_store.h"
#include "takt/track/metric_fold_store.h"
#include "takt/track/metric_store.h"
#include "takt/track/run_store.h"

namespace takt::track {
namespace {

Result<Experiment> experiment_or_new(store::Tx& tx, const ProjectId& project, const UserId& user,
                                     const std::string& name) {
  TAKT_RETURN_IF_ERROR(check_experiment_name(name));
  TAKT_ASSIGN(auto known, find_experiment_by_name(tx, project, name));
  if (known && known->is_deleted) {
    TAKT_RETURN_IF_ERROR(mark_experiment(tx, project, known->id, false));
    return *known;
  }
  if (known) return *known;
  Experiment experiment;
  experiment.name = name;
  TAKT_ASSIGN(const auto made, insert_experiment(tx, project, experiment));
  store::Event event;
  event.project = project;
  event.actor = user;
  event.verb = kExperimentCreated;
  event.subject = {"experiment", made->id.value};
  event.details = Object{{"name", name}};
  TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
  return *made;
}

Result<Run> row_of(store::Reader& reader, const ProjectId& project, const RunId& id) {
  TAKT_ASSIGN(auto run, find_run_row(reader, project, id));
  if (!run) return fail(Code::kNotFound, "Run with id=" + id.value + " not found");
  return *run;
}

}  // namespace

store::Event run_event(std::string_view verb, const ProjectId& project, const UserId& actor,
                       const Run& run) {
  store::Event event;
  event.project = project;
  event.actor = actor;
  event.verb = std::string(verb);
  event.subject = ref_of(run.id);
  Object details{{"name", run.name}, {"experiment", run.experiment_name}};
  if (is_final(run.status)) {
    details["status"] = run_status_name(run.status);
    details["duration_ms"] = run.end_ms < 0 ? Value() : Value(run.end_ms - run.start_ms);
  }
  event.details = std::move(details);
  return event;
}

Status insert_run(store::Tx& tx, const NewRun& asked) {
  TAKT_ASSIGN(const auto existing, find_run_row(tx, asked.project, asked.id));
  if (existing) return {};
  TAKT_ASSIGN(const Experiment experiment,
              experiment_or_new(tx, asked.project, asked.user,
                                asked.experiment.empty() ? "Default" : asked.experiment));
  Run run;
  run.id = asked.id;
  run.experiment = experiment.id;
  run.experiment_name = experiment.name;
  run.name = asked.name;
  run.user = asked.user;
  run.start_ms = tx.now_ms();
  run.artifact_uri = experiment.artifact_location + "/" + asked.id.value + "/artifacts";
  TAKT_ASSIGN(const bool is_new, insert_run_row(tx, asked.project, run, ""));
  if (!is_new) return fail(Code::kConflict, "run " + asked.id.value + " exists in another project");
  for (const auto& [key, value] : asked.params)
    TAKT_RETURN_IF_ERROR(store_param(tx, run.id, key, cut_text(value, kParamBytesMax)));
  for (const auto& [key, value] : asked.tags)
    TAKT_RETURN_IF_ERROR(store_tag(tx, run.id, key, cut_text(value, kTagBytesMax)));
  TAKT_RETURN_IF_ERROR(store_tag(tx, run.id, kRunNameTag, run.name));
  TAKT_RETURN_IF_ERROR(
      store::append_event(tx, run_event(kRunCreated, asked.project, asked.user, run)));
  return {};
}

Status end_run(store::Tx& tx, const ProjectId& project, const RunId& id, RunEnd end) {
  TAKT_ASSIGN(Run run, row_of(tx, project, id));
  const RunStatus status = end == RunEnd::kFinished ? RunStatus::kFinished
                           : end == RunEnd::kFailed ? RunStatus::kFailed
                                                    : RunStatus::kKilled;
  // The script's own end_run may have come first; where they differ, the job's end is the truth.
  if (run.status == status && run.end_ms >= 0) return {};
  run.status = status;
  run.end_ms = tx.now_ms();
  TAKT_RETURN_IF_ERROR(store_run_row(tx, project, run));
  TAKT_RETURN_IF_ERROR(fold_ended_run(tx, id));
  TAKT_RETURN_IF_ERROR(store::append_event(tx, run_event(kRunEnded, project, run.user, run)));
  return {};
}

Status set_run_tag(store::Tx& tx, const ProjectId& project, const RunId& id, std::string_view key,
                   std::string_view value) {
  TAKT_RETURN_IF_ERROR(row_of(tx, project, id));
  return store_tag(tx, id, key, cut_text(value, kTagBytesMax));
}

Status log_run_metrics(store::Tx& tx, const ProjectId& project, const RunId& id,
                       const std::map<std::string, double>& metrics) {
  TAKT_RETURN_IF_ERROR(row_of(tx, project, id));
  std::vector<Metric> points;
  for (const auto& [key, value] : metrics) {
    Metric metric;
    metric.key =
        cut_text(key, kKeyBytesMax);  // any key is taken: the end of a job must not fail by it
    metric.point = {tx.now_ms(), 0, value};
    points.push_back(std::move(metric));
  }
  return store_points(tx, id, points).transform([](bool) {});
}

Status add_run_artifacts(store::Tx& tx, const ProjectId& project, const RunId& id,
                         std::string_view folder, const content::Manifest& tree) {
  TAKT_RETURN_IF_ERROR(row_of(tx, project, id));
  for (content::Entry entry : tree.entries) {
    if (!folder.empty()) entry.path = std::string(folder) + "/" + entry.path;
    TAKT_RETURN_IF_ERROR(store_artifact_over(tx, project, root_of_run(id), entry));
  }
  return {};
}

}  // namespace takt::track
