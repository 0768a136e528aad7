// SPDX-License-Identifier: Apache-2.0
#include "takt/models/model_registry.h"

#include <algorithm>
#include <cmath>

#include "takt/models/alias_gate.h"
#include "takt/models/checks.h"
#include "takt/models/code_scan.h"
#include "takt/models/events.h"
#include "takt/models/model_store.h"
#include "takt/models/source.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"
#include "takt/track/artifact_service.h"
#include "takt/track/logged_model_store.h"
#include "takt/track/run_store.h"

namespace takt::models {
namespace {

Status make_model(store::Tx& tx, const ProjectId& project, const UserId& user,
                  std::string_view name, std::string_view description) {
  TAKT_ASSIGN(const bool is_new, insert_model(tx, project, name, description));
  if (!is_new)
    return fail(Code::kConflict,
                "Registered Model (name=" + std::string(name) + ") already exists.", {}, "name");
  return append_registry_event(tx, kModelCreated, project, user, {"model", std::string(name)});
}

/// Stores the version with its event and edge, and its alias.
Result<ModelVersion> write_version(store::Tx& tx, const ProjectId& project, const UserId& user,
                                   ModelVersion version, std::string_view owner) {
  version.created_by = user;
  TAKT_ASSIGN(ModelVersion made, insert_version(tx, project, std::move(version), owner));
  Object details{{"files", made.files}, {"size_bytes", made.bytes}};
  if (!made.run.empty()) details["run"] = made.run.value;
  store::Event event;
  event.project = project;
  event.actor = user;
  event.verb = std::string(kVersionAdded);
  event.subject = ref_of(made.id);
  event.details = std::move(details);
  event.after_digest = made.tree.value;
  TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
  if (!made.run.empty()) {
    TAKT_ASSIGN(const auto run, track::find_run_row(tx, project, made.run));
    if (run)
      TAKT_RETURN_IF_ERROR(
          store::add_edge(tx, project, ref_of(made.id), "came-from", ref_of(made.run)));
  }
  return made;
}

Status write_scan(store::Tx& tx, const ProjectId& project, const UserId& user,
                  const ModelVersionId& id, const CodeScan& scan) {
  return store_report(tx, project, id, kCodeReport, to_value(scan), user);
}

/// The metrics of the registration, when it is said on which data they were measured.
Status write_measurements(store::Tx& tx, const ProjectId& project, const UserId& user,
                          const ModelVersionId& id, const NewVersion& asked) {
  if (asked.metrics_data.empty()) return {};
  for (const auto& [key, value] : asked.metrics)
    if (std::isfinite(value))
      TAKT_RETURN_IF_ERROR(store_measurement(
          tx, project, id, {asked.metrics_data, key, value, asked.metrics_source, user, 0}));
  return {};
}

/// kConflict when something was made of the version.
Status check_unused(store::Reader& reader, const ProjectId& project, const ModelVersionId& id) {
  TAKT_ASSIGN(const auto users, store::edges_to(reader, project, ref_of(id)));
  if (users.empty()) return {};
  return fail(Code::kConflict,
              id.text() + " is used by " + std::to_string(users.size()) + " things, such as " +
                  users.front().from.text(),
              "see `takt why model/" + id.text() + "`; delete it anyway with force=true");
}

/// MLflow's old stages are to the rules what the alias of that name is.
Result<std::optional<Error>> refuse_stage(store::Tx& tx, const Mover& mover,
                                          const ModelVersionId& id, std::string_view stage) {
  if (stage != "Production" && stage != "Staging") return std::nullopt;
  const std::string_view alias = stage == "Production" ? "production" : "staging";
  TAKT_ASSIGN(const GateCheck check, check_gate(tx, mover.project, id, alias));
  if (check.is_allowed) return std::nullopt;
  Error refusal = refusal_of(check.results, alias, id, 0);
  TAKT_RETURN_IF_ERROR(note_refusal(tx, mover, check, refusal));
  return refusal;
}

/// A logged model keeps which versions were made of it, as the peer's server does.
Status note_on_logged_model(store::Tx& tx, const ProjectId& project, const ModelVersion& version) {
  constexpr std::string_view kVersionsTag = "mlflow.modelVersions";
  if (version.logged_model.empty()) return {};
  TAKT_ASSIGN(const auto model, track::find_logged_model(tx, project, version.logged_model));
  if (!model) return {};
  Array list;
  if (const auto old = parse_json(track::word_of(model->tags, kVersionsTag));
      old && old->is_array())
    list = old->as_array();
  list.push_back(Object{{"name", version.id.name}, {"version", version.id.number}});
  return track::store_logged_model_tag(tx, version.logged_model, kVersionsTag, dump_json(list));
}

}  // namespace

std::string download_uri(const ModelVersion& version) {
  return version.tree.empty() ? version.storage : track::tree_uri(version.tree);
}

ModelRegistry::ModelRegistry(store::Database& db, store::BlobStore& blobs)
    : db_(db), blobs_(blobs) {}

Result<ModelVersion> ModelRegistry::add_version(const access::CanWrite& by,
                                                const NewVersion& version) {
  TAKT_ASSIGN(Added added, add(by, version));
  return std::move(added.version);
}

Result<ModelRegistry::Added> ModelRegistry::add(const access::CanWrite& by,
                                                const NewVersion& asked) {
  TAKT_RETURN_IF_ERROR(check_name("model name", asked.model));
  if (!asked.alias.empty()) TAKT_RETURN_IF_ERROR(check_alias(asked.alias));
  for (const auto& [key, value] : asked.tags) TAKT_RETURN_IF_ERROR(check_registry_tag(key, value));
  TAKT_ASSIGN(const content::Manifest manifest, blobs_.read_tree(by.project(), asked.tree));
  if (manifest.entries.empty())
    return fail(Code::kInvalid, "a model version needs at least one file", "", "tree");
  TAKT_ASSIGN(const CodeScan scan, scan_files(blobs_, by.project(), manifest));
  Added added;
  std::optional<Error> refusal;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    std::optional<ModelVersionId> known;
    if (!asked.owner.empty()) {
      TAKT_ASSIGN(known, find_version_by_owner(tx, by.project(), asked.owner));
    }
    if (!known) {
      TAKT_ASSIGN(known, find_version_by_tree(tx, by.project(), asked.model, asked.tree));
    }
    added.created = !known.has_value();
    ModelVersionId id = known.value_or(ModelVersionId{});
    if (!known) {
      TAKT_ASSIGN(const auto models, load_models(tx, by.project(), asked.model));
      if (models.empty())
        TAKT_RETURN_IF_ERROR(make_model(tx, by.project(), by.user(), asked.model, ""));
      ModelVersion version;
      version.id.name = asked.model;
      version.tree = asked.tree;
      version.files = static_cast<std::int64_t>(manifest.entries.size());
      version.bytes = manifest.total_bytes();
      version.source = asked.source.empty() ? track::tree_uri(asked.tree) : asked.source;
      version.storage = track::tree_uri(asked.tree);
      version.run = asked.run;
      version.description = asked.description;
      version.tags = asked.tags;
      for (const auto& [key, value] : asked.metrics)
        if (std::isfinite(value)) version.metrics[key] = value;
      TAKT_ASSIGN(const ModelVersion made,
                  write_version(tx, by.project(), by.user(), std::move(version), asked.owner));
      id = made.id;
      TAKT_RETURN_IF_ERROR(write_scan(tx, by.project(), by.user(), id, scan));
    }
    TAKT_RETURN_IF_ERROR(write_measurements(tx, by.project(), by.user(), id, asked));
    if (!asked.alias.empty()) {
      TAKT_ASSIGN(refusal, move_alias(tx, {by.project(), by.user(), ""}, id, asked.alias));
    }
    TAKT_ASSIGN(added.version, load_version(tx, by.project(), id));
    return {};
  }));
  // The version is there all the same: without it nobody could measure or approve it.
  if (refusal)
    return fail(while_(added.version.id.text() + " is registered, but")(std::move(*refusal)));
  return added;
}

