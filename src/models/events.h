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
/// subject model/NAME@N; details: {alias, before?, rules?, reason?}; before: the number
/// that it pointed at.
inline constexpr std::string_view kAliasSet = "model.alias-set";
inline constexpr std::string_view kAliasDeleted = "model.alias-deleted";
/// subject model/NAME@N; details: {alias, why, failed: [{rule, found, wanted}], reason?}.
inline constexpr std::string_view kAliasRefused = "model.alias-refused";
/// subject model/NAME@N, the version that holds it now; details: {alias, before, reason?}.
inline constexpr std::string_view kAliasRolledBack = "model.alias-rolled-back";
/// subject model/NAME@N; details: {alias, comment?}.
inline constexpr std::string_view kVersionApproved = "model.approved";
inline constexpr std::string_view kVersionRejected = "model.rejected";
/// subject model/NAME; details: {rules: their names}.
inline constexpr std::string_view kRulesSet = "model.rules-set";
/// subject model/NAME@N; details: {data?, metrics, source?}.
inline constexpr std::string_view kVersionMeasured = "model.measured";
/// subject model/NAME@N; details: {kind, verdict?}.
inline constexpr std::string_view kReportAdded = "model.report-added";

}  // namespace takt::models
