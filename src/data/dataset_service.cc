// SPDX-License-Identifier: Apache-2.0
#include "takt/data/dataset_service.h"

#include "takt/data/dataset_store.h"
#include "takt/data/events.h"
#include "takt/data/profile.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"

namespace takt::data {
namespace {

store::Event version_event(std::string_view verb, const ProjectId& project, const UserId& actor,
                           const DatasetVersion& version) {
  store::Event event;
  event.project = project;
  event.actor = actor;
  event.verb = std::string(verb);
  event.subject = ref_of(version.id);
  Object details{{"files", version.files}, {"size_bytes", version.bytes}};
  if (version.rows >= 0) details["rows"] = version.rows;
  event.details = std::move(details);
  return event;
}

Result<std::string> names_of(store::Reader& reader, const ProjectId& project,
                             std::string_view wanted) {
  TAKT_ASSIGN(const auto datasets, load_datasets(reader, project));
  std::vector<std::string> names;
  for (const Dataset& dataset : datasets) names.push_back(dataset.name);
  const std::string near = nearest_name(wanted, names);
  if (!near.empty()) return "did you mean '" + near + "'?";
  if (names.empty()) return std::string("add one with `takt data add NAME PATH`");
  return std::string("see `takt data ls`");
}

std::string numbers_of(const std::vector<DatasetVersion>& versions) {
  std::string text;
  for (auto version = versions.rbegin(); version != versions.rend(); ++version)
    text += (text.empty() ? "" : ", ") + std::to_string(version->id.number);
  return text;
}

/// The version, or the latest for number 0, with errors that name what exists.
Result<DatasetVersion> find_version(store::Reader& reader, const ProjectId& project,
                                    std::string_view name, std::int64_t number) {
  TAKT_ASSIGN(const auto versions, load_versions(reader, project, name));
  if (number == 0 && !versions.empty()) return versions.front();
  for (const DatasetVersion& version : versions)
    if (version.id.number == number) return version;
  TAKT_ASSIGN(const auto datasets, load_datasets(reader, project, name));
  if (datasets.empty()) {
    TAKT_ASSIGN(std::string hint, names_of(reader, project, name));
    return fail(Code::kNotFound, "no dataset '" + std::string(name) + "'", std::move(hint));
  }
  if (number == 0)
    return fail(Code::kNotFound,
                "every version of dataset '" + std::string(name) + "' was removed");
  DatasetVersionId id;
  id.name = std::string(name);
  id.number = number;
  auto removed = load_version(reader, project, id);
  if (removed) return removed;
  if (versions.empty()) return removed;
  return fail(std::move(removed).error().with_hint("versions that exist: " + numbers_of(versions)));
}

}  // namespace

DatasetService::DatasetService(store::Database& db, store::BlobStore& blobs)
    : db_(db), blobs_(blobs) {}

Result<DatasetVersion> DatasetService::describe_tree(const ProjectId& project,
                                                     std::string_view name, const Digest& tree) {
  TAKT_ASSIGN(const content::Manifest manifest, blobs_.read_tree(project, tree));
  if (manifest.entries.empty())
    return fail(Code::kInvalid, "a dataset version needs at least one file", "", "tree");
  std::vector<Digest> digests;
  for (const auto& entry : manifest.entries) digests.push_back(entry.digest);
  TAKT_ASSIGN(const std::vector<Digest> missing, blobs_.missing(project, digests));
  if (!missing.empty())
    return fail(Code::kInvalid,
                std::to_string(missing.size()) + " of the tree's files are not uploaded, first " +
                    missing.front().value,
                "upload them, then name the version", "tree");
  DatasetVersion version;
  version.id.name = std::string(name);
  version.tree = tree;
  version.files = static_cast<std::int64_t>(manifest.entries.size());
  version.bytes = manifest.total_bytes();
  TableProfiler profiler;
  for (const auto& entry : manifest.entries) {
    const TableFormat format = table_format(entry.path);
    if (format == TableFormat::kNone) continue;
    const auto scan = profiler.begin(entry.path, format);
    Status scanned;
    // A broken row ends the table's profile, a broken blob ends the add.
    TAKT_RETURN_IF_ERROR(
        blobs_.read(project, entry.digest, 0, entry.size, [&](std::string_view bytes) -> Status {
          if (scanned) scanned = scan->feed(bytes);
          return {};
        }));
    if (scanned) scanned = scan->finish();
    profiler.end(scanned);
  }
  if (!profiler.empty()) {
    version.rows = profiler.rows();
    version.profile = profiler.to_value();
  }
  return version;
}

Result<DatasetService::Added> DatasetService::add_version(const access::CanWrite& by,
                                                          std::string_view name, const Digest& tree,
                                                          const Ref& made_by, std::string note) {
  TAKT_RETURN_IF_ERROR(check_name("dataset name", name));
  TAKT_ASSIGN(DatasetVersion described, describe_tree(by.project(), name, tree));
  described.note = std::move(note);
  described.created_by = by.user();
  described.made_by = made_by;
  Added added;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const auto existing, find_version_by_tree(tx, by.project(), name, tree));
    added.created = !existing.has_value();
    if (existing) {
      added.version = *existing;
    } else {
      TAKT_ASSIGN(added.version, insert_version(tx, by.project(), described));
    }
    if (!made_by.kind.empty())
      TAKT_RETURN_IF_ERROR(
          store::add_edge(tx, by.project(), ref_of(added.version.id), "made-by", made_by));
    if (!added.created) return {};
    store::Event event = version_event(kVersionAdded, by.project(), by.user(), added.version);
    event.after_digest = tree.value;
    TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
    return {};
  }));
  return added;
}