Result<ModelRegistry::Added> ModelRegistry::add_from_run(const access::CanWrite& by,
                                                         NewVersion version, const RunId& run,
                                                         std::string_view path) {
  TAKT_RETURN_IF_ERROR(track::check_artifact_path(path));
  content::Manifest files;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto known, track::find_run_row(reader, by.project(), run));
    if (!known) return fail(Code::kNotFound, "no run " + run.value, "see `takt runs ls`", "run");
    TAKT_ASSIGN(files, track::artifact_tree(reader, by.project(), track::root_of_run(run), path));
    if (!files.entries.empty()) return {};
    TAKT_ASSIGN(const auto logged,
                track::find_logged_model_of_run(reader, by.project(), run, path));
    if (!logged) return {};
    TAKT_ASSIGN(files, track::artifact_tree(reader, by.project(),
                                            track::root_of_logged_model(logged->id), ""));
    return {};
  }));
  if (files.entries.empty())
    return fail(Code::kNotFound,
                "run " + run.value + " has no artifacts below '" + std::string(path) + "'",
                "see `takt runs show " + run.value + "`", "path");
  TAKT_ASSIGN(version.tree, blobs_.add_tree(by.project(), files));
  version.run = run;
  version.source = "runs:/" + run.value + (path.empty() ? "" : "/" + std::string(path));
  return add(by, version);
}

