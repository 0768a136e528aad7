// SPDX-License-Identifier: Apache-2.0
// What filters mean: values held against clauses, and what each kind of thing may be searched by.
#include <algorithm>
#include <charconv>
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
    case Compare::kLess:
      return held < wanted;
    case Compare::kLessEqual:
      return held <= wanted;
    case Compare::kGreater:
      return held > wanted;
    case Compare::kGreaterEqual:
      return held >= wanted;
    case Compare::kLike:
      return is_like(held, wanted, false);
    case Compare::kILike:
      return is_like(held, wanted, true);
    default:
      return false;
  }
}

std::size_t digits_from(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end - at;
}

/// A param's text that is a number counts as that number.
std::optional<double> number_of_held(const Held& held) {
  if (const auto* number = std::get_if<double>(&held)) return *number;
  if (const auto* text = std::get_if<std::string>(&held)) return number_in_text(*text);
  return std::nullopt;
}

}  // namespace

// filter_sql.cc's kNumberInText says the same in SQL.
std::optional<double> number_in_text(std::string_view text) {
  constexpr std::size_t kNumberCharsMax = 40;
  if (text.empty() || text.size() > kNumberCharsMax) return std::nullopt;
  const bool is_negative = text.front() == '-';
  if (is_negative || text.front() == '+') text.remove_prefix(1);
  std::size_t at = digits_from(text, 0);
  if (at == 0) return std::nullopt;
  if (at < text.size() && text[at] == '.') at += 1 + digits_from(text, at + 1);
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t digits = digits_from(text, at);
    if (digits == 0 || digits > 2) return std::nullopt;
    at += digits;
  }
  if (at != text.size() || text.back() == '.') return std::nullopt;
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return is_negative ? -number : number;
}

bool filter_holds(const Filter& filter, const std::function<bool(const Clause&)>& holds) {
  const auto part_holds = [&](const Filter& part) { return filter_holds(part, holds); };
  switch (filter.kind) {
    case Filter::Kind::kAll:
      return std::ranges::all_of(filter.parts, part_holds);
    case Filter::Kind::kAny:
      return std::ranges::any_of(filter.parts, part_holds);
    case Filter::Kind::kNot:
      return !part_holds(filter.parts.front());
    case Filter::Kind::kClause:
      return holds(filter.clause);
  }
  return false;
}

bool clause_holds(const Clause& clause, const Held& held) {
  const bool is_absent = std::holds_alternative<std::monostate>(held);
  if (clause.compare == Compare::kIsNull) return is_absent;
  if (clause.compare == Compare::kIsNotNull) return !is_absent;
  if (is_absent) return false;
  if (const auto* wanted = std::get_if<double>(&clause.value)) {
    const auto number = number_of_held(held);
    return number && number_holds(clause.compare, *number, *wanted);
  }
  if (const auto* list = std::get_if<std::vector<double>>(&clause.value)) {
    const auto* number = std::get_if<double>(&held);
    return number != nullptr &&
           std::ranges::contains(*list, *number) == (clause.compare == Compare::kIn);
  }
  const auto* text = std::get_if<std::string>(&held);
  if (text == nullptr) return false;
  if (const auto* list = std::get_if<std::vector<std::string>>(&clause.value)) {
    return std::ranges::contains(*list, *text) == (clause.compare == Compare::kIn);
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
  static const FilterRules rules{
      .attributes = {{"run_id", "run_id"},
                     {"run_name", "run_name"},
                     {"run name", "run_name"},
                     {"Run name", "run_name"},
                     {"Run Name", "run_name"},
                     {"user_id", "user_id"},
                     {"status", "status"},
                     {"artifact_uri", "artifact_uri"},
                     {"experiment_id", "experiment_id", AttributeKind::kId},
                     {"experiment_name", "experiment_name"},
                     {"start_time", "start_time", AttributeKind::kNumber},
                     {"created", "start_time", AttributeKind::kNumber},
                     {"Created", "start_time", AttributeKind::kNumber},
                     {"end_time", "end_time", AttributeKind::kNumber, true}},
      .has_metrics = true,
      .has_params = true,
      .has_datasets = true,
      .unknown_entity =
          "Invalid entity type '{}'. Valid values are ['metric', 'parameter', 'tag', "
          "'attribute', 'dataset']"};
  return rules;
}

constexpr std::string_view kUnknownEntityOfNames =
    "Invalid entity type '{}'. Valid entity types are ('attribute', 'tag', 'tags')";

const FilterRules& experiment_filter_rules() {
  static const FilterRules rules{
      .attributes = {{"name", "name"},
                     {"experiment_id", "experiment_id", AttributeKind::kId},
                     {"creation_time", "creation_time", AttributeKind::kNumber},
                     {"last_update_time", "last_update_time", AttributeKind::kNumber}},
      .unknown_entity = kUnknownEntityOfNames};
  return rules;
}

const FilterRules& logged_model_filter_rules() {
  static const FilterRules rules{
      .attributes = {{"name", "name"},
                     {"model_id", "model_id"},
                     {"model_type", "model_type", AttributeKind::kText, true},
                     {"status", "status"},
                     {"source_run_id", "source_run_id", AttributeKind::kText, true},
                     {"experiment_id", "experiment_id", AttributeKind::kId},
                     {"creation_timestamp", "creation_timestamp", AttributeKind::kNumber},
                     {"creation_time", "creation_timestamp", AttributeKind::kNumber},
                     {"creation_timestamp_ms", "creation_timestamp", AttributeKind::kNumber},
                     {"last_updated_timestamp", "last_updated_timestamp", AttributeKind::kNumber},
                     {"last_updated_time", "last_updated_timestamp", AttributeKind::kNumber},
                     {"last_updated_timestamp_ms", "last_updated_timestamp",
                      AttributeKind::kNumber}},
      .has_metrics = true,
      .has_params = true,
      .unknown_entity =
          "Invalid entity type: '{}'. Expected one of ['attributes', 'metrics', "
          "'params', 'tags'].",
      .unknown_order_key = "Invalid order by field name: {}."};
  return rules;
}

const FilterRules& registered_model_filter_rules() {
  static const FilterRules rules{
      .attributes = {{"name", "name"},
                     {"timestamp", "last_updated_timestamp", AttributeKind::kNumber},
                     {"creation_timestamp", "creation_timestamp", AttributeKind::kNumber},
                     {"last_updated_timestamp", "last_updated_timestamp", AttributeKind::kNumber}},
      .may_quote_numbers = true,
      .unknown_entity = kUnknownEntityOfNames,
      .unknown_order_key =
          "Invalid order by key '{}' specified. Valid keys are '{'name', 'timestamp'}'"};
  return rules;
}

const FilterRules& model_version_filter_rules() {
  static const FilterRules rules{
      .attributes = {{"name", "name"},
                     {"version_number", "version_number", AttributeKind::kNumber},
                     {"run_id", "run_id", AttributeKind::kText, true},
                     {"source_path", "source_path"},
                     {"current_stage", "current_stage"},
                     {"user_id", "user_id"},
                     {"creation_timestamp", "creation_timestamp", AttributeKind::kNumber},
                     {"last_updated_timestamp", "last_updated_timestamp", AttributeKind::kNumber}},
      .may_quote_numbers = true,
      .unknown_entity = kUnknownEntityOfNames};
  return rules;
}

}  // namespace takt::track
