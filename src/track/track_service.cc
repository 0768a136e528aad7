// SPDX-License-Identifier: Apache-2.0
#include "takt/track/track_service.h"

#include <algorithm>
#include <set>

#include "takt/base/digest.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"
#include "takt/track/artifact_store.h"
#include "takt/track/checks.h"
#include "takt/track/events.h"
#include "takt/track/logged_model_store.h"
#include "takt/track/metric_fold_store.h"
#include "takt/track/metric_store.h"
#include "takt/track/run_store.h"

namespace takt::track {
namespace {

store::Event experiment_event(std::string_view verb, const ProjectId& project, const UserId& actor,
                              const ExperimentId& id, std::string_view name) {
  store::Event event;
  event.project = project;
  event.actor = actor;
  event.verb = std::string(verb);
  event.subject = {"experiment", id.value};
  event.details = Object{{"name", name}};
  return event;
}

std::unexpected<Error> no_experiment(const ExperimentId& id) {
  return fail(Code::kNotFound, "No Experiment with id=" + id.value + " exists");
}

bool is_own_default(const ProjectId& project, const ExperimentId& id) {
  return id.value.empty() || (id.value == "0" && project.value != "default");
}

/// By id; 0 (or none) is the project's Default.
Result<std::optional<Experiment>> look_up_experiment(store::Reader& reader,
                                                     const ProjectId& project,
                                                     const ExperimentId& id) {
  if (is_own_default(project, id)) return find_experiment_by_name(reader, project, "Default");
  return find_experiment(reader, project, id);
}

/// As above, and makes a Default that is missing.
Result<Experiment> experiment_for_write(store::Tx& tx, const access::CanWrite& by,
                                        const ExperimentId& id) {
  TAKT_ASSIGN(auto found, look_up_experiment(tx, by.project(), id));
  if (!found && is_own_default(by.project(), id)) {
    Experiment made;
    made.name = "Default";
    TAKT_ASSIGN(found, insert_experiment(tx, by.project(), made));
  }
  if (!found) return no_experiment(id);
  return *found;
}

Status check_active(const Experiment& experiment) {
  if (!experiment.is_deleted) return {};
  return fail(Code::kInvalid, "The experiment " + experiment.id.value +
                                  " must be in the 'active' state. Current state is deleted.");
}

/// What a write to the run says, if it is not there or deleted.
Status check_found(const RunId& id, std::optional<bool> is_deleted) {
  if (!is_deleted) return fail(Code::kNotFound, "Run with id=" + id.value + " not found");
  if (!*is_deleted) return {};
  return fail(Code::kInvalid,
              "The run " + id.value + " must be in the 'active' state. Current state is deleted.");
}

Status check_run_active(store::Reader& reader, const ProjectId& project, const RunId& id) {
  TAKT_ASSIGN(const auto is_deleted, is_run_deleted(reader, project, id));
  return check_found(id, is_deleted);
}

Result<Run> active_run(store::Reader& reader, const ProjectId& project, const RunId& id) {
  TAKT_ASSIGN(auto run, find_run_row(reader, project, id));
  TAKT_RETURN_IF_ERROR(check_found(id, run ? std::optional(run->is_deleted) : std::nullopt));
  return *std::move(run);
}

Status check_batch(const Batch& batch) {
  const auto limit = [](std::string_view what, std::size_t count, std::size_t max) -> Status {
    if (count <= max) return {};
    return fail(Code::kInvalid,
                "A batch logging request can contain at most " + std::to_string(max) + " " +
                    std::string(what) + ". Got " + std::to_string(count) + " " + std::string(what) +
                    ". Please split up " + std::string(what) +
                    " across multiple requests and try again.",
                {}, std::string(what));
  };
  TAKT_RETURN_IF_ERROR(limit("metrics", batch.metrics.size(), kMetricsPerBatchMax));
  TAKT_RETURN_IF_ERROR(limit("params", batch.params.size(), kParamsPerBatchMax));
  TAKT_RETURN_IF_ERROR(limit("tags", batch.tags.size(), kTagsPerBatchMax));
  TAKT_RETURN_IF_ERROR(limit("metrics, params, and tags",
                             batch.metrics.size() + batch.params.size() + batch.tags.size(),
                             kEntitiesPerBatchMax));
  std::set<std::string_view> seen;
  std::string repeated;
  for (const auto& [key, value] : batch.params)
    if (!seen.insert(key).second) repeated += (repeated.empty() ? "'" : ", '") + key + "'";
  if (!repeated.empty())
    return fail(Code::kInvalid,
                "Duplicate parameter keys have been submitted: [" + repeated +
                    "]. Please ensure the request contains only one param value per param key.",
                {}, "params");
  return {};
}

/// Writes the params that are new; one that is there with another value fails the whole.
Status log_params(store::Tx& tx, const RunId& id,
                  const std::vector<std::pair<std::string, std::string>>& params) {
  std::string changed;
  for (const auto& [key, value] : params) {
    const std::string kept = cut_text(value, kParamBytesMax);
    TAKT_ASSIGN(const auto old, store_param(tx, id, key, kept));
    if (old)
      changed += std::string(changed.empty() ? "" : ", ") + "{'key': '" + key +
                 "', 'old_value': '" + *old + "', 'new_value': '" + kept + "'}";
  }
  if (changed.empty()) return {};
  return fail(Code::kInvalid,
              "Changing param values is not allowed. Params were already logged='[" + changed +
                  "]' for run ID='" + id.value + "'.",
              {}, "params");
}

Status write_tag(store::Tx& tx, const ProjectId& project, Run& run, std::string_view key,
                 std::string_view value) {
  const std::string kept = cut_text(value, kTagBytesMax);
  TAKT_RETURN_IF_ERROR(store_tag(tx, run.id, key, kept));
  if (key != kRunNameTag || kept == run.name) return {};
  run.name = kept;
  return store_run_row(tx, project, run);
}

std::string id_of_new_run() { return random_hex(16); }

Result<Run> whole_run(store::Reader& reader, const ProjectId& project, const RunId& id) {
  TAKT_ASSIGN(auto run, find_run(reader, project, id));
  if (!run) return fail(Code::kNotFound, "Run with id=" + id.value + " not found");
  return std::move(*run);
}

/// The name by the client's word, its tag, or made up; both given must agree.
Result<std::string> name_of_new_run(const ClientRun& asked) {
  const std::string tagged = word_of(asked.tags, kRunNameTag);
  if (!asked.name.empty() && !tagged.empty() && asked.name != tagged)
    return fail(
        Code::kInvalid,
        "Both 'run_name' argument and 'mlflow.runName' tag are specified, but with different "
        "values (run_name='" +
            asked.name + "', mlflow.runName='" + tagged + "').",
        {}, "run_name");
  if (!asked.name.empty()) return asked.name;
  return tagged.empty() ? make_run_name() : tagged;
}

}  // namespace

std::string make_run_name() {
  static constexpr std::string_view kFirst[] = {
      "able",  "brisk", "calm",  "deft",  "eager",  "fair",   "glad", "handy",
      "ideal", "jolly", "keen",  "lucid", "merry",  "nimble", "open", "proud",
      "quick", "ready", "sound", "tidy",  "upbeat", "vivid",  "warm", "zesty"};
  static constexpr std::string_view kSecond[] = {
      "ant",   "bee",   "crane", "dove", "elk",    "finch", "gull",  "hare",
      "ibis",  "jay",   "koi",   "lark", "mole",   "newt",  "otter", "perch",
      "quail", "robin", "seal",  "tern", "urchin", "vole",  "wren",  "yak"};
  std::uint64_t number = 0;
  for (const char c : random_hex(7))
    number = number * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return std::string(kFirst[number % 24]) + "-" + std::string(kSecond[number / 24 % 24]) + "-" +
         std::to_string(number / 576 % 1000);
}

Result<Experiment> TrackService::create_experiment(const access::CanWrite& by, Experiment asked) {
  TAKT_RETURN_IF_ERROR(check_experiment_name(asked.name));
  TAKT_RETURN_IF_ERROR(check_artifact_location(asked.artifact_location));
  for (const auto& [key, value] : asked.tags) {
    TAKT_RETURN_IF_ERROR(check_key("key", key));
    TAKT_RETURN_IF_ERROR(check_length("value", value, kExperimentTagBytesMax));
  }
  Experiment made;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const auto inserted, insert_experiment(tx, by.project(), asked));
    if (!inserted)
      return fail(Code::kConflict, "Experiment(name=" + asked.name + ") already exists.", {},
                  "name");
    made = *inserted;
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, experiment_event(kExperimentCreated, by.project(), by.user(), made.id, made.name)));
    return {};
  }));
  return made;
}

