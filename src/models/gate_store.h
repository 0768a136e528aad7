// SPDX-License-Identifier: Apache-2.0
// The tables of promotion: rules, approvals, moves of aliases, measurements, reports.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/models/rule.h"
#include "takt/store/database.h"

namespace takt::models {

struct StoredRules {
  std::vector<Rule> rules;
  UserId updated_by;
  UnixMs updated_ms = 0;  // 0: never set
};
Result<StoredRules> load_rules(store::Reader& reader, const ProjectId& project,
                               std::string_view model);
Status store_rules(store::Tx& tx, const ProjectId& project, std::string_view model,
                   const std::vector<Rule>& rules, const UserId& by);

Status store_approval(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                      const Approval& approval);
Status store_measurement(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                         const Measurement& measurement);
Status store_report(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                    std::string_view kind, const Value& report, const UserId& by);

enum class MoveKind { kSet, kRolledBack, kRemoved };
std::string_view move_kind_name(MoveKind kind);
struct AliasMove {
  std::int64_t number = 0;  // the holder after it; of a removal: before it
  MoveKind kind = MoveKind::kSet;
  UserId by;
  std::string reason;
  UnixMs time_ms = 0;
};
Status store_alias_move(store::Tx& tx, const ProjectId& project, std::string_view model,
                        std::string_view alias, const AliasMove& move);
/// Oldest first.
Result<std::vector<AliasMove>> load_alias_moves(store::Reader& reader, const ProjectId& project,
                                                std::string_view model, std::string_view alias);

/// The one data version (NAME@N) that the run used; "" when it used none or several.
Result<std::string> data_of_run(store::Reader& reader, const ProjectId& project, const RunId& run);

/// What the version was made of, as its run recorded it.
struct Origin {
  RunId run;
  std::string job, code, environment, seed;  // refs, "" when not known
  std::vector<Ref> data;
  std::map<std::string, std::string> params;
};
Result<Origin> load_origin(store::Reader& reader, const ProjectId& project,
                           const ModelVersion& version);

/// All that is known of the version: what was recorded for it, what its run and its logged model
/// measured, and what runs measured that took it and one data version as inputs.
Result<Evidence> load_evidence(store::Reader& reader, const ProjectId& project,
                               ModelVersion version);

}  // namespace takt::models
