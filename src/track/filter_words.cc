// SPDX-License-Identifier: Apache-2.0
#include "takt/track/filter_words.h"

#include <algorithm>
#include <charconv>

#include "takt/base/value.h"

namespace takt::track::internal {
namespace {

bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '/' || c == ':' || c == '@' || c == '$' || (c & 0x80) != 0;
}
bool is_operator_char(char c) {
  return c == '=' || c == '!' || c == '<' || c == '>' || c == '~' || c == '*';
}

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

std::string attribute_names(const FilterRules& rules) {
  std::string names;
  for (const auto& attribute : rules.attributes)
    names += (names.empty() ? "'" : ", '") + std::string(attribute.name) + "'";
  return "{" + names + "}";
}

/// What was probably meant: a near attribute, or the metric or param of that name.
std::string remedy_for_attribute(const std::string& key, const FilterRules& rules) {
  std::vector<std::string> names;
  for (const auto& attribute : rules.attributes) names.emplace_back(attribute.name);
  if (const std::string near = nearest_name(key, names); !near.empty())
    return "did you mean '" + near + "'?";
  if (rules.has_metrics) return "write metrics." + key + ", params." + key + " or tags." + key;
  return "a tag is written tags." + key;
}

std::string remedy_for_entity(const std::string& entity, const FilterRules& rules) {
  std::vector<std::string> names{"attributes"};
  if (rules.has_metrics) names.emplace_back("metrics");
  if (rules.has_params) names.emplace_back("params");
  if (rules.has_tags) names.emplace_back("tags");
  if (rules.has_datasets) names.emplace_back("datasets");
  if (const std::string near = nearest_name(entity, names); !near.empty())
    return "did you mean '" + near + "'?";
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  return "a name begins with one of " + all;
}

std::string without_quotes(std::string_view text) {
  if (text.size() >= 2 && text.front() == text.back() &&
      (text.front() == '`' || text.front() == '"' || text.front() == '\''))
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

}  // namespace

bool is_space_char(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string upper_of(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return upper;
}

std::string shown_word(const Word& word) {
  return word.kind == WordKind::kEnd ? std::string("the end") : word.text.substr(0, 120);
}

std::unexpected<Error> refuse_filter(std::string message, std::size_t at, std::string remedy) {
  return fail(Code::kInvalid, std::move(message),
              "at character " + std::to_string(at + 1) + ": " + std::move(remedy), "filter");
}

Result<Word> WordScan::next() {
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

bool WordScan::is_number_start() const {
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

Word WordScan::number() {
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
Result<std::string> WordScan::quoted(char quote) {
  const std::size_t start = at_++;
  std::string value;
  while (at_ < text_.size()) {
    if (text_[at_] == quote) {
      ++at_;
      if (at_ >= text_.size() || text_[at_] != quote) return value;
    }
    value += text_[at_++];
  }
  return refuse_filter("Invalid clause(s) in filter string: '" +
                           std::string(text_.substr(start, 120)) + "', the quote is not closed",
                       start, std::string("close it with ") + quote);
}

Result<Word> WordScan::quoted_text() {
  Word word{WordKind::kText, {}, {}, at_};
  TAKT_ASSIGN(word.value, quoted('\''));
  word.text = text_.substr(word.at, at_ - word.at);
  return word;
}

// metrics.acc, metrics."val acc", `metrics`.acc, "alone": quotes are dropped, except that the
// whole word in double quotes may also be a text (`text` keeps them).
Result<Word> WordScan::identifier() {
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

Word WordScan::symbol() {
  Word word{WordKind::kOperator, {}, {}, at_};
  std::size_t length = 0;
  while (at_ + length < text_.size() && is_operator_char(text_[at_ + length])) ++length;
  word.text = text_.substr(at_, std::max<std::size_t>(length, 1));
  if (word.text == "(") word.kind = WordKind::kOpen;
  if (word.text == ")") word.kind = WordKind::kClose;
  if (word.text == ",") word.kind = WordKind::kComma;
  at_ += word.text.size();
  return word;
}

Result<Subject> parse_subject(std::string_view written, std::size_t at, const FilterRules& rules) {
  Subject subject;
  // A dot inside quotes belongs to the key.
  const std::size_t dot = written.starts_with('"') || written.starts_with('`')
                              ? written.find('.', written.find(written.front(), 1))
                              : written.find('.');
  std::string_view key = written;
  if (dot != std::string_view::npos) {
    const std::string entity = without_quotes(written.substr(0, dot));
    const auto known = entity_named(entity);
    if (!known || !is_allowed(*known, rules)) {
      std::string message(rules.unknown_entity);
      message.replace(message.find("{}"), 2, entity);
      return refuse_filter(std::move(message), at, remedy_for_entity(entity, rules));
    }
    subject.entity = *known;
    key = written.substr(dot + 1);
  }
  subject.key = without_quotes(key);
  if (subject.key.empty())
    return refuse_filter("Invalid identifier '" + std::string(written) + "'", at,
                         "a key is missing after the dot");
  if (subject.entity == Entity::kAttribute) {
    const auto found = std::ranges::find(rules.attributes, subject.key, &FilterAttribute::name);
    if (found == rules.attributes.end())
      return refuse_filter("Invalid attribute key '" + subject.key +
                               "' specified. Valid keys are '" + attribute_names(rules) + "'",
                           at, remedy_for_attribute(subject.key, rules));
    subject.attribute = &*found;
    subject.key = found->canonical;
  }
  if (subject.entity == Entity::kDataset && subject.key != "name" && subject.key != "digest" &&
      subject.key != "context")
    return refuse_filter("Invalid dataset key '" + subject.key +
                             "' specified. Valid keys are '{'context', 'digest', 'name'}'",
                         at, "write datasets.name, datasets.digest or datasets.context");
  return subject;
}

bool is_numeric(const Subject& subject) {
  return subject.entity == Entity::kMetric ||
         (subject.attribute != nullptr && subject.attribute->kind == AttributeKind::kNumber);
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

}  // namespace takt::track::internal