Result<Experiment> TrackService::experiment(const access::CanRead& by, const ExperimentId& id) {
  std::optional<Experiment> found;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(found, look_up_experiment(reader, by.project(), id));
    return {};
  }));
  if (!found && is_own_default(by.project(), id)) {
    Experiment made;
    made.name = "Default";
    TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(insert_experiment(tx, by.project(), made));
      TAKT_ASSIGN(found, find_experiment_by_name(tx, by.project(), "Default"));
      return {};
    }));
  }
  if (!found) return no_experiment(id);
  return *found;
}

Result<Experiment> TrackService::experiment_by_name(const access::CanRead& by,
                                                    std::string_view name) {
  std::optional<Experiment> found;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(found, find_experiment_by_name(reader, by.project(), name));
    return {};
  }));
  if (!found)
    return fail(Code::kNotFound, "Could not find experiment with name '" + std::string(name) + "'");
  return *found;
}

Result<std::vector<Experiment>> TrackService::experiments(const access::CanRead& by) {
  std::vector<Experiment> experiments;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(experiments, load_experiments(reader, by.project()));
    return {};
  }));
  return experiments;
}

Result<std::map<std::string, ExperimentCounts>> TrackService::experiment_counts(
    const access::CanRead& by, const ExperimentId& only) {
  std::map<std::string, ExperimentCounts> counts;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(counts, count_runs_by_experiment(reader, by.project(), only));
    return {};
  }));
  return counts;
}

