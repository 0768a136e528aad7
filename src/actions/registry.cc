// SPDX-License-Identifier: Apache-2.0
// Registry, ports and their values of step.h.
#include <array>

#include "takt/actions/step.h"

namespace takt::actions {
namespace {

struct PortKindName {
  PortKind kind;
  std::string_view name;
};

constexpr std::array<PortKindName, 7> kPortKindNames{{
    {PortKind::kDataset, "dataset"},
    {PortKind::kModel, "model"},
    {PortKind::kArtifact, "artifact"},
    {PortKind::kJson, "json"},
    {PortKind::kModelVersion, "model-version"},
    {PortKind::kService, "service"},
    {PortKind::kReport, "report"},
}};

}  // namespace

std::string_view port_kind_name(PortKind kind) {
  for (const PortKindName& entry : kPortKindNames) {
    if (entry.kind == kind) return entry.name;
  }
  TAKT_CHECK(false, "a port kind without a name");
}

Result<PortKind> parse_port_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const PortKindName& entry : kPortKindNames) {
    if (entry.name == name) return entry.kind;
    names.emplace_back(entry.name);
  }
  std::string known;
  for (const std::string& each : names) known += (known.empty() ? "" : ", ") + each;
  const std::string near = nearest_name(name, names);
  return fail(Code::kInvalid, "no such kind: \"" + std::string(name.substr(0, 80)) + "\"",
              near.empty() ? "known kinds: " + known : "did you mean \"" + near + "\"?");
}

bool port_accepts(PortKind to, PortKind from) {
  if (to == from) return true;
  const bool is_tree =
      from == PortKind::kDataset || from == PortKind::kModel || from == PortKind::kModelVersion;
  return to == PortKind::kArtifact && is_tree;
}

Value to_value(const PortValue& port) {
  Object members{{"kind", Value(port_kind_name(port.kind))}, {"digest", Value(port.digest.value)}};
  if (!port.ref.kind.empty()) members.emplace("ref", Value(port.ref.text()));
  if (!port.json.is_null()) members.emplace("json", port.json);
  return Value(std::move(members));
}

Result<PortValue> port_value_from(const Value& value) {
  Fields fields(value, "");
  PortValue port;
  const std::string kind = fields.text("kind");
  const std::string ref = fields.text("ref", "");
  port.digest.value = fields.text("digest", "");
  port.json = fields.any("json");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(port.kind, parse_port_kind(kind));
  if (!ref.empty()) {
    TAKT_ASSIGN(port.ref, parse_ref(ref));
  }
  return port;
}

void Registry::add(std::unique_ptr<StepRunner> runner) {
  const auto [place, is_new] = runners_.try_emplace(std::string(runner->action()));
  TAKT_CHECK(is_new, "two runners of one action");
  place->second = std::move(runner);
}

void Registry::add(std::unique_ptr<RefResolver> resolver) {
  const auto [place, is_new] = resolvers_.try_emplace(resolver->kind());
  TAKT_CHECK(is_new, "two resolvers of one kind");
  place->second = std::move(resolver);
}

StepRunner* Registry::find_runner(std::string_view action) const {
  const auto found = runners_.find(action);
  return found == runners_.end() ? nullptr : found->second.get();
}

const RefResolver* Registry::find_resolver(PortKind kind) const {
  const auto found = resolvers_.find(kind);
  return found == resolvers_.end() ? nullptr : found->second.get();
}

std::vector<std::string> Registry::action_names() const {
  std::vector<std::string> names;
  for (const auto& [name, runner] : runners_) names.push_back(name);
  return names;
}

Result<PortValue> Registry::resolve(const ProjectId& project, PortKind kind,
                                    std::string_view text) const {
  const RefResolver* resolver = find_resolver(kind);
  if (resolver == nullptr) {
    return fail(Code::kInvalid, "a reference cannot stand for a " +
                                    std::string(port_kind_name(kind)) + ": \"" +
                                    std::string(text.substr(0, 80)) + "\"");
  }
  return resolver->resolve(project, text);
}

}  // namespace takt::actions
