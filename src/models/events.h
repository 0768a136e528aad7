// SPDX-License-Identifier: Apache-2.0
// The verbs that models writes into the event log.
#pragma once

#include <string_view>

namespace takt::models {

/// subject model/NAME.
inline constexpr std::string_view kModelCreated = "model.created";
inline constexpr std::string_view kModelRenamed = "model.renamed";
inline constexpr std::string_view kModelRemoved = "model.removed";
/// subject model/NAME@N; details: {files, size_bytes, run}; after_digest is the tree.
inline constexpr std::string_view kVersionAdded = "model.version-added";
inline constexpr std::string_view kVersionRemoved = "model.version-removed";
inline constexpr std::string_view kStageSet = "model.stage-set";
/// subject model/NAME@N; details: {alias, before?}: the number that it pointed at.
inline constexpr std::string_view kAliasSet = "model.alias-set";
inline constexpr std::string_view kAliasDeleted = "model.alias-deleted";

}  // namespace takt::models