Status TrackService::rename_experiment(const access::CanWrite& by, const ExperimentId& id,
                                       std::string_view name) {
  TAKT_RETURN_IF_ERROR(check_experiment_name(name));
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const Experiment experiment, experiment_for_write(tx, by, id));
    TAKT_RETURN_IF_ERROR(check_active(experiment));
    if (experiment.name == name) return {};
    TAKT_ASSIGN(const auto taken, find_experiment_by_name(tx, by.project(), name));
    if (taken)
      return fail(Code::kConflict, "Experiment(name=" + std::string(name) + ") already exists.", {},
                  "new_name");
    TAKT_RETURN_IF_ERROR(store_experiment_name(tx, by.project(), experiment.id, name));
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, experiment_event(kExperimentRenamed, by.project(), by.user(), experiment.id, name)));
    return {};
  });
}

Status TrackService::mark_experiment(const access::CanWrite& by, const ExperimentId& id,
                                     bool is_deleted) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const Experiment experiment, experiment_for_write(tx, by, id));
    if (experiment.is_deleted == is_deleted)
      return is_deleted ? no_experiment(id)
                        : fail(Code::kInvalid, "The experiment " + id.value +
                                                   " must be in the 'deleted' state. "
                                                   "Current state is active.");
    TAKT_RETURN_IF_ERROR(track::mark_experiment(tx, by.project(), experiment.id, is_deleted));
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, experiment_event(is_deleted ? kExperimentDeleted : kExperimentRestored, by.project(),
                             by.user(), experiment.id, experiment.name)));
    return {};
  });
}

Status TrackService::set_experiment_tag(const access::CanWrite& by, const ExperimentId& id,
                                        std::string_view key, std::string_view value) {
  TAKT_RETURN_IF_ERROR(check_key("key", key));
  TAKT_RETURN_IF_ERROR(check_length("value", value, kExperimentTagBytesMax));
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const Experiment experiment, experiment_for_write(tx, by, id));
    TAKT_RETURN_IF_ERROR(check_active(experiment));
    return store_experiment_tag(tx, experiment.id, key, value);
  });
}

Status TrackService::delete_experiment_tag(const access::CanWrite& by, const ExperimentId& id,
                                           std::string_view key) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const Experiment experiment, experiment_for_write(tx, by, id));
    TAKT_RETURN_IF_ERROR(check_active(experiment));
    TAKT_ASSIGN(const bool was_there, remove_experiment_tag(tx, experiment.id, key));
    if (was_there) return {};
    return fail(Code::kNotFound,
                "No tag with name: " + std::string(key) + " in experiment with id " + id.value);
  });
}

Result<Run> TrackService::create_run(const access::CanWrite& by, const ClientRun& asked) {
  for (const auto& [key, value] : asked.tags) TAKT_RETURN_IF_ERROR(check_key("key", key));
  TAKT_ASSIGN(const std::string name, name_of_new_run(asked));
  const RunId id{id_of_new_run()};
  Run made;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    if (!asked.idempotency_key.empty()) {
      TAKT_ASSIGN(const auto known,
                  find_run_by_idempotency_key(tx, by.project(), asked.idempotency_key));
      if (known) {
        TAKT_ASSIGN(made, whole_run(tx, by.project(), *known));
        return {};
      }
    }
    TAKT_ASSIGN(const Experiment experiment, experiment_for_write(tx, by, asked.experiment));
    TAKT_RETURN_IF_ERROR(check_active(experiment));
    Run run;
    run.id = id;
    run.experiment = experiment.id;
    run.experiment_name = experiment.name;
    run.name = name;
    run.user.value = asked.user.empty() ? by.user().value : asked.user;
    run.start_ms = asked.start_ms > 0 ? asked.start_ms : tx.now_ms();
    run.artifact_uri = experiment.artifact_location + "/" + id.value + "/artifacts";
    run.tags = asked.tags;
    run.tags[std::string(kRunNameTag)] = name;
    TAKT_ASSIGN(const bool is_new, insert_run_row(tx, by.project(), run, asked.idempotency_key));
    if (!is_new) return fail(Code::kConflict, "run " + id.value + " exists already");
    for (auto& [key, value] : run.tags) {
      value = cut_text(value, kTagBytesMax);
      TAKT_RETURN_IF_ERROR(store_tag(tx, run.id, key, value));
    }
    TAKT_RETURN_IF_ERROR(
        store::append_event(tx, run_event(kRunCreated, by.project(), by.user(), run)));
    made = std::move(run);
    return {};
  }));
  return made;
}

