// SPDX-License-Identifier: Apache-2.0
#include "takt/track/filter.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace takt::track {
namespace {

enum class WordKind { kEnd, kIdentifier, kText, kNumber, kOperator, kOpen, kClose, kComma };

struct Word {
  WordKind kind = WordKind::kEnd;
  std::string text;   // as written
  std::string value;  // of a text: without quotes
  std::size_t at = 0;
};

bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '/' || c == ':' || c == '@' || c == '$' || (c & 0x80) != 0;
}
bool is_space_char(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string upper_of(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return upper;
}

std::unexpected<Error> refuse_filter(std::string message) {
  return fail(Code::kInvalid, std::move(message), {}, "filter");
}

std::string shown_word(const Word& word) {
  return word.kind == WordKind::kEnd ? std::string("the end") : word.text.substr(0, 120);
}

/// Cuts the text into words, one at a time.
class WordScan {
 public:
  explicit WordScan(std::string_view text) : text_(text) {}

  Result<Word> next() {
    while (at_ < text_.size() && is_space_char(text_[at_])) ++at_;
    Word word;
    word.at = at_;
    if (at_ >= text_.size()) return word;
    const char c = text_[at_];
    if (c == '\'') return quoted_text();
    if (is_number_start()) return number();
    if (c == '`' || c == '"' || is_identifier_char(c)) return identifier();
    return symbol();
  }

 private:
  bool is_number_start() const {
    const auto digit = [&](std::size_t i) {
      return i < text_.size() && text_[i] >= '0' && text_[i] <= '9';
    };
    const char c = text_[at_];
    if (digit(at_)) return true;
    const bool is_sign = c == '-' || c == '+';
    if (is_sign &&
        (digit(at_ + 1) || (at_ + 1 < text_.size() && text_[at_ + 1] == '.' && digit(at_ + 2))))
      return true;
    return c == '.' && digit(at_ + 1);
  }

  Result<Word> number() {
    const std::size_t start = at_;
    if (text_[at_] == '-' || text_[at_] == '+') ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_exponent_sign =
          (c == '-' || c == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!is_identifier_char(c) && !is_exponent_sign) break;
      if (c == '-' && !is_exponent_sign) break;
      ++at_;
    }
    Word word{WordKind::kNumber, std::string(text_.substr(start, at_ - start)), {}, start};
    double parsed = 0;
    std::string_view digits = word.text;
    if (digits.front() == '+') digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
    // What only begins like a number is a name: 3x, 12ab34.
    if (error != std::errc() || end != digits.data() + digits.size())
      word.kind = WordKind::kIdentifier;
    return word;
  }

  /// From an opening quote; a doubled quote stands for itself.
  Result<std::string> quoted(char quote) {
    const std::size_t start = at_++;
    std::string value;
    while (at_ < text_.size()) {
      if (text_[at_] == quote) {
        if (at_ + 1 < text_.size() && text_[at_ + 1] == quote) {
          ++at_;
        } else {
          ++at_;
          return value;
        }
      }
      value += text_[at_++];
    }
    return refuse_filter("Invalid clause(s) in filter string: the quote at character " +
                         std::to_string(start + 1) + " is not closed");
  }

  Result<Word> quoted_text() {
    Word word{WordKind::kText, {}, {}, at_};
    TAKT_ASSIGN(word.value, quoted('\''));
    word.text = text_.substr(word.at, at_ - word.at);
    return word;
  }

  // metrics.acc, metrics."val acc", `metrics`.acc, "alone": quotes are dropped, except that the
  // whole word in double quotes may also be a text (`text` keeps them).
  Result<Word> identifier() {
    Word word{WordKind::kIdentifier, {}, {}, at_};
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '`' || c == '"') {
        TAKT_ASSIGN(const std::string part, quoted(c));
        word.value += part;
      } else if (is_identifier_char(c)) {
        word.value += c;
        ++at_;
      } else {
        break;
      }
    }
    word.text = text_.substr(word.at, at_ - word.at);
    return word;
  }

  Result<Word> symbol() {
    const std::string_view two = text_.substr(at_, 2);
    Word word{WordKind::kOperator, {}, {}, at_};
    if (two == "!=" || two == "<=" || two == ">=" || two == "==" || two == "<>") {
      word.text = two;
    } else {
      word.text = text_.substr(at_, 1);
      if (word.text == "(") word.kind = WordKind::kOpen;
      if (word.text == ")") word.kind = WordKind::kClose;
      if (word.text == ",") word.kind = WordKind::kComma;
    }
    at_ += word.text.size();
    return word;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<Entity> entity_named(std::string_view name) {
  if (name == "metric" || name == "metrics") return Entity::kMetric;
  if (name == "param" || name == "params" || name == "parameter" || name == "parameters")
    return Entity::kParam;
  if (name == "tag" || name == "tags") return Entity::kTag;
  if (name == "attribute" || name == "attributes" || name == "attr" || name == "run")
    return Entity::kAttribute;
  if (name == "dataset" || name == "datasets") return Entity::kDataset;
  return std::nullopt;
}

bool is_allowed(Entity entity, const FilterRules& rules) {
  switch (entity) {
    case Entity::kMetric:
      return rules.has_metrics;
    case Entity::kParam:
      return rules.has_params;
    case Entity::kTag:
      return rules.has_tags;
    case Entity::kDataset:
      return rules.has_datasets;
    case Entity::kAttribute:
      return true;
  }
  return false;
}

std::string entity_names(const FilterRules& rules) {
  std::string names = "'attribute'";
  if (rules.has_metrics) names += ", 'metric'";
  if (rules.has_params) names += ", 'parameter'";
  if (rules.has_tags) names += ", 'tag'";
  if (rules.has_datasets) names += ", 'dataset'";
  return "[" + names + "]";
}

std::string attribute_names(const FilterRules& rules) {
  std::string names;
  for (const auto& attribute : rules.attributes)
    names += (names.empty() ? "'" : ", '") + std::string(attribute.name) + "'";
  return "[" + names + "]";
}

const FilterAttribute* find_attribute(const FilterRules& rules, std::string_view key) {
  const auto found = std::ranges::find(rules.attributes, key, &FilterAttribute::name);
  return found == rules.attributes.end() ? nullptr : &*found;
}

struct Subject {
  Entity entity = Entity::kAttribute;
  std::string key;
  const FilterAttribute* attribute = nullptr;
};

std::string without_quotes(std::string_view text) {
  if (text.size() >= 2 && text.front() == text.back() &&
      (text.front() == '`' || text.front() == '"' || text.front() == '\''))
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

/// `metrics.acc`, `"start_time"`, `run_id` as written.
Result<Subject> parse_subject(std::string_view written, const FilterRules& rules) {
  Subject subject;
  const std::size_t dot = written.find('.');
  std::string_view key = written;
  if (dot != std::string_view::npos) {
    const std::string entity = without_quotes(written.substr(0, dot));
    const auto known = entity_named(entity);
    if (!known || !is_allowed(*known, rules))
      return refuse_filter("Invalid entity type '" + entity + "'. Valid values are " +
                           entity_names(rules));
    subject.entity = *known;
    key = written.substr(dot + 1);
  }
  subject.key = without_quotes(key);
  if (subject.key.empty())
    return refuse_filter("Invalid identifier '" + std::string(written) + "': a key is missing");
  if (subject.entity == Entity::kAttribute) {
    subject.attribute = find_attribute(rules, subject.key);
    if (subject.attribute == nullptr)
      return refuse_filter("Invalid attribute key '" + subject.key +
                           "' specified. Valid keys are '" + attribute_names(rules) + "'");
    subject.key = subject.attribute->canonical;
  }
  if (subject.entity == Entity::kDataset && subject.key != "name" && subject.key != "digest" &&
      subject.key != "context")
    return refuse_filter("Invalid dataset key '" + subject.key +
                         "' specified. Valid keys are '['context', 'digest', 'name']'");
  return subject;
}

bool is_numeric(const Subject& subject) {
  return subject.entity == Entity::kMetric ||
         (subject.attribute != nullptr && subject.attribute->is_number);
}

std::string_view entity_word(Entity entity) {
  switch (entity) {
    case Entity::kMetric:
      return "metric";
    case Entity::kParam:
      return "parameter";
    case Entity::kTag:
      return "tag";
    case Entity::kDataset:
      return "dataset";
    case Entity::kAttribute:
      return "attribute";
  }
  return "attribute";
}

/// Reads clauses joined by AND.
class FilterParser {
 public:
  FilterParser(std::string_view text, const FilterRules& rules) : scan_(text), rules_(rules) {}

  Result<Filter> parse() {
    Filter filter;
    TAKT_RETURN_IF_ERROR(advance());
    if (word_.kind == WordKind::kEnd) return filter;
    while (true) {
      TAKT_ASSIGN(Clause clause, parse_clause());
      filter.push_back(std::move(clause));
      if (filter.size() > kFilterClausesMax)
        return fail(Code::kTooLarge,
                    "the filter has more than " + std::to_string(kFilterClausesMax) + " clauses",
                    {}, "filter");
      if (word_.kind == WordKind::kEnd) return filter;
      if (!is_keyword("AND"))
        return refuse_filter("Invalid clause(s) in filter string: expected AND or the end, got '" +
                             shown_word(word_) + "' at character " + std::to_string(word_.at + 1));
      TAKT_RETURN_IF_ERROR(advance());
    }
  }

 private:
  Status advance() {
    TAKT_ASSIGN(word_, scan_.next());
    return {};
  }
  bool is_keyword(std::string_view upper) const {
    return word_.kind == WordKind::kIdentifier && upper_of(word_.text) == upper;
  }

  Result<Clause> parse_clause() {
    if (word_.kind != WordKind::kIdentifier)
      return refuse_filter(
          "Invalid clause(s) in filter string: expected an identifier such as metrics.loss, got '" +
          shown_word(word_) + "' at character " + std::to_string(word_.at + 1));
    TAKT_ASSIGN(const Subject subject, parse_subject(word_.text, rules_));
    TAKT_RETURN_IF_ERROR(advance());
    Clause clause{subject.entity, subject.key, {}, {}};
    TAKT_ASSIGN(clause.compare, parse_compare(subject));
    if (clause.compare == Compare::kIsNull || clause.compare == Compare::kIsNotNull) return clause;
    TAKT_ASSIGN(clause.value, parse_value(subject, clause.compare));
    return clause;
  }

  Result<Compare> parse_compare(const Subject& subject) {
    const Word first = word_;
    const std::string text = upper_of(first.text);
    TAKT_RETURN_IF_ERROR(advance());
    std::optional<Compare> compare;
    if (text == "=" || text == "==") compare = Compare::kEqual;
    if (text == "!=" || text == "<>") compare = Compare::kNotEqual;
    if (text == "<") compare = Compare::kLess;
    if (text == "<=") compare = Compare::kLessEqual;
    if (text == ">") compare = Compare::kGreater;
    if (text == ">=") compare = Compare::kGreaterEqual;
    if (text == "LIKE") compare = Compare::kLike;
    if (text == "ILIKE") compare = Compare::kILike;
    if (text == "IN") compare = Compare::kIn;
    if (text == "NOT" && is_keyword("IN")) {
      compare = Compare::kNotIn;
      TAKT_RETURN_IF_ERROR(advance());
    }
    if (text == "IS") {
      compare = Compare::kIsNull;
      if (is_keyword("NOT")) {
        compare = Compare::kIsNotNull;
        TAKT_RETURN_IF_ERROR(advance());
      }
      if (!is_keyword("NULL"))
        return refuse_filter("Invalid comparison clause: IS takes NULL or NOT NULL");
      TAKT_RETURN_IF_ERROR(advance());
    }
    if (!compare)
      return refuse_filter("Invalid comparison clause: expected a comparison after '" +
                           subject.key + "', got '" + shown_word(first) + "' at character " +
                           std::to_string(first.at + 1));
    if (!takes(subject, *compare))
      return refuse_filter(
          "Invalid comparator '" + shown_word(first) + "' not one of those that " +
          std::string(entity_word(subject.entity)) + " '" + subject.key +
          "' takes: " + (is_numeric(subject) ? "=, !=, <, <=, >, >=" : "=, !=, LIKE, ILIKE"));
    return *compare;
  }

  bool takes(const Subject& subject, Compare compare) const {
    switch (compare) {
      case Compare::kEqual:
      case Compare::kNotEqual:
        return true;
      case Compare::kLess:
      case Compare::kLessEqual:
      case Compare::kGreater:
      case Compare::kGreaterEqual:
        return is_numeric(subject);
      case Compare::kLike:
      case Compare::kILike:
        return !is_numeric(subject);
      case Compare::kIn:
      case Compare::kNotIn:
        return subject.entity == Entity::kDataset ||
               (subject.attribute != nullptr && !subject.attribute->is_number);
      case Compare::kIsNull:
      case Compare::kIsNotNull:
        return rules_.has_null_tests &&
               (subject.entity == Entity::kParam || subject.entity == Entity::kTag);
    }
    return false;
  }

  Result<FilterValue> parse_value(const Subject& subject, Compare compare) {
    if (compare == Compare::kIn || compare == Compare::kNotIn) return parse_list(subject);
    const Word word = word_;
    if (word.kind == WordKind::kEnd)
      return refuse_filter("Invalid comparison clause: the value after '" + subject.key +
                           "' is missing");
    TAKT_RETURN_IF_ERROR(advance());
    if (is_numeric(subject)) {
      if (word.kind == WordKind::kNumber) {
        double number = 0;
        const std::string_view digits =
            word.text.front() == '+' ? std::string_view(word.text).substr(1) : word.text;
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
        return number;
      }
      return refuse_filter("Expected numeric value type for " +
                           (subject.entity == Entity::kMetric
                                ? std::string("metric")
                                : "numeric attribute: " + subject.key) +
                           ". Found " + shown_word(word));
    }
    if (word.kind == WordKind::kText) return word.value;
    const bool is_double_quoted =
        word.kind == WordKind::kIdentifier && word.text.size() >= 2 && word.text.front() == '"';
    if (is_double_quoted) return word.value;
    if (word.kind == WordKind::kIdentifier)
      return refuse_filter(
          "Parameter value is either not quoted or unidentified quote types used for string "
          "value " +
          shown_word(word) + ". Use either single or double quotes.");
    return refuse_filter("Expected a quoted string value for " +
                         (subject.entity == Entity::kAttribute
                              ? std::string("attributes")
                              : std::string(entity_word(subject.entity))) +
                         " (e.g. 'my-value'). Got value " + shown_word(word));
  }

  Result<FilterValue> parse_list(const Subject& subject) {
    if (subject.attribute != nullptr && !subject.attribute->takes_list)
      return refuse_filter(
          "Only the attributes that take lists support comparison with a list of quoted string "
          "values, not '" +
          subject.key + "'.");
    std::vector<std::string> list;
    if (word_.kind != WordKind::kOpen)
      return refuse_filter(
          "While parsing a list in the query, expected a non-empty list of string values, but got "
          "ill-formed list.");
    do {
      TAKT_RETURN_IF_ERROR(advance());
      if (word_.kind == WordKind::kClose) break;  // empty, or a comma before the end
      const bool is_text = word_.kind == WordKind::kText ||
                           (word_.kind == WordKind::kIdentifier && word_.text.front() == '"');
      if (!is_text)
        return refuse_filter(
            "While parsing a list in the query, expected string value, punctuation, or whitespace, "
            "but got "
            "different type in list: " +
            shown_word(word_));
      list.push_back(word_.value);
      TAKT_RETURN_IF_ERROR(advance());
    } while (word_.kind == WordKind::kComma);
    if (word_.kind != WordKind::kClose)
      return refuse_filter(
          "While parsing a list in the query, expected a non-empty list of string values, but got "
          "ill-formed list.");
    if (list.empty())
      return refuse_filter(
          "While parsing a list in the query, expected a non-empty list of string values, but got "
          "empty list");
    TAKT_RETURN_IF_ERROR(advance());
    return list;
  }

  WordScan scan_;
  const FilterRules& rules_;
  Word word_;
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

Result<std::vector<OrderTerm>> parse_order(const std::vector<std::string>& texts,
                                           const FilterRules& rules) {
  constexpr std::size_t kOrderTermsMax = 20;
  std::vector<OrderTerm> terms;
  std::set<std::pair<Entity, std::string>> seen;
  if (texts.size() > kOrderTermsMax)
    return fail(Code::kTooLarge,
                "more than " + std::to_string(kOrderTermsMax) + " order_by clauses", {}, "order");
  for (const std::string& text : texts) {
    std::string_view key = text;
    while (!key.empty() && is_space_char(key.front())) key.remove_prefix(1);
    while (!key.empty() && is_space_char(key.back())) key.remove_suffix(1);
    OrderTerm term;
    const bool has_sign = key.starts_with('-');
    if (has_sign) key.remove_prefix(1);
    // The direction is the last word outside quotes.
    const std::size_t space = key.find_last_of(" \t");
    if (space != std::string_view::npos && key.back() != '`' && key.back() != '"') {
      const std::string direction = upper_of(key.substr(space + 1));
      if (direction != "ASC" && direction != "DESC")
        return fail(Code::kInvalid, "Invalid ordering key in order_by clause '" + text + "'.", {},
                    "order");
      term.is_descending = direction == "DESC";
      key = key.substr(0, space);
      while (!key.empty() && is_space_char(key.back())) key.remove_suffix(1);
      if (key.find_first_of("`\"") == std::string_view::npos &&
          key.find(' ') != std::string_view::npos)
        return fail(Code::kInvalid, "Invalid order_by clause '" + text + "'. Could not be parsed.",
                    {}, "order");
    }
    if (has_sign) term.is_descending = !term.is_descending;
    auto subject = parse_subject(key, rules);
    if (!subject) return fail(std::move(subject).error().with_field("order"));
    if (subject->entity == Entity::kDataset)
      return fail(Code::kInvalid, "Invalid order_by entity type 'dataset'", {}, "order");
    term.entity = subject->entity;
    term.key = subject->key;
    if (!seen.insert({term.entity, term.key}).second)
      return fail(Code::kInvalid, "`order_by` contains duplicate fields: " + text, {}, "order");
    terms.push_back(std::move(term));
  }
  return terms;
}

}  // namespace takt::track
