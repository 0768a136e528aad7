// SPDX-License-Identifier: Apache-2.0
#include "takt/data/resolver.h"

#include "takt/base/units.h"
#include "takt/data/dataset_store.h"
#include "takt/data/validation.h"

namespace takt::data {

Result<actions::PortValue> DatasetResolver::resolve(const ProjectId& project,
                                                    std::string_view reference) const {
  constexpr std::string_view kPrefix = "dataset/";
  if (reference.starts_with(kPrefix)) reference.remove_prefix(kPrefix.size());
  TAKT_ASSIGN(const VersionSelector selector, parse_version_selector(reference));
  if (!selector.alias.empty() && selector.alias != "latest")
    return fail(Code::kInvalid, "dataset reference '" + std::string(reference) + "' names an alias",
                "datasets have numbers only: " + selector.name + "@1, or " + selector.name +
                    " for the latest");
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  TAKT_ASSIGN(const DatasetVersion version, datasets_.get(by, selector.name, selector.number));
  return actions::PortValue{actions::PortKind::kDataset, ref_of(version.id), version.tree, {}};
}

Result<spine::Explanation> DatasetExplainer::explain(const ProjectId& project, const Ref& ref) {
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  TAKT_ASSIGN(const VersionSelector selector, parse_version_selector(ref.path));
  TAKT_ASSIGN(const DatasetVersion version, datasets_.get(by, selector.name, selector.number));
  spine::Explanation explanation;
  explanation.ref = ref_of(version.id);
  explanation.state = "stored";
  explanation.title = "dataset " + version.id.text();
  std::string size = std::to_string(version.files) + (version.files == 1 ? " file, " : " files, ") +
                     format_bytes(version.bytes);
  if (version.rows >= 0) size += ", " + std::to_string(version.rows) + " rows";
  explanation.lines.push_back("added by " + version.created_by.value + " at " +
                              format_time(version.created_ms) + ": " + size);
  if (!version.made_by.kind.empty())
    explanation.lines.push_back("made by " + version.made_by.text());
  if (version.checks.is_object()) {
    const bool passed = version.checks.bool_or("passed", false);
    explanation.state = passed ? "checked" : "refused";
    explanation.lines.push_back(
        passed ? "all " + std::to_string(version.checks["rules"].as_array().size()) +
                     " rules of its last validation pass"
               : "its last validation fails: " + failed_messages(version.checks));
  }
  explanation.facts = Object{{"tree", version.tree.value}, {"size_bytes", version.bytes}};
  return explanation;
}

Result<spine::LineCard> DatasetExplainer::line_card(const ProjectId& project,
                                                    std::int64_t since_ms) {
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  TAKT_ASSIGN(const auto datasets, datasets_.list(by));
  std::int64_t added = 0;
  TAKT_RETURN_IF_ERROR(datasets_.db().read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(added, count_versions_since(reader, project, since_ms));
    return {};
  }));
  spine::LineCard card;
  card.station = "data";
  for (const Dataset& dataset : datasets) card.total += dataset.versions;
  card.lines.push_back(std::to_string(datasets.size()) +
                       (datasets.size() == 1 ? " dataset" : " datasets"));
  card.lines.push_back(std::to_string(added) + " new");
  return card;
}

}  // namespace takt::data
