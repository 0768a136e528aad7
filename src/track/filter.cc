// SPDX-License-Identifier: Apache-2.0
#include "takt/track/filter.h"

#include <algorithm>
#include <charconv>

#include "takt/track/filter_words.h"

namespace takt::track {
namespace {

using internal::entity_word;
using internal::is_numeric;
using internal::parse_subject;
using internal::refuse_filter;
using internal::shown_word;
using internal::Subject;
using internal::upper_of;
using internal::Word;
using internal::WordKind;

constexpr std::string_view kBadClause = "Invalid clause(s) in filter string: '";
constexpr std::string_view kNumberCompares = "{'=', '!=', '<', '<=', '>', '>=', 'IN', 'NOT IN'}";
constexpr std::string_view kTextCompares =
    "{'=', '!=', '<', '<=', '>', '>=', 'LIKE', 'ILIKE', 'IN', 'NOT IN', 'IS NULL', 'IS NOT NULL'}";
constexpr std::string_view kIdCompares = "{'=', '!=', 'IN', 'NOT IN'}";

bool is_order_compare(Compare compare) {
  return compare == Compare::kLess || compare == Compare::kLessEqual ||
         compare == Compare::kGreater || compare == Compare::kGreaterEqual;
}

std::optional<double> number_of(std::string_view digits) {
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number != number)
    return std::nullopt;
  return number;
}

bool is_quoted_word(const Word& word) {
  return word.kind == WordKind::kText ||
         (word.kind == WordKind::kIdentifier && word.text.size() >= 2 && word.text.front() == '"');
}

/// filter = all { OR all }; all = one { AND one }; one = NOT one | ( filter ) | clause
class FilterParser {
 public:
  FilterParser(std::string_view text, const FilterRules& rules) : scan_(text), rules_(rules) {}

  Result<Filter> parse() {
    TAKT_RETURN_IF_ERROR(advance());
    if (word_.kind == WordKind::kEnd) return Filter{};
    TAKT_ASSIGN(Filter filter, parse_any(0));
    if (word_.kind == WordKind::kEnd) return filter;
    return refuse_filter(std::string(kBadClause) + shown_word(word_) + "'", word_.at,
                         word_.kind == WordKind::kClose ? "this parenthesis was never opened"
                                                        : "clauses are joined by AND or OR");
  }

 private:
  Status advance() {
    TAKT_ASSIGN(word_, scan_.next());
    return {};
  }
  bool is_keyword(std::string_view upper) const {
    return word_.kind == WordKind::kIdentifier && upper_of(word_.text) == upper;
  }

  /// Parts joined by one word; a single part stands for itself.
  template <class Part>
  Result<Filter> joined(Filter::Kind kind, std::string_view word, const Part& part) {
    TAKT_ASSIGN(Filter first, part());
    if (!is_keyword(word)) return first;
    Filter filter{kind, {}, {}};
    filter.parts.push_back(std::move(first));
    while (is_keyword(word)) {
      TAKT_RETURN_IF_ERROR(advance());
      TAKT_ASSIGN(Filter next, part());
      filter.parts.push_back(std::move(next));
    }
    return filter;
  }
  Result<Filter> parse_any(std::size_t depth) {
    return joined(Filter::Kind::kAny, "OR", [&] { return parse_all(depth); });
  }
  Result<Filter> parse_all(std::size_t depth) {
    return joined(Filter::Kind::kAll, "AND", [&] { return parse_one(depth); });
  }

