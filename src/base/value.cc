// SPDX-License-Identifier: Apache-2.0
#include "takt/base/value.h"

namespace takt {
namespace {

const Value kNullValue;

}  // namespace

std::string_view Value::type_name() const {
  switch (data_.index()) {
    case 0:
      return "null";
    case 1:
      return "boolean";
    case 2:
      return "integer";
    case 3:
      return "number";
    case 4:
      return "string";
    case 5:
      return "array";
    default:
      return "object";
  }
}

const Value& Value::operator[](std::string_view key) const {
  const Object* members = std::get_if<Object>(&data_);
  if (members == nullptr) return kNullValue;
  const auto found = members->find(key);
  return found == members->end() ? kNullValue : found->second;
}

Value& Value::operator[](std::string_view key) {
  if (!is_object()) data_ = Object{};
  Object& members = as_object();
  const auto found = members.find(key);
  if (found != members.end()) return found->second;
  return members.emplace(std::string(key), Value()).first->second;
}

std::string Value::text_or(std::string_view key, std::string_view fallback) const {
  const Value& member = (*this)[key];
  return member.is_string() ? member.as_string() : std::string(fallback);
}

std::int64_t Value::int_or(std::string_view key, std::int64_t fallback) const {
  const Value& member = (*this)[key];
  return member.is_int() ? member.as_int() : fallback;
}

double Value::number_or(std::string_view key, double fallback) const {
  const Value& member = (*this)[key];
  return member.is_number() ? member.as_number() : fallback;
}

bool Value::bool_or(std::string_view key, bool fallback) const {
  const Value& member = (*this)[key];
  return member.is_bool() ? member.as_bool() : fallback;
}

void Value::push_back(Value value) {
  if (is_null()) data_ = Array{};
  as_array().push_back(std::move(value));
}

}  // namespace takt
