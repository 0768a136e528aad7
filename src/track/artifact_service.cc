// SPDX-License-Identifier: Apache-2.0
#include "takt/track/artifact_service.h"

#include <algorithm>

#include "takt/base/safe_path.h"
#include "takt/track/logged_model.h"
#include "takt/track/logged_model_store.h"
#include "takt/track/run_store.h"

namespace takt::track {
namespace {

constexpr std::string_view kArtifactScheme = "mlflow-artifacts:";
constexpr std::string_view kTreesFolder = "trees";

bool is_run_id(std::string_view text) {
  return text.size() == 32 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    if (slash > at) parts.push_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  return parts;
}

std::string join_from(const std::vector<std::string_view>& parts, std::size_t from) {
  std::string path;
  for (std::size_t i = from; i < parts.size(); ++i)
    path += (i > from ? "/" : "") + std::string(parts[i]);
  return path;
}

int hex_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Decodes what can be decoded; the rest stays.
std::string unescape_once(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && hex_of(text[i + 1]) >= 0 &&
                           hex_of(text[i + 2]) >= 0;
    if (is_escape) {
      out += static_cast<char>(hex_of(text[i + 1]) * 16 + hex_of(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::unexpected<Error> no_artifact(std::string_view path) {
  return fail(Code::kNotFound, "no artifact '" + std::string(path) + "'");
}

/// The run or logged model that the rows belong to has to be there.
Status check_root(store::Reader& reader, const ProjectId& project, std::string_view root) {
  if (root.starts_with("run/")) {
    const RunId id{std::string(root.substr(4))};
    TAKT_ASSIGN(const auto run, find_run_row(reader, project, id));
    if (!run) return fail(Code::kNotFound, "Run with id=" + id.value + " not found");
    if (run->is_deleted)
      return fail(Code::kInvalid, "The run " + id.value +
                                      " must be in the 'active' state. Current state is deleted.");
  }
  if (root.starts_with("logged-model/")) {
    TAKT_ASSIGN(const auto model, find_logged_model(reader, project, root.substr(13)));
    if (!model || model->is_deleted)
      return fail(Code::kNotFound,
                  "Logged model with ID '" + std::string(root.substr(13)) + "' not found.");
  }
  return {};
}

Result<std::vector<content::Entry>> tree_entries(store::BlobStore& blobs, const ProjectId& project,
                                                 const ArtifactPlace& place) {
  TAKT_ASSIGN(content::Manifest manifest, blobs.read_tree(project, place.tree));
  if (place.path.empty()) return std::move(manifest.entries);
  std::erase_if(manifest.entries,
                [&](const auto& entry) { return !entry.path.starts_with(place.path + "/"); });
  return std::move(manifest.entries);
}

}  // namespace

ArtifactPlace parse_artifact_place(std::string_view path) {
  const auto parts = parts_of(path);
  if (parts.size() >= 2 && parts[0] == kTreesFolder && is_digest(parts[1]))
    return {"", Digest{std::string(parts[1])}, join_from(parts, 2)};
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i + 1] != "artifacts") continue;
    if (is_run_id(parts[i]))
      return {root_of_run(RunId{std::string(parts[i])}), {}, join_from(parts, i + 2)};
    if (i > 0 && parts[i - 1] == "models" && is_logged_model_id(parts[i]))
      return {root_of_logged_model(parts[i]), {}, join_from(parts, i + 2)};
  }
  return {"other", {}, join_from(parts, 0)};
}

Status check_artifact_path(std::string_view path) {
  constexpr int kDecodingsMax = 10;
  if (path.empty()) return {};
  std::string text(path);
  for (int i = 0; i < kDecodingsMax; ++i) {
    if (!check_relative_path(text) || text.find('#') != std::string::npos ||
        (text.size() > 1 && text[1] == ':'))
      return fail(Code::kInvalid, "Invalid path",
                  "use a relative path with / between names, without '..' and '#'", "path");
    std::string next = unescape_once(text);
    if (next == text) return {};
    text = std::move(next);
  }
  return fail(Code::kInvalid, "Invalid path", "it is escaped too many times", "path");
}

std::string tree_uri(const Digest& tree) {
  return std::string(kArtifactScheme) + "/" + std::string(kTreesFolder) + "/" + tree.value;
}

Result<std::string> path_of_artifact_uri(std::string_view uri) {
  if (!uri.starts_with(kArtifactScheme))
    return fail(Code::kInvalid, "'" + std::string(uri) + "' is no mlflow-artifacts URI");
  std::string_view rest = uri.substr(kArtifactScheme.size());
  if (rest.starts_with("//")) {
    const std::size_t slash = rest.find('/', 2);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
  }
  while (rest.starts_with('/')) rest.remove_prefix(1);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  TAKT_RETURN_IF_ERROR(check_artifact_path(rest));
  return std::string(rest);
}

Status ArtifactService::put(const access::CanWrite& by, std::string_view path,
                            const store::ReadBytes& read) {
  if (path.empty()) return fail(Code::kInvalid, "Invalid path", "name a file", "path");
  TAKT_RETURN_IF_ERROR(check_artifact_path(path));
  return put_in(by, parse_artifact_place(path), read);
}

Status ArtifactService::put_in(const access::CanWrite& by, const ArtifactPlace& place,
                               const store::ReadBytes& read) {
  if (!place.tree.empty())
    return fail(Code::kDenied, "tree " + place.tree.value + " cannot be changed");
  if (place.path.empty())
    return fail(Code::kInvalid, "Invalid path", "name a file below the root", "path");
  TAKT_RETURN_IF_ERROR(check_relative_path(place.path));
  // Before the bytes are read: a client that names no run should not have to send them all.
  TAKT_RETURN_IF_ERROR(db_.read(
      [&](store::Reader& reader) { return check_root(reader, by.project(), place.root); }));
  std::int64_t size = 0;
  const auto counted = [&](std::span<char> buffer) -> Result<std::size_t> {
    TAKT_ASSIGN(const std::size_t got, read(buffer));
    size += static_cast<std::int64_t>(got);
    return got;
  };
  TAKT_ASSIGN(const Digest digest, blobs_.add(by.project(), {}, counted));
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(check_root(tx, by.project(), place.root));
    return store_artifact(tx, by.project(), place.root, {place.path, size, false, digest});
  });
}