  Result<Filter> parse_one(std::size_t depth) {
    if (depth > kFilterDepthMax)
      return fail(Code::kTooLarge,
                  "the filter is nested more than " + std::to_string(kFilterDepthMax) + " deep",
                  "at character " + std::to_string(word_.at + 1) + ": write it flatter", "filter");
    if (is_keyword("NOT")) {
      TAKT_RETURN_IF_ERROR(advance());
      Filter filter{Filter::Kind::kNot, {}, {}};
      TAKT_ASSIGN(Filter part, parse_one(depth + 1));
      filter.parts.push_back(std::move(part));
      return filter;
    }
    if (word_.kind == WordKind::kOpen) {
      const std::size_t opened_at = word_.at;
      TAKT_RETURN_IF_ERROR(advance());
      TAKT_ASSIGN(Filter filter, parse_any(depth + 1));
      if (word_.kind == WordKind::kEnd)
        return refuse_filter(std::string(kBadClause) + "(', the parenthesis is not closed",
                             opened_at, "close it with )");
      if (word_.kind != WordKind::kClose)
        return refuse_filter(std::string(kBadClause) + shown_word(word_) + "'", word_.at,
                             "clauses are joined by AND or OR");
      TAKT_RETURN_IF_ERROR(advance());
      return filter;
    }
    Filter filter{Filter::Kind::kClause, {}, {}};
    TAKT_ASSIGN(filter.clause, parse_clause());
    if (++clauses_ > kFilterClausesMax)
      return fail(Code::kTooLarge,
                  "the filter has more than " + std::to_string(kFilterClausesMax) + " clauses",
                  "one clause with IN takes many values", "filter");
    return filter;
  }

  Result<Clause> parse_clause() {
    const Word name = word_;
    if (name.kind == WordKind::kEnd)
      return refuse_filter(std::string(kBadClause) + "', a clause is missing at the end", name.at,
                           "write one, such as metrics.loss < 0.1");
    if (name.kind == WordKind::kText || name.kind == WordKind::kNumber)
      return refuse_filter(
          "Invalid comparison clause. Expected 'Identifier' found '" + shown_word(name) + "'",
          name.at, "the name stands on the left, such as metrics.loss < 0.1");
    if (name.kind != WordKind::kIdentifier || is_keyword("AND") || is_keyword("OR"))
      return refuse_filter(std::string(kBadClause) + shown_word(name) + "'", name.at,
                           "a clause is wanted here, such as metrics.loss < 0.1");
    TAKT_ASSIGN(const Subject subject, parse_subject(name.text, name.at, rules_));
    TAKT_RETURN_IF_ERROR(advance());
    if (word_.kind != WordKind::kOperator && word_.kind != WordKind::kIdentifier)
      return refuse_filter(std::string(kBadClause) + shown_word(name) + "'", word_.at,
                           "a comparison is wanted after the name, such as = or <");
    Clause clause{subject.entity, subject.key, {}, {}};
    TAKT_ASSIGN(clause.compare, parse_compare(subject, name));
    if (clause.compare == Compare::kIsNull || clause.compare == Compare::kIsNotNull) return clause;
    TAKT_ASSIGN(clause.value, parse_value(subject, clause.compare));
    return clause;
  }

  Result<Compare> parse_compare(const Subject& subject, const Word& name) {
    static constexpr std::pair<std::string_view, Compare> kOperators[] = {
        {"=", Compare::kEqual},     {"==", Compare::kEqual},
        {"!=", Compare::kNotEqual}, {"<>", Compare::kNotEqual},
        {"<", Compare::kLess},      {"<=", Compare::kLessEqual},
        {">", Compare::kGreater},   {">=", Compare::kGreaterEqual},
        {"LIKE", Compare::kLike},   {"ILIKE", Compare::kILike},
        {"IN", Compare::kIn}};
    const Word first = word_;
    const std::string text = upper_of(first.text);
    TAKT_RETURN_IF_ERROR(advance());
    if (text == "IS") return parse_null_test(subject);
    if (text == "NOT" && is_keyword("IN")) {
      TAKT_RETURN_IF_ERROR(advance());
      return allowed(subject, Compare::kNotIn, Word{first.kind, "NOT IN", {}, first.at});
    }
    const auto found =
        std::ranges::find(kOperators, text, &std::pair<std::string_view, Compare>::first);
    if (found != std::end(kOperators)) return allowed(subject, found->second, first);
    if (first.kind == WordKind::kOperator) return not_allowed(subject, first);
    return refuse_filter(std::string(kBadClause) + shown_word(name) + " " + shown_word(first) + "'",
                         first.at, "a comparison is wanted after the name, such as = or <");
  }

