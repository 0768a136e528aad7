// SPDX-License-Identifier: Apache-2.0
// What a search is ordered by, and the one spelling of a filter.
#include <set>

#include "takt/base/value.h"
#include "takt/track/filter.h"
#include "takt/track/filter_words.h"

namespace takt::track {
namespace {

std::unexpected<Error> refuse_order(std::string message) {
  return fail(Code::kInvalid, std::move(message), "write KEY, KEY ASC or KEY DESC", "order");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && internal::is_space_char(text.front())) text.remove_prefix(1);
  while (!text.empty() && internal::is_space_char(text.back())) text.remove_suffix(1);
  return text;
}

Result<OrderTerm> parse_term(const std::string& text, const FilterRules& rules) {
  std::string_view key = trimmed(text);
  OrderTerm term;
  const bool has_sign = key.starts_with('-');
  if (has_sign) key.remove_prefix(1);
  // The direction is the last word outside quotes.
  const std::size_t space = key.find_last_of(" \t\r\n");
  if (space != std::string_view::npos && key.back() != '`' && key.back() != '"') {
    const std::string direction = internal::upper_of(key.substr(space + 1));
    if (direction != "ASC" && direction != "DESC")
      return refuse_order("Invalid ordering key in order_by clause '" + text + "'.");
    term.is_descending = direction == "DESC";
    key = trimmed(key.substr(0, space));
    if (key.find_first_of("`\"") == std::string_view::npos &&
        key.find_first_of(" ,") != std::string_view::npos)
      return refuse_order("Invalid order_by clause '" + text + "'. Could not be parsed.");
  }
  if (key.empty())
    return refuse_order("Invalid order_by clause '" + text + "'. Could not be parsed.");
  if (has_sign) term.is_descending = !term.is_descending;
  auto subject = internal::parse_subject(key, 0, rules);
  if (!subject) {
    Error error = std::move(subject).error().with_field("order");
    error.hint = error.hint.substr(error.hint.find(": ") + 2);
    if (!rules.unknown_order_key.empty() && key.find('.') == std::string_view::npos) {
      error.message = rules.unknown_order_key;
      error.message.replace(error.message.find("{}"), 2, key);
    }
    return fail(std::move(error));
  }
  if (subject->entity == Entity::kDataset)
    return fail(Code::kInvalid, "Invalid order_by entity type 'dataset'",
                "order by a metric, param, tag or attribute", "order");
  term.entity = subject->entity;
  term.key = subject->key;
  return term;
}

std::string text_of_value(const FilterValue& value) {
  std::string text;
  if (const auto* word = std::get_if<std::string>(&value)) text = "\n'" + *word;
  if (const auto* number = std::get_if<double>(&value)) text = "\n#" + dump_json(Value(*number));
  if (const auto* words = std::get_if<std::vector<std::string>>(&value))
    for (const auto& word : *words) text += "\n(" + word;
  if (const auto* numbers = std::get_if<std::vector<double>>(&value))
    for (const double number : *numbers) text += "\n[" + dump_json(Value(number));
  return text;
}

}  // namespace

Result<std::vector<OrderTerm>> parse_order(const std::vector<std::string>& texts,
                                           const FilterRules& rules) {
  std::vector<OrderTerm> terms;
  std::set<std::pair<Entity, std::string>> seen;
  if (texts.size() > kOrderTermsMax)
    return fail(Code::kTooLarge,
                "more than " + std::to_string(kOrderTermsMax) + " order_by clauses", {}, "order");
  for (const std::string& text : texts) {
    TAKT_ASSIGN(OrderTerm term, parse_term(text, rules));
    if (!seen.insert({term.entity, term.key}).second)
      return fail(Code::kInvalid, "`order_by` contains duplicate fields: " + text,
                  "name each key once", "order");
    terms.push_back(std::move(term));
  }
  return terms;
}

std::string text_of(const Filter& filter) {
  if (filter.kind == Filter::Kind::kClause) {
    const Clause& clause = filter.clause;
    return "\n" + std::to_string(static_cast<int>(clause.entity)) + "," +
           std::to_string(static_cast<int>(clause.compare)) + "," + clause.key +
           text_of_value(clause.value);
  }
  std::string text = "\n" + std::to_string(static_cast<int>(filter.kind)) + "{";
  for (const Filter& part : filter.parts) text += text_of(part);
  return text + "\n}";
}

}  // namespace takt::track
