// SPDX-License-Identifier: Apache-2.0
// The judgement of promotion rules: from rules and evidence to results. Pure.
#include <algorithm>

#include "takt/models/rule.h"

namespace takt::models {
namespace {

std::string number_text(double value) { return dump_json(Value(value)); }

std::string data_text(std::string_view data) {
  return data.empty() ? std::string() : " on " + std::string(data);
}

/// NAME@N is that version, NAME any of its versions, "" any data or none.
bool is_on(const Measurement& measurement, std::string_view wanted) {
  if (wanted.empty() || measurement.data == wanted) return true;
  const std::string_view data = measurement.data;
  return wanted.find('@') == std::string_view::npos && data.substr(0, data.find('@')) == wanted;
}

const Measurement* newest(const Evidence& evidence, const Rule& rule, std::string_view data) {
  for (const Measurement& measurement : evidence.measurements)
    if (measurement.metric == rule.metric && is_on(measurement, data)) return &measurement;
  return nullptr;
}

std::string bound_text(const Rule& rule) {
  std::string text;
  if (rule.at_least) text = "at least " + number_text(*rule.at_least);
  if (rule.at_most)
    text += (text.empty() ? "" : " and ") + ("at most " + number_text(*rule.at_most));
  return text;
}

std::string comparison_text(const Rule& rule) {
  const bool must_gain = rule.better_by.has_value();
  const double by = must_gain ? *rule.better_by : *rule.not_worse_by;
  if (must_gain) return by == 0 ? "better" : "better by " + number_text(by);
  return by == 0 ? "not worse" : "not worse by more than " + number_text(by);
}

// Written so that not-a-number passes nothing.
bool is_within(const Rule& rule, double value) {
  const bool is_enough = !rule.at_least || value >= *rule.at_least;
  const bool is_little = !rule.at_most || value <= *rule.at_most;
  return is_enough && is_little;
}

bool holds_against(const Rule& rule, double value, double held) {
  const double gain = rule.is_lower_better ? held - value : value - held;
  if (rule.not_worse_by) return gain >= -*rule.not_worse_by;
  return *rule.better_by == 0 ? gain > 0 : gain >= *rule.better_by;
}

std::string measure_remedy(const Rule& rule, const Evidence& candidate) {
  const std::string version = candidate.version.id.text();
  if (rule.kind == RuleKind::kLatency)
    return "load-test it and record the report: takt models report " + version +
           " load-test -f report.json";
  const std::string with =
      rule.data.empty() ? " as its input" : " and " + rule.data + " as its only inputs";
  return "evaluate it in a job with " + version + with +
         ", or record the value: takt models measure " + version + " " + rule.metric + "=VALUE" +
         (rule.data.empty() ? "" : " --data " + rule.data);
}

std::string better_remedy(const Evidence& candidate) {
  return "register a version that reaches it; the rule stands in `takt models rules show " +
         candidate.version.id.name + "`";
}

void judge_bound(RuleResult& result, const Evidence& candidate, double value,
                 std::string_view data) {
  result.found = number_text(value) + data_text(data);
  const bool holds = is_within(result.rule, value);
  result.verdict = holds ? Verdict::kPassed : Verdict::kFailed;
  if (!holds) result.remedy = better_remedy(candidate);
}

void judge_against(RuleResult& result, const Evidence& candidate, const Evidence& holder,
                   double value, double held, std::string_view data) {
  result.found = number_text(value) + " against " + number_text(held) + " of version " +
                 std::to_string(holder.version.id.number) + data_text(data);
  const bool holds = holds_against(result.rule, value, held);
  result.verdict = holds ? Verdict::kPassed : Verdict::kFailed;
  if (!holds) result.remedy = better_remedy(candidate);
}

bool is_compared(const Rule& rule) { return rule.better_by || rule.not_worse_by; }

void judge_metric(RuleResult& result, const Evidence& candidate, const Evidence* holder) {
  const Rule& rule = result.rule;
  const std::string what = rule.metric + data_text(rule.data);
  const Measurement* mine = newest(candidate, rule, rule.data);
  if (!is_compared(rule)) {
    result.wanted = rule.metric + " " + bound_text(rule) + data_text(rule.data);
    if (mine != nullptr) return judge_bound(result, candidate, mine->value, mine->data);
  } else {
    result.wanted = what + " " + comparison_text(rule) + " than the version it replaces";
    if (holder == nullptr || holder->version.id.number == candidate.version.id.number) {
      result.verdict = Verdict::kPassed;
      result.found = "no earlier version to compare with";
      return;
    }
    // Both on the same data, or there is nothing to compare.
    for (const Measurement& own : candidate.measurements) {
      if (own.metric != rule.metric || !is_on(own, rule.data)) continue;
      for (const Measurement& held : holder->measurements)
        if (held.metric == rule.metric && held.data == own.data)
          return judge_against(result, candidate, *holder, own.value, held.value, own.data);
    }
    if (mine != nullptr) {
      const std::string version = holder->version.id.text();
      result.found = "the holder " + version + " was not measured on the same data" +
                     (mine->data.empty() ? "" : " (" + mine->data + ")");
      result.remedy = "record it: takt models measure " + version + " " + rule.metric + "=VALUE" +
                      (mine->data.empty() ? "" : " --data " + mine->data);
      return;
    }
  }
  result.found = "it was not measured" + data_text(rule.data);
  result.remedy = measure_remedy(rule, candidate);
}

const Value* latency_of(const Evidence& evidence, const Rule& rule) {
  const auto report = evidence.reports.find(kLoadTestReport);
  if (report == evidence.reports.end()) return nullptr;
  const Value& value = report->second.report[rule.metric];
  return value.is_number() ? &value : nullptr;
}

void judge_latency(RuleResult& result, const Evidence& candidate, const Evidence* holder) {
  const Rule& rule = result.rule;
  const Value* mine = latency_of(candidate, rule);
  result.wanted = rule.metric + " of the load test " +
                  (is_compared(rule) ? comparison_text(rule) + " than the version it replaces"
                                     : bound_text(rule));
  if (mine == nullptr) {
    result.found = candidate.reports.contains(kLoadTestReport)
                       ? "its load test has no " + rule.metric
                       : "it has no load test";
    result.remedy = measure_remedy(rule, candidate);
    return;
  }
  if (!is_compared(rule)) return judge_bound(result, candidate, mine->as_number(), "");
  const Value* held = holder == nullptr ? nullptr : latency_of(*holder, rule);
  if (holder == nullptr || holder->version.id.number == candidate.version.id.number) {
    result.verdict = Verdict::kPassed;
    result.found = "no earlier version to compare with";
  } else if (held == nullptr) {
    result.found = "the holder " + holder->version.id.text() + " has no load test with it";
    result.remedy = measure_remedy(rule, *holder);
  } else {
    judge_against(result, candidate, *holder, mine->as_number(), held->as_number(), "");
  }
}

void judge_parity(RuleResult& result, const Evidence& candidate) {
  result.wanted = "a parity report that passed";
  const auto report = candidate.reports.find(kParityReport);
  if (report == candidate.reports.end()) {
    result.found = "it has no parity report";
    result.remedy =
        "convert the model with a parity check, or record its report: takt models "
        "report " +
        candidate.version.id.text() + " parity -f report.json";
    return;
  }
  const std::string verdict = report->second.report.text_or("verdict", "none");
  result.found = "the parity verdict " + verdict;
  result.verdict = verdict == "pass" ? Verdict::kPassed : Verdict::kFailed;
  if (verdict != "pass") result.remedy = "register a conversion that agrees with its original";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void judge_approval(RuleResult& result, const Evidence& candidate, std::string_view alias) {
  const Rule& rule = result.rule;
  std::vector<std::string> submitters, others, own;
  for (const UserId& user : candidate.submitters) submitters.push_back(user.value);
  result.wanted = "approval by " +
                  (rule.people == 1 ? std::string("someone") : std::to_string(rule.people)) +
                  " other than " + joined(submitters);
  for (const Approval& approval : candidate.approvals) {
    if (approval.alias != alias) continue;
    if (!approval.is_approval) {
      result.verdict = Verdict::kFailed;
      result.found = "it was rejected by " + approval.user.value +
                     (approval.comment.empty() ? "" : ": " + approval.comment);
      result.remedy = "settle it with " + approval.user.value + ", who can still approve";
      return;
    }
    const bool is_own =
        std::ranges::find(candidate.submitters, approval.user) != candidate.submitters.end();
    (is_own ? own : others).push_back(approval.user.value);
  }
  if (static_cast<std::int64_t>(others.size()) >= rule.people) {
    result.verdict = Verdict::kPassed;
    result.found = "approved by " + joined(others);
    return;
  }
  result.verdict = Verdict::kFailed;
  result.found = others.empty() ? "no approval" : "only that of " + joined(others);
  if (!own.empty()) result.found += " (that of " + joined(own) + ", who submitted it, is no such)";
  result.remedy = "have someone else run: takt models approve " + candidate.version.id.text() +
                  " --for " + std::string(alias);
}

void judge_code(RuleResult& result, const Evidence& candidate) {
  const bool wants_none = result.rule.code == "none";
  result.wanted = wants_none ? "files without pickled code" : "no pickle that executes code";
  const auto report = candidate.reports.find(kCodeReport);
  if (report == candidate.reports.end()) {
    result.found = "its files were not looked through";
    result.remedy = "register the files again: they are looked through at registration";
    return;
  }
  const std::string verdict = report->second.report.text_or("verdict", "executes");
  const bool holds = verdict == "none" || (verdict == "safe" && !wants_none);
  result.verdict = holds ? Verdict::kPassed : Verdict::kFailed;
  result.found = verdict == "none" ? "no pickle" : "a pickle that " + verdict;
  if (verdict == "safe") result.found = "pickles of known names";
  if (verdict == "executes") {
    std::vector<std::string> names;
    const Value& globals = report->second.report["globals"];
    if (globals.is_array())
      for (const Value& name : globals.as_array())
        if (name.is_string() && names.size() < 3) names.push_back(name.as_string());
    result.found = "a pickle that executes " + (names.empty() ? "code" : joined(names));
  }
  if (!holds)
    result.remedy =
        "save the model in a form without pickled code (ONNX, safetensors) and "
        "register that";
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kUnmeasured:
      return "unmeasured";
  }
  return "";
}

std::vector<RuleResult> evaluate_rules(const std::vector<Rule>& rules, std::string_view alias,
                                       const Evidence& candidate, const Evidence* holder) {
  std::vector<RuleResult> results;
  for (const Rule& rule : rules) {
    if (!rule.is_for(alias)) continue;
    RuleResult result{.rule = rule};
    switch (rule.kind) {
      case RuleKind::kMetric:
        judge_metric(result, candidate, holder);
        break;
      case RuleKind::kLatency:
        judge_latency(result, candidate, holder);
        break;
      case RuleKind::kParity:
        judge_parity(result, candidate);
        break;
      case RuleKind::kApproval:
        judge_approval(result, candidate, alias);
        break;
      case RuleKind::kCode:
        judge_code(result, candidate);
        break;
    }
    results.push_back(std::move(result));
  }
  return results;
}

Error refusal_of(const std::vector<RuleResult>& results, std::string_view alias,
                 const ModelVersionId& candidate, std::int64_t holder) {
  const RuleResult* first = nullptr;
  int failed = 0;
  for (const RuleResult& result : results) {
    if (result.verdict == Verdict::kPassed) continue;
    if (first == nullptr) first = &result;
    ++failed;
  }
  TAKT_CHECK(first != nullptr, "a refusal without a failed rule");
  const std::string where = std::string(alias) + " of " + candidate.name;
  const std::string stays =
      holder == 0 ? where + " is not set to version " + std::to_string(candidate.number)
                  : where + " stays on version " + std::to_string(holder);
  std::string hint = first->remedy;
  if (failed > 1)
    hint += "; " + std::to_string(failed - 1) + " more failed: takt models check " +
            candidate.text() + " --for " + std::string(alias);
  return Error{Code::kDenied,
               stays + ": rule '" + first->rule.name + "' wants " + first->wanted + ", but " +
                   (first->verdict == Verdict::kUnmeasured ? "" : "found ") + first->found,
               std::move(hint), "rules." + first->rule.name};
}

}  // namespace takt::models
