// SPDX-License-Identifier: Apache-2.0
#include "takt/track/artifact_store.h"

#include <map>

#include "takt/track/sql.h"

namespace takt::track {
namespace {

content::Entry artifact_from(const store::Row& row) {
  return {row.text(0), row.integer(2), row.integer(3) != 0, Digest{row.text(1)}};
}

/// The bounds of all paths below a folder: '0' follows '/'.
std::pair<std::string, std::string> range_below(std::string_view folder) {
  if (folder.empty()) return {std::string(), std::string("\U0010FFFF")};
  return {std::string(folder) + "/", std::string(folder) + "0"};
}

Status upsert(store::Tx& tx, const ProjectId& project, std::string_view root,
              const content::Entry& file) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kUpsertArtifact,
                               {project.value, std::string(root), file.path, file.digest.value,
                                file.size, std::int64_t{file.executable ? 1 : 0}, tx.now_ms()}));
  return {};
}

}  // namespace

std::string root_of_run(const RunId& run) { return "run/" + run.value; }
std::string root_of_logged_model(std::string_view model_id) {
  return "logged-model/" + std::string(model_id);
}

Status store_artifact(store::Tx& tx, const ProjectId& project, std::string_view root,
                      const content::Entry& file) {
  const auto clash = [&](std::string_view other) {
    return fail(Code::kInvalid,
                "artifact '" + file.path + "' cannot be stored: '" + std::string(other) +
                    "' would be a file and a folder",
                "choose another path", "path");
  };
  for (std::size_t slash = file.path.find('/'); slash != std::string::npos;
       slash = file.path.find('/', slash + 1)) {
    const std::string above = file.path.substr(0, slash);
    TAKT_ASSIGN(const auto row,
                tx.find(sql::kFindArtifact, {project.value, std::string(root), above}));
    if (row) return clash(above);
  }
  const auto [from, to] = range_below(file.path);
  TAKT_ASSIGN(const auto below, tx.find(sql::kArtifactsBelow, {project.value, std::string(root),
                                                               from, to, std::int64_t{1}}));
  if (below) return clash(file.path);
  return upsert(tx, project, root, file);
}

Status store_artifact_over(store::Tx& tx, const ProjectId& project, std::string_view root,
                           const content::Entry& file) {
  for (std::size_t slash = file.path.find('/'); slash != std::string::npos;
       slash = file.path.find('/', slash + 1))
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kDeleteArtifact,
                                 {project.value, std::string(root), file.path.substr(0, slash)}));
  const auto [from, to] = range_below(file.path);
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kDeleteArtifactsBelow, {project.value, std::string(root), from, to}));
  return upsert(tx, project, root, file);
}

Result<std::optional<content::Entry>> find_artifact(store::Reader& reader, const ProjectId& project,
                                                    std::string_view root, std::string_view path) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindArtifact,
                                          {project.value, std::string(root), std::string(path)}));
  if (!row) return std::nullopt;
  return artifact_from(*row);
}

Result<std::vector<content::Entry>> artifacts_below(store::Reader& reader, const ProjectId& project,
                                                    std::string_view root,
                                                    std::string_view folder) {
  const auto [from, to] = range_below(folder);
  TAKT_ASSIGN(const auto rows,
              reader.query(sql::kArtifactsBelow,
                           {project.value, std::string(root), from, to, kArtifactsPerRootMax + 1}));
  if (static_cast<std::int64_t>(rows.size()) > kArtifactsPerRootMax)
    return fail(Code::kTooLarge, std::string(root) + " has more than " +
                                     std::to_string(kArtifactsPerRootMax) + " files");
  std::vector<content::Entry> files;
  for (const auto& row : rows) files.push_back(artifact_from(row));
  return files;
}

Result<content::Manifest> artifact_tree(store::Reader& reader, const ProjectId& project,
                                        std::string_view root, std::string_view path) {
  if (!path.empty()) {
    TAKT_ASSIGN(auto file, find_artifact(reader, project, root, path));
    if (file) {
      file->path = path.substr(path.rfind('/') + 1);
      return content::make_manifest({std::move(*file)});
    }
  }
  TAKT_ASSIGN(auto files, artifacts_below(reader, project, root, path));
  if (!path.empty())
    for (auto& file : files) file.path.erase(0, path.size() + 1);
  return content::make_manifest(std::move(files));
}

Result<ArtifactTotal> artifacts_total(store::Reader& reader, const ProjectId& project,
                                      std::string_view root) {
  TAKT_ASSIGN(const auto row,
              reader.find(sql::kArtifactsTotal, {project.value, std::string(root)}));
  return ArtifactTotal{row->integer(0), row->integer(1)};
}

Result<std::int64_t> remove_artifacts(store::Tx& tx, const ProjectId& project,
                                      std::string_view root, std::string_view path) {
  const auto [from, to] = range_below(path);
  TAKT_ASSIGN(const auto files,
              tx.exec(sql::kDeleteArtifact, {project.value, std::string(root), std::string(path)}));
  TAKT_ASSIGN(const auto below,
              tx.exec(sql::kDeleteArtifactsBelow, {project.value, std::string(root), from, to}));
  return files + below;
}

std::vector<ArtifactItem> children_of(const std::vector<content::Entry>& files,
                                      std::string_view folder) {
  std::map<std::string, ArtifactItem> folders, plain;
  const std::size_t skip = folder.empty() ? 0 : folder.size() + 1;
  for (const content::Entry& file : files) {
    const std::string_view rest = std::string_view(file.path).substr(skip);
    const std::size_t slash = rest.find('/');
    std::string name(rest.substr(0, slash));
    if (slash != std::string_view::npos)
      folders[name] = {name, true, 0, {}};
    else
      plain[name] = {name, false, file.size, file.digest};
  }
  std::vector<ArtifactItem> items;
  for (auto& [name, item] : folders) items.push_back(std::move(item));
  for (auto& [name, item] : plain) items.push_back(std::move(item));
  return items;
}

}  // namespace takt::track
