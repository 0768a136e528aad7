// SPDX-License-Identifier: Apache-2.0
#include "takt/models/rule.h"

#include <algorithm>
#include <set>

#include "takt/models/checks.h"

namespace takt::models {
namespace {

constexpr std::size_t kRulesMax = 100;
constexpr std::size_t kMetricBytesMax = 250;
constexpr std::int64_t kPeopleMax = 20;

std::optional<double> optional_number(Fields& fields, std::string_view key) {
  const Value& value = fields.any(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number()) {
    fields.reject(key, "must be a number, got " + std::string(value.type_name()));
    return std::nullopt;
  }
  return value.as_number();
}

void read_aliases(Fields& fields, Rule& rule) {
  rule.aliases = fields.texts("for");
  for (const std::string& alias : rule.aliases)
    if (const Status good = check_model_alias(alias); !good)
      fields.reject("for", good.error().message, good.error().hint);
}

void read_metric_name(Fields& fields, std::string_view key, Rule& rule) {
  rule.metric = fields.text(key, "");
  if (rule.metric.empty())
    fields.reject(key, "must name a metric");
  else if (rule.metric.size() > kMetricBytesMax)
    fields.reject(key, "is longer than " + std::to_string(kMetricBytesMax) + " bytes");
}

// A bound, or a comparison with the holder; the one or the other.
void read_bounds(Fields& fields, Rule& rule) {
  rule.at_least = optional_number(fields, "at_least");
  rule.at_most = optional_number(fields, "at_most");
  rule.better_by = optional_number(fields, "better_by");
  rule.not_worse_by = optional_number(fields, "not_worse_by");
  const std::string direction =
      fields.text("better", rule.kind == RuleKind::kLatency ? "lower" : "higher");
  if (direction != "higher" && direction != "lower")
    fields.reject("better", "must be higher or lower, got '" + direction + "'");
  rule.is_lower_better = direction == "lower";
  const bool has_bound = rule.at_least || rule.at_most;
  const bool is_compared = rule.better_by || rule.not_worse_by;
  const std::string first = rule.kind == RuleKind::kLatency ? "latency" : "metric";
  if (!has_bound && !is_compared)
    fields.reject(first, "needs a bound", "add at_least, at_most, better_by or not_worse_by");
  if (has_bound && is_compared)
    fields.reject(first, "has a bound and a comparison", "write them as two rules");
  if (rule.better_by && rule.not_worse_by)
    fields.reject("better_by", "stands beside not_worse_by; one of them is meant");
  if ((rule.better_by && *rule.better_by < 0) || (rule.not_worse_by && *rule.not_worse_by < 0))
    fields.reject(rule.better_by ? "better_by" : "not_worse_by", "must not be negative");
  if (rule.at_least && rule.at_most && *rule.at_least > *rule.at_most)
    fields.reject("at_least", "is above at_most: nothing could pass");
}

void read_kind(Fields& fields, Rule& rule) {
  static const std::vector<std::pair<std::string_view, RuleKind>> kKinds = {
      {"metric", RuleKind::kMetric},
      {"latency", RuleKind::kLatency},
      {"parity", RuleKind::kParity},
      {"approval", RuleKind::kApproval},
      {"code", RuleKind::kCode}};
  int found = 0;
  for (const auto& [key, kind] : kKinds)
    if (fields.has(key)) {
      ++found;
      rule.kind = kind;
    }
  if (found != 1)
    fields.reject("name", found == 0 ? "the rule asks for nothing" : "the rule asks for two things",
                  "one of metric, latency, parity, approval or code makes a rule");
}

void read_rule(Fields& fields, Rule& rule) {
  rule.name = fields.text("name");
  if (!rule.name.empty())
    if (const Status good = check_name("rule name", rule.name); !good)
      fields.reject("name", good.error().message, good.error().hint);
  read_aliases(fields, rule);
  read_kind(fields, rule);
  switch (rule.kind) {
    case RuleKind::kMetric:
      read_metric_name(fields, "metric", rule);
      rule.data = fields.text("data", "");
      read_bounds(fields, rule);
      break;
    case RuleKind::kLatency:
      read_metric_name(fields, "latency", rule);
      read_bounds(fields, rule);
      break;
    case RuleKind::kParity:
      if (fields.text("parity", "") != "pass") fields.reject("parity", "must be `pass`");
      break;
    case RuleKind::kApproval:
      rule.people = fields.integer("approval", 1, 1, kPeopleMax);
      break;
    case RuleKind::kCode:
      rule.code = fields.text("code", "safe");
      if (rule.code != "safe" && rule.code != "none")
        fields.reject("code", "must be safe (pickles of known names) or none (no pickle at all)");
      break;
  }
}

Value value_of(const Rule& rule) {
  Object object{{"name", rule.name}};
  Array aliases;
  for (const std::string& alias : rule.aliases) aliases.push_back(alias);
  if (!aliases.empty()) object["for"] = std::move(aliases);
  switch (rule.kind) {
    case RuleKind::kMetric:
      object["metric"] = rule.metric;
      if (!rule.data.empty()) object["data"] = rule.data;
      break;
    case RuleKind::kLatency:
      object["latency"] = rule.metric;
      break;
    case RuleKind::kParity:
      object["parity"] = "pass";
      break;
    case RuleKind::kApproval:
      object["approval"] = rule.people;
      break;
    case RuleKind::kCode:
      object["code"] = rule.code;
      break;
  }
  if (rule.at_least) object["at_least"] = *rule.at_least;
  if (rule.at_most) object["at_most"] = *rule.at_most;
  if (rule.better_by) object["better_by"] = *rule.better_by;
  if (rule.not_worse_by) object["not_worse_by"] = *rule.not_worse_by;
  if (rule.kind == RuleKind::kMetric && rule.is_lower_better) object["better"] = "lower";
  if (rule.kind == RuleKind::kLatency && !rule.is_lower_better) object["better"] = "higher";
  return object;
}

}  // namespace

std::string_view rule_kind_name(RuleKind kind) {
  switch (kind) {
    case RuleKind::kMetric:
      return "metric";
    case RuleKind::kLatency:
      return "latency";
    case RuleKind::kParity:
      return "parity";
    case RuleKind::kApproval:
      return "approval";
    case RuleKind::kCode:
      return "code";
  }
  return "";
}

bool Rule::is_for(std::string_view alias) const {
  return aliases.empty() || std::ranges::find(aliases, alias) != aliases.end();
}

Result<std::vector<Rule>> parse_rules(const Value& value) {
  if (!value.is_array())
    return fail(Code::kInvalid, "rules must be a list, got " + std::string(value.type_name()), "",
                "rules");
  if (value.as_array().size() > kRulesMax)
    return fail(Code::kTooLarge,
                std::to_string(value.as_array().size()) + " rules, at most " +
                    std::to_string(kRulesMax) + " are allowed",
                "", "rules");
  std::vector<Rule> rules;
  std::set<std::string> names;
  for (const Value& item : value.as_array()) {
    Fields fields(item, "rules[" + std::to_string(rules.size()) + "]");
    Rule rule;
    read_rule(fields, rule);
    if (!names.insert(rule.name).second)
      fields.reject("name", "'" + rule.name + "' is the name of an earlier rule too");
    TAKT_RETURN_IF_ERROR(fields.done());
    rules.push_back(std::move(rule));
  }
  return rules;
}

Value to_value(const std::vector<Rule>& rules) {
  Array array;
  for (const Rule& rule : rules) array.push_back(value_of(rule));
  return array;
}

}  // namespace takt::models
