// SPDX-License-Identifier: Apache-2.0
#include "takt/models/resolver.h"

#include "takt/base/units.h"

namespace takt::models {

Result<actions::PortValue> ModelResolver::resolve(const ProjectId& project,
                                                  std::string_view reference) const {
  constexpr std::string_view kPrefix = "model/";
  if (reference.starts_with(kPrefix)) reference.remove_prefix(kPrefix.size());
  TAKT_ASSIGN(const VersionSelector selector, parse_version_selector(reference));
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  TAKT_ASSIGN(const ModelVersion version, registry_.resolve(by, selector));
  if (version.tree.empty())
    return fail(Code::kInvalid,
                version.id.text() + " has no files here: its source is " + version.source,
                "register a version from a run's artifacts");
  return actions::PortValue{kind_, ref_of(version.id), version.tree, {}};
}

Result<spine::Explanation> ModelExplainer::explain(const ProjectId& project, const Ref& ref) {
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  TAKT_ASSIGN(const VersionSelector selector, parse_version_selector(ref.path));
  TAKT_ASSIGN(const ModelVersion version, registry_.resolve(by, selector));
  spine::Explanation explanation;
  explanation.ref = ref_of(version.id);
  explanation.title = "model version " + version.id.text();
  explanation.state = "registered";
  for (const std::string& alias : version.aliases) explanation.title += " (" + alias + ")";
  explanation.lines.push_back(
      "registered by " + version.created_by.value + " at " + format_time(version.created_ms) +
      ": " + std::to_string(version.files) + (version.files == 1 ? " file, " : " files, ") +
      format_bytes(version.bytes));
  if (!version.run.empty()) explanation.lines.push_back("made by run/" + version.run.value);
  if (version.tree.empty())
    explanation.lines.push_back("its files are not here but at " + version.storage +
                                ": it cannot be deployed");
  std::string metrics;
  Object facts{{"source", version.source}};
  Object measured;
  for (const auto& [key, value] : version.metrics) {
    metrics += (metrics.empty() ? "" : ", ") + key + " " + dump_json(Value(value));
    measured[key] = value;
  }
  if (!metrics.empty()) explanation.lines.push_back("evaluated at registration: " + metrics);
  if (!version.tree.empty()) facts["tree"] = version.tree.value;
  facts["metrics"] = std::move(measured);
  explanation.facts = std::move(facts);
  if (!version.tree.empty())
    explanation.next.push_back("takt deploy NAME --model " + version.id.text());
  return explanation;
}

Result<spine::LineCard> ModelExplainer::line_card(const ProjectId& project, std::int64_t since_ms) {
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  TAKT_ASSIGN(const auto models, registry_.list(by));
  TAKT_ASSIGN(const auto counts, registry_.counts(by, since_ms));
  spine::LineCard card;
  card.station = "models";
  card.total = counts.versions;
  card.lines.push_back(std::to_string(models.size()) + (models.size() == 1 ? " model" : " models"));
  card.lines.push_back(std::to_string(counts.since) + " new");
  return card;
}

}  // namespace takt::models
