// SPDX-License-Identifier: Apache-2.0
// What filters mean: values held against clauses, and what each kind of thing may be searched by.
#include <algorithm>
#include <cmath>

#include "takt/track/filter.h"

namespace takt::track {
namespace {

bool number_holds(Compare compare, double held, double wanted) {
  switch (compare) {
    case Compare::kEqual:
      return held == wanted;
    case Compare::kNotEqual:
      return held != wanted;
    case Compare::kLess:
      return held < wanted;
    case Compare::kLessEqual:
      return held <= wanted;
    case Compare::kGreater:
      return held > wanted;
    case Compare::kGreaterEqual:
      return held >= wanted;
    default:
      return false;
  }
}

bool text_holds(Compare compare, const std::string& held, const std::string& wanted) {
  switch (compare) {
    case Compare::kEqual:
      return held == wanted;
    case Compare::kNotEqual:
      return held != wanted;
    case Compare::kLike:
      return is_like(held, wanted, false);
    case Compare::kILike:
      return is_like(held, wanted, true);
    default:
      return false;
  }
}

}  // namespace

bool clause_holds(const Clause& clause, const Held& held) {
  const bool is_absent = std::holds_alternative<std::monostate>(held);
  if (clause.compare == Compare::kIsNull) return is_absent;
  if (clause.compare == Compare::kIsNotNull) return !is_absent;
  if (is_absent) return false;
  if (const auto* wanted = std::get_if<double>(&clause.value)) {
    const auto* number = std::get_if<double>(&held);
    return number != nullptr && number_holds(clause.compare, *number, *wanted);
  }
  const auto* text = std::get_if<std::string>(&held);
  if (text == nullptr) return false;
  if (const auto* list = std::get_if<std::vector<std::string>>(&clause.value)) {
    const bool is_in = std::ranges::find(*list, *text) != list->end();
    return is_in == (clause.compare == Compare::kIn);
  }
  return text_holds(clause.compare, *text, std::get<std::string>(clause.value));
}

int compare_held(const Held& a, const Held& b, bool is_descending) {
  const auto rank = [](const Held& held) {
    if (std::holds_alternative<std::monostate>(held)) return 2;
    const auto* number = std::get_if<double>(&held);
    return number != nullptr && std::isnan(*number) ? 1 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  if (rank(a) != 0 || a == b) return 0;
  const bool is_less = a < b;
  return is_less == is_descending ? 1 : -1;
}

bool is_like(std::string_view text, std::string_view pattern, bool ignores_case) {
  const auto fold = [&](char c) {
    return ignores_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  };
  // Greedy with one place to go back to: the last %.
  std::size_t t = 0, p = 0, mark = std::string_view::npos, mark_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      mark = p++;
      mark_text = t;
    } else if (p < pattern.size() && pattern[p] == '_') {
      ++t;
      while (t < text.size() && (text[t] & 0xC0) == 0x80) ++t;  // one character, not one byte
      ++p;
    } else if (p < pattern.size() && fold(pattern[p]) == fold(text[t])) {
      ++p;
      ++t;
    } else if (mark != std::string_view::npos) {
      p = mark + 1;
      t = ++mark_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

const FilterRules& run_filter_rules() {
  static const FilterRules rules{.attributes = {{"run_id", "run_id", false, true},
                                                {"run_name", "run_name"},
                                                {"run name", "run_name"},
                                                {"Run name", "run_name"},
                                                {"Run Name", "run_name"},
                                                {"user_id", "user_id"},
                                                {"status", "status"},
                                                {"artifact_uri", "artifact_uri"},
                                                {"start_time", "start_time", true},
                                                {"created", "start_time", true},
                                                {"Created", "start_time", true},
                                                {"end_time", "end_time", true}},
                                 .has_metrics = true,
                                 .has_params = true,
                                 .has_datasets = true,
                                 .has_null_tests = true};
  return rules;
}

const FilterRules& experiment_filter_rules() {
  static const FilterRules rules{.attributes = {{"name", "name"},
                                                {"experiment_id", "experiment_id", false, true},
                                                {"creation_time", "creation_time", true},
                                                {"last_update_time", "last_update_time", true}},
                                 .has_null_tests = true};
  return rules;
}

const FilterRules& logged_model_filter_rules() {
  static const FilterRules rules{
      .attributes = {{"name", "name", false, true},
                     {"model_id", "model_id", false, true},
                     {"model_type", "model_type", false, true},
                     {"status", "status", false, true},
                     {"source_run_id", "source_run_id", false, true},
                     {"creation_timestamp", "creation_timestamp", true},
                     {"creation_time", "creation_timestamp", true},
                     {"creation_timestamp_ms", "creation_timestamp", true},
                     {"last_updated_timestamp", "last_updated_timestamp", true},
                     {"last_updated_time", "last_updated_timestamp", true},
                     {"last_updated_timestamp_ms", "last_updated_timestamp", true}},
      .has_metrics = true,
      .has_params = true};
  return rules;
}

const FilterRules& registered_model_filter_rules() {
  static const FilterRules rules{
      .attributes = {{"name", "name", false, true},
                     {"timestamp", "last_updated_timestamp", true},
                     {"creation_timestamp", "creation_timestamp", true},
                     {"last_updated_timestamp", "last_updated_timestamp", true}}};
  return rules;
}

const FilterRules& model_version_filter_rules() {
  static const FilterRules rules{
      .attributes = {{"name", "name", false, true},
                     {"version_number", "version_number", true},
                     {"run_id", "run_id", false, true},
                     {"source_path", "source_path"},
                     {"creation_timestamp", "creation_timestamp", true},
                     {"last_updated_timestamp", "last_updated_timestamp", true}}};
  return rules;
}

}  // namespace takt::track
