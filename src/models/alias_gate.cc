// SPDX-License-Identifier: Apache-2.0
#include "takt/models/alias_gate.h"

#include <algorithm>

#include "takt/models/events.h"
#include "takt/models/model_store.h"

namespace takt::models {
namespace {

/// The holders that the moves stacked up, the last on top.
std::vector<std::int64_t> holders_of(const std::vector<AliasMove>& moves) {
  std::vector<std::int64_t> stack;
  for (const AliasMove& move : moves) {
    if (move.kind == MoveKind::kRemoved) continue;  // who held it last is still who held it last
    if (move.kind == MoveKind::kRolledBack)
      while (!stack.empty() && stack.back() != move.number) stack.pop_back();
    if (stack.empty() || stack.back() != move.number) stack.push_back(move.number);
  }
  return stack;
}

/// Who holds the alias, or held it last: taking an alias away must not take its guard away.
Result<std::int64_t> holder_of(store::Reader& reader, const ProjectId& project, const Model& model,
                               std::string_view alias) {
  if (const auto found = model.aliases.find(std::string(alias)); found != model.aliases.end())
    return found->second;
  TAKT_ASSIGN(const auto moves, load_alias_moves(reader, project, model.name, alias));
  TAKT_ASSIGN(const auto versions, load_versions(reader, project, model.name));
  auto stack = holders_of(moves);
  while (!stack.empty() && std::ranges::none_of(versions, [&](const ModelVersion& version) {
    return version.id.number == stack.back();
  }))
    stack.pop_back();
  return stack.empty() ? 0 : stack.back();
}

Value passed_rules(const GateCheck& check) {
  Array rules;
  for (const RuleResult& result : check.results)
    rules.push_back(Object{{"rule", result.rule.name}, {"found", result.found}});
  return rules;
}

}  // namespace

Status append_registry_event(store::Tx& tx, std::string_view verb, const ProjectId& project,
                             const UserId& actor, Ref subject, Value details) {
  store::Event event;
  event.project = project;
  event.actor = actor;
  event.verb = std::string(verb);
  event.subject = std::move(subject);
  event.details = std::move(details);
  TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
  return {};
}

Result<GateCheck> check_gate(store::Reader& reader, const ProjectId& project,
                             const ModelVersionId& id, std::string_view alias) {
  TAKT_ASSIGN(const Model model, load_model(reader, project, id.name));
  TAKT_ASSIGN(ModelVersion version, load_version(reader, project, id));
  GateCheck check;
  check.candidate = id;
  check.alias = std::string(alias);
  TAKT_ASSIGN(check.holder, holder_of(reader, project, model, alias));
  TAKT_ASSIGN(const StoredRules stored, load_rules(reader, project, id.name));
  const bool is_guarded =
      std::ranges::any_of(stored.rules, [&](const Rule& rule) { return rule.is_for(alias); });
  if (!is_guarded) return check;
  TAKT_ASSIGN(const Evidence candidate, load_evidence(reader, project, std::move(version)));
  std::optional<Evidence> holder;
  if (check.holder != 0) {
    TAKT_ASSIGN(ModelVersion held,
                load_version(reader, project, ModelVersionId{{id.name, check.holder}}));
    TAKT_ASSIGN(holder, load_evidence(reader, project, std::move(held)));
  }
  check.results = evaluate_rules(stored.rules, alias, candidate, holder ? &*holder : nullptr);
  check.is_allowed = std::ranges::all_of(
      check.results, [](const RuleResult& result) { return result.verdict == Verdict::kPassed; });
  return check;
}

Status note_refusal(store::Tx& tx, const Mover& mover, const GateCheck& check, const Error& error) {
  Object details{{"alias", check.alias}, {"why", error.message}};
  if (!mover.reason.empty()) details["reason"] = mover.reason;
  Array failed;
  for (const RuleResult& result : check.results)
    if (result.verdict != Verdict::kPassed)
      failed.push_back(
          Object{{"rule", result.rule.name}, {"found", result.found}, {"wanted", result.wanted}});
  details["failed"] = std::move(failed);
  return append_registry_event(tx, kAliasRefused, mover.project, mover.user,
                               ref_of(check.candidate), std::move(details));
}

Result<std::optional<Error>> move_alias(store::Tx& tx, const Mover& mover, const ModelVersionId& id,
                                        std::string_view alias) {
  TAKT_ASSIGN(const Model model, load_model(tx, mover.project, id.name));
  TAKT_RETURN_IF_ERROR(load_version(tx, mover.project, id));
  const auto before = model.aliases.find(std::string(alias));
  if (before != model.aliases.end() && before->second == id.number) return std::nullopt;
  TAKT_ASSIGN(const GateCheck check, check_gate(tx, mover.project, id, alias));
  if (!check.is_allowed) {
    const std::int64_t held = before == model.aliases.end() ? 0 : before->second;
    Error refusal = refusal_of(check.results, alias, id, held);
    TAKT_RETURN_IF_ERROR(note_refusal(tx, mover, check, refusal));
    return refusal;
  }
  Object details{{"alias", alias}};
  if (before != model.aliases.end()) details["before"] = before->second;
  if (!check.results.empty()) details["rules"] = passed_rules(check);
  if (!mover.reason.empty()) details["reason"] = mover.reason;
  TAKT_RETURN_IF_ERROR(store_alias(tx, mover.project, id.name, alias, id.number));
  TAKT_RETURN_IF_ERROR(store_alias_move(tx, mover.project, id.name, alias,
                                        {id.number, MoveKind::kSet, mover.user, mover.reason, 0}));
  TAKT_RETURN_IF_ERROR(append_registry_event(tx, kAliasSet, mover.project, mover.user, ref_of(id),
                                             std::move(details)));
  return std::nullopt;
}

std::int64_t previous_holder(const std::vector<AliasMove>& moves,
                             const std::function<bool(std::int64_t)>& exists) {
  auto stack = holders_of(moves);
  const bool is_held = !moves.empty() && moves.back().kind != MoveKind::kRemoved;
  if (is_held && !stack.empty()) stack.pop_back();
  while (!stack.empty() && !exists(stack.back())) stack.pop_back();
  return stack.empty() ? 0 : stack.back();
}

}  // namespace takt::models