Result<ModelVersion> ModelRegistry::add_from_source(const access::CanWrite& by,
                                                    const SourceVersion& asked) {
  for (const auto& [key, value] : asked.tags) TAKT_RETURN_IF_ERROR(check_registry_tag(key, value));
  ResolvedSource source;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_RETURN_IF_ERROR(load_model(reader, by.project(), asked.model));
    TAKT_ASSIGN(source, resolve_source(reader, by.project(), asked));
    return {};
  }));
  ModelVersion version;
  version.tree = source.tree;
  if (!source.files.entries.empty()) {
    TAKT_ASSIGN(version.tree, blobs_.add_tree(by.project(), source.files));
  } else if (!source.tree.empty()) {
    TAKT_ASSIGN(source.files, blobs_.read_tree(by.project(), source.tree));
  }
  version.id.name = asked.model;
  version.files = static_cast<std::int64_t>(source.files.entries.size());
  version.bytes = source.files.total_bytes();
  version.source = asked.source;
  version.storage = source.storage;
  version.run = source.run;
  version.logged_model = source.logged_model;
  version.run_link = asked.run_link;
  version.description = asked.description;
  version.tags = asked.tags;
  TAKT_ASSIGN(const CodeScan scan, scan_files(blobs_, by.project(), source.files));
  ModelVersion made;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_model(tx, by.project(), asked.model));
    TAKT_ASSIGN(made, write_version(tx, by.project(), by.user(), version, ""));
    if (!version.tree.empty())
      TAKT_RETURN_IF_ERROR(write_scan(tx, by.project(), by.user(), made.id, scan));
    return note_on_logged_model(tx, by.project(), made);
  }));
  return made;
}

Status ModelRegistry::set_alias(const access::CanWrite& by, std::string_view name,
                                std::string_view alias, std::int64_t number,
                                std::string_view reason) {
  TAKT_RETURN_IF_ERROR(check_model_alias(alias));
  std::optional<Error> refusal;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(refusal, move_alias(tx, {by.project(), by.user(), std::string(reason)},
                                    ModelVersionId{{std::string(name), number}}, alias));
    return {};
  }));
  return refusal ? Status(fail(std::move(*refusal))) : Status();
}

Status ModelRegistry::delete_alias(const access::CanWrite& by, std::string_view name,
                                   std::string_view alias) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const Model model, load_model(tx, by.project(), name));
    const auto before = model.aliases.find(std::string(alias));
    if (before == model.aliases.end()) return {};
    TAKT_RETURN_IF_ERROR(remove_alias(tx, by.project(), name, alias));
    TAKT_RETURN_IF_ERROR(store_alias_move(tx, by.project(), name, alias,
                                          {before->second, MoveKind::kRemoved, by.user(), "", 0}));
    return append_registry_event(tx, kAliasDeleted, by.project(), by.user(),
                                 ref_of(ModelVersionId{{model.name, before->second}}),
                                 Object{{"alias", alias}});
  });
}

Result<Model> ModelRegistry::create_model(const access::CanWrite& by, std::string_view name,
                                          std::string_view description,
                                          const std::map<std::string, std::string>& tags) {
  TAKT_RETURN_IF_ERROR(check_model_name(name));
  for (const auto& [key, value] : tags) TAKT_RETURN_IF_ERROR(check_registry_tag(key, value));
  Model made;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(make_model(tx, by.project(), by.user(), name, description));
    for (const auto& [key, value] : tags)
      TAKT_RETURN_IF_ERROR(store_model_tag(tx, by.project(), name, key, value));
    TAKT_ASSIGN(made, load_model(tx, by.project(), name));
    return {};
  }));
  return made;
}

Result<Model> ModelRegistry::describe_model(const access::CanWrite& by, std::string_view name,
                                            std::string_view description) {
  Model model;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_model(tx, by.project(), name));
    TAKT_RETURN_IF_ERROR(store_model_description(tx, by.project(), name, description));
    TAKT_ASSIGN(model, load_model(tx, by.project(), name));
    return {};
  }));
  return model;
}