  Result<Compare> parse_null_test(const Subject& subject) {
    Compare compare = Compare::kIsNull;
    const std::size_t at = word_.at;
    if (is_keyword("NOT")) {
      compare = Compare::kIsNotNull;
      TAKT_RETURN_IF_ERROR(advance());
    }
    if (!is_keyword("NULL"))
      return refuse_filter(
          "Invalid comparison clause. Expected NULL found '" + shown_word(word_) + "'", word_.at,
          "IS takes NULL or NOT NULL");
    TAKT_RETURN_IF_ERROR(advance());
    const bool may_be_absent = subject.entity == Entity::kParam || subject.entity == Entity::kTag ||
                               subject.entity == Entity::kMetric ||
                               (subject.attribute != nullptr && subject.attribute->may_be_absent);
    if (may_be_absent) return compare;
    return refuse_filter("IS NULL / IS NOT NULL is only supported for tags and params, not for '" +
                             std::string(entity_word(subject.entity)) + "' '" + subject.key + "'",
                         at,
                         "every " + std::string(rules_.has_metrics ? "run" : "row") +
                             " has this; compare it with a value");
  }

  static std::string_view compares_of(const Subject& subject) {
    if (subject.attribute != nullptr && subject.attribute->kind == AttributeKind::kId)
      return kIdCompares;
    return is_numeric(subject) ? kNumberCompares : kTextCompares;
  }
  std::unexpected<Error> not_allowed(const Subject& subject, const Word& word) const {
    return refuse_filter("Invalid comparator '" + shown_word(word) + "' not one of '" +
                             std::string(compares_of(subject)) + "'",
                         word.at,
                         "that is what " + std::string(entity_word(subject.entity)) + " '" +
                             subject.key + "' is compared with");
  }
  Result<Compare> allowed(const Subject& subject, Compare compare, const Word& word) const {
    const bool is_id =
        subject.attribute != nullptr && subject.attribute->kind == AttributeKind::kId;
    const bool is_like = compare == Compare::kLike || compare == Compare::kILike;
    if ((is_like && is_numeric(subject)) || (is_id && (is_like || is_order_compare(compare))))
      return not_allowed(subject, word);
    return compare;
  }

  Result<FilterValue> parse_value(const Subject& subject, Compare compare) {
    if (compare == Compare::kIn || compare == Compare::kNotIn) return parse_list(subject);
    const Word word = word_;
    if (word.kind == WordKind::kEnd)
      return refuse_filter("Invalid comparison clause. Expected 3 tokens found 2", word.at,
                           "the value after '" + subject.key + "' is missing");
    TAKT_RETURN_IF_ERROR(advance());
    if (is_numeric(subject)) return number_value(subject, word);
    const bool is_word = subject.entity == Entity::kParam || subject.entity == Entity::kTag;
    if (is_word && word.kind == WordKind::kNumber && is_order_compare(compare))
      return *number_of(word.text);
    TAKT_ASSIGN(std::string text, text_value(subject, word));
    if (subject.attribute == nullptr || subject.attribute->kind != AttributeKind::kId) return text;
    return id_value(text, word);
  }

  Result<FilterValue> number_value(const Subject& subject, const Word& word) const {
    if (word.kind == WordKind::kNumber) return *number_of(word.text);
    if (rules_.may_quote_numbers && is_quoted_word(word)) {
      if (const auto number = number_of(word.value)) return *number;
      return refuse_filter(
          "Invalid value for numeric attribute '" + subject.key + "': '" + word.value + "'",
          word.at, "write a number");
    }
    return refuse_filter(
        "Expected numeric value type for " +
            (subject.entity == Entity::kMetric ? std::string("metric")
                                               : "numeric attribute: " + subject.key) +
            ". Found " + shown_word(word),
        word.at, "write a number without quotes");
  }

  static Result<FilterValue> id_value(const std::string& text, const Word& word) {
    const auto number = number_of(text);
    if (number) return *number;
    return refuse_filter("Invalid experiment ID: '" + text + "'. It must be an integer", word.at,
                         "the id is a quoted number, such as '3'");
  }

