// SPDX-License-Identifier: Apache-2.0
// Fields and nearest_name of value.h.
#include <algorithm>

#include "takt/base/utf8.h"
#include "takt/base/value.h"

namespace takt {
namespace {

const Value kAbsent;
const Array kNoItems;
const Object kNoMembers;
constexpr std::size_t kComparedBytesMax = 128;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower;
}

// Optimal string alignment distance: insert, delete, replace, swap neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto end = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(end.in1 - a.begin());
}

// "got string" reads oddly for people: "text" and "number" are the words of the messages.
std::string_view word_for_type(const Value& value) {
  return value.is_string() ? "text" : value.type_name();
}

std::string with_article(std::string_view type) {
  if (type == "text") return "text";
  const bool vowel = type.front() == 'a' || type.front() == 'i' || type.front() == 'o';
  return (vowel ? "an " : "a ") + std::string(type);
}

}  // namespace

Fields::Fields(const Value& object, std::string path) : object_(&object), path_(std::move(path)) {
  if (object.is_object()) return;
  const std::string what = path_.empty() ? "the document" : path_;
  status_ =
      fail(Code::kInvalid, what + ": must be an object, got " + std::string(word_for_type(object)),
           {}, path_);
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void Fields::reject(std::string_view key, std::string message, std::string hint) {
  if (!status_) return;
  const std::string path = path_of(key);
  status_ = fail(Code::kInvalid, path + ": " + message, std::move(hint), path);
}

const Value* Fields::find(std::string_view key) {
  known_.emplace_back(key);
  const Value& member = (*object_)[key];
  return member.is_null() ? nullptr : &member;
}

const Value* Fields::want(std::string_view key, std::string_view type, bool (Value::*is)() const) {
  const Value* member = find(key);
  if (member == nullptr || (member->*is)()) return member;
  reject(key, "must be " + with_article(type) + ", got " + std::string(word_for_type(*member)));
  return nullptr;
}

std::string Fields::text(std::string_view key) {
  const Value* member = want(key, "text", &Value::is_string);
  if (member == nullptr) {
    reject(key, "required");
    return {};
  }
  return member->as_string();
}

std::string Fields::text(std::string_view key, std::string_view fallback) {
  const Value* member = want(key, "text", &Value::is_string);
  return member == nullptr ? std::string(fallback) : member->as_string();
}

std::string Fields::amount(std::string_view key, std::string_view fallback) {
  const Value* member = find(key);
  if (member == nullptr) return std::string(fallback);
  if (member->is_string()) return member->as_string();
  if (member->is_number()) return dump_json(*member);
  reject(key, "must be text or a number, got " + std::string(word_for_type(*member)));
  return std::string(fallback);
}

std::int64_t Fields::integer(std::string_view key, std::int64_t fallback, std::int64_t min,
                             std::int64_t max) {
  const Value* member = want(key, "integer", &Value::is_int);
  if (member == nullptr) return fallback;
  const std::int64_t value = member->as_int();
  if (value < min || value > max) {
    const std::string range = max == INT64_MAX ? "must be at least " + std::to_string(min)
                              : min == INT64_MIN
                                  ? "must be at most " + std::to_string(max)
                                  : "must be " + std::to_string(min) + ".." + std::to_string(max);
    reject(key, range + ", got " + std::to_string(value));
    return fallback;
  }
  return value;
}

double Fields::number(std::string_view key, double fallback) {
  const Value* member = want(key, "number", &Value::is_number);
  return member == nullptr ? fallback : member->as_number();
}

bool Fields::boolean(std::string_view key, bool fallback) {
  const Value* member = want(key, "boolean", &Value::is_bool);
  return member == nullptr ? fallback : member->as_bool();
}

const Array& Fields::array(std::string_view key) {
  const Value* member = want(key, "array", &Value::is_array);
  return member == nullptr ? kNoItems : member->as_array();
}

const Object& Fields::object(std::string_view key) {
  const Value* member = want(key, "object", &Value::is_object);
  return member == nullptr ? kNoMembers : member->as_object();
}

const Value& Fields::any(std::string_view key) {
  const Value* member = find(key);
  return member == nullptr ? kAbsent : *member;
}

std::vector<std::string> Fields::texts(std::string_view key) {
  const Value* member = find(key);
  if (member == nullptr) return {};
  if (member->is_string()) return {member->as_string()};
  if (!member->is_array()) {
    reject(key, "must be text or an array of texts, got " + std::string(word_for_type(*member)));
    return {};
  }
  std::vector<std::string> texts;
  for (const Value& item : member->as_array()) {
    if (!item.is_string()) {
      const std::string place = std::string(key) + "[" + std::to_string(texts.size()) + "]";
      reject(place, "must be text, got " + std::string(word_for_type(item)));
      return {};
    }
    texts.push_back(item.as_string());
  }
  return texts;
}

Status Fields::done() {
  if (!object_->is_object()) return status_;
  for (const auto& [key, member] : object_->as_object()) {
    if (std::ranges::find(known_, key) != known_.end()) continue;
    std::ranges::sort(known_);
    known_.erase(std::ranges::unique(known_).begin(), known_.end());
    const std::string near = nearest_name(key, known_);
    std::string hint = "did you mean \"" + near + "\"?";
    if (near.empty()) {
      hint = known_.empty() ? "no fields are known here" : "known fields:";
      for (const std::string& name : known_) hint += " " + name;
    }
    // It goes before what was found missing: a misspelled field is why something is missing.
    status_ = {};
    reject(shorten(key, 80), "unknown field", std::move(hint));
    break;
  }
  return status_;
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kComparedBytesMax) return {};
  const std::string lower_word = lower_case(word);
  std::size_t best_distance = word.size() / 2 + 1;
  std::size_t best_prefix = 0;
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kComparedBytesMax) continue;
    const std::string lower_candidate = lower_case(candidate);
    const std::size_t distance = edit_distance(lower_word, lower_candidate);
    // Of equally near names the one that begins alike: "gpu" means "gpus", not "cpu".
    const std::size_t prefix = common_prefix(lower_word, lower_candidate);
    if (distance < best_distance ||
        (best != nullptr && distance == best_distance && prefix > best_prefix)) {
      best_distance = distance;
      best_prefix = prefix;
      best = &candidate;
    }
  }
  return best == nullptr ? std::string() : *best;
}

}  // namespace takt
