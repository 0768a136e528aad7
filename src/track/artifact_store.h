// SPDX-License-Identifier: Apache-2.0
// The table of artifacts: which bytes lie under which path of a run or logged model.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/content/manifest.h"
#include "takt/store/database.h"
#include "takt/track/run.h"

namespace takt::track {

inline constexpr std::int64_t kArtifactsPerRootMax = 100'000;

std::string root_of_run(const RunId& run);                    // "run/ID"
std::string root_of_logged_model(std::string_view model_id);  // "logged-model/ID"

/// kInvalid when a path would be a file and a folder at once.
Status store_artifact(store::Tx& tx, const ProjectId& project, std::string_view root,
                      const content::Entry& file);
/// What stands in the way (a file where a folder is needed, or the reverse) goes.
Status store_artifact_over(store::Tx& tx, const ProjectId& project, std::string_view root,
                           const content::Entry& file);
Result<std::optional<content::Entry>> find_artifact(store::Reader& reader, const ProjectId& project,
                                                    std::string_view root, std::string_view path);
/// All files below the folder ("" = root), by path, with their whole paths; kTooLarge over the
/// limit.
Result<std::vector<content::Entry>> artifacts_below(store::Reader& reader, const ProjectId& project,
                                                    std::string_view root, std::string_view folder);
/// The folder (or the one file) as a tree whose paths begin at it. Empty when nothing is there.
Result<content::Manifest> artifact_tree(store::Reader& reader, const ProjectId& project,
                                        std::string_view root, std::string_view path);
struct ArtifactTotal {
  std::int64_t files = 0, bytes = 0;
};
Result<ArtifactTotal> artifacts_total(store::Reader& reader, const ProjectId& project,
                                      std::string_view root);
/// The file, or all below the folder. Returns how many.
Result<std::int64_t> remove_artifacts(store::Tx& tx, const ProjectId& project,
                                      std::string_view root, std::string_view path);

struct ArtifactItem {
  std::string name;  // last part of the path
  bool is_folder = false;
  std::int64_t size = 0;
  Digest digest;
};
/// What lies directly in the folder, folders first. Pure.
std::vector<ArtifactItem> children_of(const std::vector<content::Entry>& files,
                                      std::string_view folder);

}  // namespace takt::track