  static Result<std::string> text_value(const Subject& subject, const Word& word) {
    if (is_quoted_word(word)) return word.value;
    if (word.kind == WordKind::kIdentifier)
      return refuse_filter(
          "Parameter value is either not quoted or unidentified quote types used for string "
          "value " +
              shown_word(word) + ". Use either single or double quotes.",
          word.at, "write '" + shown_word(word) + "'");
    const std::string what = subject.entity == Entity::kAttribute ? "attributes"
                             : subject.entity == Entity::kDataset
                                 ? "dataset attributes"
                                 : std::string(entity_word(subject.entity)) + " (e.g. 'my-value')";
    return refuse_filter(
        "Expected a quoted string value for " + what + ". Got value " + shown_word(word), word.at,
        word.kind == WordKind::kNumber ? "write '" + shown_word(word) + "'"
                                       : "a quoted value is wanted here");
  }

  std::unexpected<Error> bad_list(std::string what, std::string remedy) const {
    return refuse_filter("While parsing a list in the query, " + std::move(what), word_.at,
                         std::move(remedy));
  }

  Result<FilterValue> parse_list(const Subject& subject) {
    if (word_.kind != WordKind::kOpen)
      return bad_list("expected a non-empty list of string values, but got ill-formed list.",
                      "a list is written ('a', 'b')");
    std::vector<Word> words;
    do {
      TAKT_RETURN_IF_ERROR(advance());
      if (word_.kind == WordKind::kClose) break;  // empty, or a comma before the end
      const bool fits = is_numeric(subject)
                            ? word_.kind == WordKind::kNumber ||
                                  (rules_.may_quote_numbers && is_quoted_word(word_))
                            : is_quoted_word(word_);
      if (!fits && word_.kind != WordKind::kEnd)
        return bad_list(
            "expected string value, punctuation, or whitespace, but got different type in list: " +
                shown_word(word_),
            is_numeric(subject) ? "numbers stand without quotes" : "values stand in quotes");
      if (word_.kind != WordKind::kEnd) words.push_back(word_);
      if (++list_values_ > kFilterListMax)
        return fail(
            Code::kTooLarge,
            "the filter's lists have more than " + std::to_string(kFilterListMax) + " values",
            "search in several calls", "filter");
      TAKT_RETURN_IF_ERROR(advance());
    } while (word_.kind == WordKind::kComma);
    if (word_.kind != WordKind::kClose)
      return bad_list("expected a non-empty list of string values, but got ill-formed list.",
                      "values are joined by commas, and the list is closed by )");
    if (words.empty())
      return bad_list("expected a non-empty list of string values, but got empty list",
                      "write at least one value");
    TAKT_RETURN_IF_ERROR(advance());
    return list_value(subject, words);
  }

  Result<FilterValue> list_value(const Subject& subject, const std::vector<Word>& words) const {
    const bool is_id =
        subject.attribute != nullptr && subject.attribute->kind == AttributeKind::kId;
    if (!is_numeric(subject) && !is_id) {
      std::vector<std::string> texts;
      for (const Word& word : words) texts.push_back(word.value);
      return texts;
    }
    std::vector<double> numbers;
    for (const Word& word : words) {
      TAKT_ASSIGN(const FilterValue value,
                  is_id ? id_value(word.value, word) : number_value(subject, word));
      numbers.push_back(std::get<double>(value));
    }
    return numbers;
  }

  internal::WordScan scan_;
  const FilterRules& rules_;
  Word word_;
  std::size_t clauses_ = 0, list_values_ = 0;
};

}  // namespace

Result<Filter> parse_filter(std::string_view text, const FilterRules& rules) {
  if (text.size() > kFilterBytesMax)
    return fail(Code::kTooLarge,
                "the filter has " + std::to_string(text.size()) + " bytes, at most " +
                    std::to_string(kFilterBytesMax) + " are taken",
                {}, "filter");
  return FilterParser(text, rules).parse();
}

}  // namespace takt::track