Result<std::vector<ArtifactItem>> ArtifactService::list(const access::CanRead& by,
                                                        std::string_view path) {
  TAKT_RETURN_IF_ERROR(check_artifact_path(path));
  return list_in(by, parse_artifact_place(path));
}

Result<std::vector<ArtifactItem>> ArtifactService::list_in(const access::CanRead& by,
                                                           const ArtifactPlace& place) {
  if (!place.tree.empty()) {
    TAKT_ASSIGN(const auto entries, tree_entries(blobs_, by.project(), place));
    return children_of(entries, place.path);
  }
  std::vector<content::Entry> files;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(files, artifacts_below(reader, by.project(), place.root, place.path));
    return {};
  }));
  return children_of(files, place.path);
}

Result<content::Entry> ArtifactService::find(const access::CanRead& by, std::string_view path) {
  TAKT_RETURN_IF_ERROR(check_artifact_path(path));
  return find_in(by, parse_artifact_place(path));
}

Result<content::Entry> ArtifactService::find_in(const access::CanRead& by,
                                                const ArtifactPlace& place) {
  if (!place.tree.empty()) {
    TAKT_ASSIGN(const content::Manifest manifest, blobs_.read_tree(by.project(), place.tree));
    const content::Entry* entry = manifest.find(place.path);
    if (entry == nullptr) return no_artifact(place.path);
    return *entry;
  }
  std::optional<content::Entry> found;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(found, find_artifact(reader, by.project(), place.root, place.path));
    return {};
  }));
  if (!found) return no_artifact(place.path);
  return *found;
}

Status ArtifactService::remove(const access::CanWrite& by, std::string_view path) {
  TAKT_RETURN_IF_ERROR(check_artifact_path(path));
  const ArtifactPlace place = parse_artifact_place(path);
  if (!place.tree.empty())
    return fail(Code::kDenied, "tree " + place.tree.value + " cannot be changed");
  if (place.root == "other" && place.path.empty())
    return fail(Code::kInvalid, "Invalid path", "name a file or folder", "path");
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(remove_artifacts(tx, by.project(), place.root, place.path));
    return {};
  });
}

}  // namespace takt::track
