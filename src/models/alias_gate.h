// SPDX-License-Identifier: Apache-2.0
// The one way in which an alias moves: rules, history and event in the transaction of the move.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/models/gate_store.h"
#include "takt/models/rule.h"
#include "takt/store/database.h"
#include "takt/store/event_log.h"

namespace takt::models {

/// An event of the registry, without its digests.
Status append_registry_event(store::Tx& tx, std::string_view verb, const ProjectId& project,
                             const UserId& actor, Ref subject, Value details = {});

/// Who asks for a move, and what they say about it.
struct Mover {
  ProjectId project;
  UserId user;
  std::string reason;
};

struct GateCheck {
  ModelVersionId candidate;
  std::string alias;
  std::int64_t holder = 0;  // 0: nobody yet
  std::vector<RuleResult> results;
  bool is_allowed = true;
};
/// kNotFound when there is no such version.
Result<GateCheck> check_gate(store::Reader& reader, const ProjectId& project,
                             const ModelVersionId& id, std::string_view alias);

/// Moves the alias, or notes the refusal and gives it: then the caller commits what it wrote and
/// returns the error. Nothing when the version holds the alias already.
Result<std::optional<Error>> move_alias(store::Tx& tx, const Mover& mover, const ModelVersionId& id,
                                        std::string_view alias);
/// Notes a refusal; the caller commits.
Status note_refusal(store::Tx& tx, const Mover& mover, const GateCheck& check, const Error& error);

/// The version that held the alias before the one that holds it, leaving out those that do not
/// exist any more; 0 when there is none. Pure: a move stacks a holder, a rollback takes it away.
std::int64_t previous_holder(const std::vector<AliasMove>& moves,
                             const std::function<bool(std::int64_t)>& exists);

}  // namespace takt::models