Result<std::vector<Dataset>> DatasetService::list(const access::CanRead& by) {
  std::vector<Dataset> datasets;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(datasets, load_datasets(reader, by.project()));
    return {};
  }));
  return datasets;
}

Result<std::vector<DatasetVersion>> DatasetService::versions(const access::CanRead& by,
                                                             std::string_view name) {
  std::vector<DatasetVersion> versions;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(versions, load_versions(reader, by.project(), name));
    if (!versions.empty()) return {};
    TAKT_ASSIGN(const auto datasets, load_datasets(reader, by.project(), name));
    if (!datasets.empty()) return {};
    TAKT_ASSIGN(std::string hint, names_of(reader, by.project(), name));
    return fail(Code::kNotFound, "no dataset '" + std::string(name) + "'", std::move(hint));
  }));
  return versions;
}

Result<DatasetVersion> DatasetService::get(const access::CanRead& by, std::string_view name,
                                           std::int64_t number) {
  DatasetVersion version;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(version, find_version(reader, by.project(), name, number));
    return {};
  }));
  return version;
}

Result<content::Manifest> DatasetService::files(const access::CanRead& by,
                                                const DatasetVersion& version) {
  return blobs_.read_tree(by.project(), version.tree);
}

Status DatasetService::read_file(const access::CanRead& by, const content::Entry& file,
                                 const store::WriteBytes& write) {
  return blobs_.read(by.project(), file.digest, 0, file.size, write)
      .transform_error(while_("reading " + file.path));
}

Status DatasetService::remove(const access::CanWrite& by, std::string_view name,
                              std::int64_t number, bool force) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const DatasetVersion version, find_version(tx, by.project(), name, number));
    TAKT_ASSIGN(const auto users, store::edges_to(tx, by.project(), ref_of(version.id)));
    if (!users.empty() && !force)
      return fail(
          Code::kConflict,
          version.id.text() + " is used by " + std::to_string(users.size()) + " things, such as " +
              users.front().from.text(),
          "see `takt why dataset/" + version.id.text() + "`; remove it anyway with --force");
    TAKT_RETURN_IF_ERROR(mark_removed(tx, by.project(), version.id, by.user()));
    store::Event event = version_event(kVersionRemoved, by.project(), by.user(), version);
    event.before_digest = version.tree.value;
    TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
    return {};
  });
}

Status DatasetService::save_checks(const access::CanWrite& by, const DatasetVersionId& id,
                                   const Value& report) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const DatasetVersion version, load_version(tx, by.project(), id));
    if (version.checks == report) return {};
    TAKT_RETURN_IF_ERROR(store_checks(tx, by.project(), id, report));
    store::Event event = version_event(kVersionValidated, by.project(), by.user(), version);
    event.details = Object{{"passed", report["passed"]}};
    TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
    return {};
  });
}

}  // namespace takt::data