Result<Model> ModelRegistry::rename_model(const access::CanWrite& by, std::string_view name,
                                          std::string_view new_name) {
  TAKT_RETURN_IF_ERROR(check_model_name(new_name));
  Model model;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_model(tx, by.project(), name));
    TAKT_ASSIGN(const bool is_used, is_name_used(tx, by.project(), new_name));
    if (is_used)
      return fail(Code::kConflict,
                  "Registered Model (name=" + std::string(new_name) + ") already exists.", {},
                  "new_name");
    TAKT_RETURN_IF_ERROR(store_model_name(tx, by.project(), name, new_name));
    TAKT_ASSIGN(model, load_model(tx, by.project(), new_name));
    return append_registry_event(tx, kModelRenamed, by.project(), by.user(),
                                 {"model", std::string(new_name)}, Object{{"before", name}});
  }));
  return model;
}

Status ModelRegistry::remove_model(const access::CanWrite& by, std::string_view name, bool force) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_model(tx, by.project(), name));
    TAKT_ASSIGN(const auto versions, load_versions(tx, by.project(), name));
    if (!force)
      for (const ModelVersion& version : versions)
        TAKT_RETURN_IF_ERROR(check_unused(tx, by.project(), version.id));
    TAKT_RETURN_IF_ERROR(mark_model_removed(tx, by.project(), name));
    return append_registry_event(tx, kModelRemoved, by.project(), by.user(),
                                 {"model", std::string(name)},
                                 Object{{"versions", static_cast<std::int64_t>(versions.size())}});
  });
}

Status ModelRegistry::set_model_tag(const access::CanWrite& by, std::string_view name,
                                    std::string_view key, std::string_view value) {
  TAKT_RETURN_IF_ERROR(check_registry_tag(key, value));
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_model(tx, by.project(), name));
    return store_model_tag(tx, by.project(), name, key, value);
  });
}

Status ModelRegistry::delete_model_tag(const access::CanWrite& by, std::string_view name,
                                       std::string_view key) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_model(tx, by.project(), name));
    return remove_model_tag(tx, by.project(), name, key);
  });
}

Result<ModelVersion> ModelRegistry::describe_version(const access::CanWrite& by,
                                                     const ModelVersionId& id,
                                                     std::string_view description) {
  ModelVersion version;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(version, load_version(tx, by.project(), id));
    version.description = description;
    version.updated_ms = tx.now_ms();
    return store_version(tx, by.project(), version);
  }));
  return version;
}

Result<ModelVersion> ModelRegistry::set_stage(const access::CanWrite& by, const ModelVersionId& id,
                                              std::string_view stage, bool archive_others) {
  TAKT_ASSIGN(const std::string wanted, parse_stage(stage));
  ModelVersion version;
  std::optional<Error> refusal;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(version, load_version(tx, by.project(), id));
    TAKT_ASSIGN(refusal, refuse_stage(tx, {by.project(), by.user(), ""}, id, wanted));
    if (refusal) return {};
    TAKT_ASSIGN(const auto all, load_versions(tx, by.project(), id.name));
    for (ModelVersion other : all) {
      if (!archive_others || other.id.number == id.number || other.stage != wanted) continue;
      other.stage = "Archived";
      TAKT_RETURN_IF_ERROR(store_version(tx, by.project(), other));
    }
    version.stage = wanted;
    version.updated_ms = tx.now_ms();
    TAKT_RETURN_IF_ERROR(store_version(tx, by.project(), version));
    return append_registry_event(tx, kStageSet, by.project(), by.user(), ref_of(id),
                                 Object{{"stage", wanted}});
  }));
  if (refusal) return fail(std::move(*refusal));
  return version;
}

Status ModelRegistry::set_version_tag(const access::CanWrite& by, const ModelVersionId& id,
                                      std::string_view key, std::string_view value) {
  TAKT_RETURN_IF_ERROR(check_registry_tag(key, value));
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_version(tx, by.project(), id));
    return store_version_tag(tx, by.project(), id, key, value);
  });
}

Status ModelRegistry::delete_version_tag(const access::CanWrite& by, const ModelVersionId& id,
                                         std::string_view key) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_version(tx, by.project(), id));
    return remove_version_tag(tx, by.project(), id, key);
  });
}

Status ModelRegistry::remove_version(const access::CanWrite& by, const ModelVersionId& id,
                                     bool force) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const ModelVersion version, load_version(tx, by.project(), id));
    if (!force) TAKT_RETURN_IF_ERROR(check_unused(tx, by.project(), id));
    TAKT_RETURN_IF_ERROR(mark_version_removed(tx, by.project(), id));
    store::Event event;
    event.project = by.project();
    event.actor = by.user();
    event.verb = std::string(kVersionRemoved);
    event.subject = ref_of(id);
    event.before_digest = version.tree.value;
    TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
    return {};
  });
}

}  // namespace takt::models
