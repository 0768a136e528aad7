// SPDX-License-Identifier: Apache-2.0
// What a version must show before an alias may name it, and what is known of a version. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/models/model_registry.h"

namespace takt::models {

enum class RuleKind { kMetric, kLatency, kParity, kApproval, kCode };
std::string_view rule_kind_name(RuleKind kind);

/// One promotion rule, as `rules:` of a Model document has it (docs/formats/promotion-rules.md).
struct Rule {
  std::string name;
  RuleKind kind = RuleKind::kMetric;
  std::vector<std::string> aliases;  // `for`; empty: every alias
  std::string metric;                // of kMetric and kLatency ("p99_ms" of the load test)
  std::string data;                  // NAME@N, NAME (the newest measured version of it) or ""
  std::optional<double> at_least, at_most;
  std::optional<double> better_by, not_worse_by;  // than the alias's holder, on the same data
  bool is_lower_better = false;
  std::int64_t people = 1;    // of kApproval, other than the submitter
  std::string code = "safe";  // of kCode: none (no pickle) or safe (known names only)
  bool is_for(std::string_view alias) const;
};
/// kInvalid names the field: "rules[1].at_least".
Result<std::vector<Rule>> parse_rules(const Value& rules);
Value to_value(const std::vector<Rule>& rules);

struct Measurement {
  std::string data;  // NAME@N, "" when nobody said on what
  std::string metric;
  double value = 0;
  std::string source;  // run/ID, model/NAME@N, or ""
  UserId by;
  UnixMs time_ms = 0;
};
struct Approval {
  std::string alias;
  UserId user;
  bool is_approval = true;  // else a rejection
  std::string comment;
  UnixMs time_ms = 0;
};
struct Report {
  Value report;
  UserId by;
  UnixMs time_ms = 0;
};
inline constexpr std::string_view kParityReport = "parity";
inline constexpr std::string_view kLoadTestReport = "load-test";
inline constexpr std::string_view kCodeReport = "code";

/// What is known of a version when a rule is asked.
struct Evidence {
  ModelVersion version;
  std::vector<UserId> submitters;         // who registered it, who submitted its run
  std::vector<Measurement> measurements;  // newest first
  std::vector<Approval> approvals;        // newest first
  std::map<std::string, Report, std::less<>> reports;
};

enum class Verdict { kPassed, kFailed, kUnmeasured };
std::string_view verdict_name(Verdict verdict);
struct RuleResult {
  Rule rule;
  Verdict verdict = Verdict::kUnmeasured;
  std::string found, wanted;  // "0.9412 on digits-test@3", "accuracy at least 0.96"
  std::string remedy;         // what to do; "" when it passed
};
/// The rules that guard `alias`, each held against the candidate; `holder` is the version that the
/// alias names (or named last), null when there is none yet.
std::vector<RuleResult> evaluate_rules(const std::vector<Rule>& rules, std::string_view alias,
                                       const Evidence& candidate, const Evidence* holder);

/// "production of digits stays on version 7: rule 'accuracy' wants … and found …". Of results that
/// hold at least one that did not pass.
Error refusal_of(const std::vector<RuleResult>& results, std::string_view alias,
                 const ModelVersionId& candidate, std::int64_t holder);

}  // namespace takt::models