Result<Run> TrackService::run(const access::CanRead& by, const RunId& id) {
  Run run;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(run, whole_run(reader, by.project(), id));
    return {};
  }));
  return run;
}

Result<Run> TrackService::update_run(const access::CanWrite& by, const RunId& id,
                                     const RunChange& change) {
  Run result;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(Run run, active_run(tx, by.project(), id));
    const bool was_final = is_final(run.status);
    if (change.status) run.status = *change.status;
    if (change.end_ms) run.end_ms = *change.end_ms;
    if (change.name && !change.name->empty()) {
      run.name = cut_text(*change.name, kTagBytesMax);
      TAKT_RETURN_IF_ERROR(store_tag(tx, id, kRunNameTag, run.name));
    }
    if (is_final(run.status) && run.end_ms < 0) run.end_ms = tx.now_ms();
    TAKT_RETURN_IF_ERROR(store_run_row(tx, by.project(), run));
    if (is_final(run.status)) TAKT_RETURN_IF_ERROR(fold_ended_run(tx, id));
    if (is_final(run.status) != was_final)
      TAKT_RETURN_IF_ERROR(store::append_event(
          tx, run_event(was_final ? kRunResumed : kRunEnded, by.project(), by.user(), run)));
    result = std::move(run);
    return {};
  }));
  return result;
}

Status TrackService::mark_run(const access::CanWrite& by, const RunId& id, bool is_deleted) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const auto run, find_run_row(tx, by.project(), id));
    if (!run) return fail(Code::kNotFound, "Run with id=" + id.value + " not found");
    if (run->is_deleted == is_deleted) return {};
    TAKT_RETURN_IF_ERROR(track::mark_run(tx, by.project(), id, is_deleted));
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, run_event(is_deleted ? kRunDeleted : kRunRestored, by.project(), by.user(), *run)));
    return {};
  });
}

Status TrackService::log_batch(const access::CanWrite& by, const RunId& id, const Batch& batch) {
  TAKT_RETURN_IF_ERROR(check_batch(batch));
  bool has_full_head = false;
  const Status written = db_.write([&](store::Tx& tx) -> Status {
    // Points are logged far more often than tags, which alone need the row.
    Run run;
    if (batch.tags.empty()) {
      TAKT_RETURN_IF_ERROR(check_run_active(tx, by.project(), id));
    } else {
      TAKT_ASSIGN(run, active_run(tx, by.project(), id));
    }
    TAKT_RETURN_IF_ERROR(log_params(tx, id, batch.params));
    TAKT_ASSIGN(has_full_head, store_points(tx, id, batch.metrics));
    for (const Metric& metric : batch.metrics)
      if (!metric.model.empty()) TAKT_RETURN_IF_ERROR(store_logged_model_metric(tx, id, metric));
    for (const auto& [key, value] : batch.tags)
      TAKT_RETURN_IF_ERROR(write_tag(tx, by.project(), run, key, value));
    return {};
  });
  if (written && has_full_head) wake_folder_();
  return written;
}

Status TrackService::set_tag(const access::CanWrite& by, const RunId& id, std::string_view key,
                             std::string_view value) {
  TAKT_RETURN_IF_ERROR(check_key("key", key));
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(Run run, active_run(tx, by.project(), id));
    return write_tag(tx, by.project(), run, key, value);
  });
}

Status TrackService::delete_tag(const access::CanWrite& by, const RunId& id, std::string_view key) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(active_run(tx, by.project(), id));
    TAKT_ASSIGN(const bool was_there, remove_tag(tx, id, key));
    if (was_there) return {};
    return fail(Code::kNotFound,
                "No tag with name: " + std::string(key) + " in run with id " + id.value);
  });
}

Status TrackService::log_inputs(const access::CanWrite& by, const RunId& id,
                                const std::vector<RunInput>& inputs,
                                const std::vector<ModelLink>& models) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(active_run(tx, by.project(), id));
    for (const RunInput& input : inputs) TAKT_RETURN_IF_ERROR(store_input(tx, id, input));
    for (const ModelLink& model : models)
      TAKT_RETURN_IF_ERROR(store_run_model(tx, id, false, model));
    return {};
  });
}

Status TrackService::log_outputs(const access::CanWrite& by, const RunId& id,
                                 const std::vector<ModelLink>& models) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(active_run(tx, by.project(), id));
    for (const ModelLink& model : models)
      TAKT_RETURN_IF_ERROR(store_run_model(tx, id, true, model));
    return {};
  });
}

}  // namespace takt::track
