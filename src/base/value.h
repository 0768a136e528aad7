// SPDX-License-Identifier: Apache-2.0
// A JSON-like value. The JSON and YAML libraries stay behind it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "takt/base/error.h"

namespace takt {

class Value;
using Array = std::vector<Value>;
/// Keys are kept sorted, so that dump() of equal values is equal text: digests rest on it.
using Object = std::map<std::string, Value, std::less<>>;

/// null, bool, int64, double, string, array or object. Plain value semantics.
class Value {
 public:
  Value() = default;
  Value(std::nullptr_t) {}
  Value(bool b) : data_(b) {}
  Value(int i) : data_(static_cast<std::int64_t>(i)) {}
  Value(unsigned i) : data_(static_cast<std::int64_t>(i)) {}
  Value(long i) : data_(static_cast<std::int64_t>(i)) {}
  Value(long long i) : data_(static_cast<std::int64_t>(i)) {}
  Value(unsigned long i) : data_(static_cast<std::int64_t>(i)) {}
  Value(double d) : data_(d) {}
  Value(const char* s) : data_(std::string(s)) {}
  Value(std::string_view s) : data_(std::string(s)) {}
  Value(std::string s) : data_(std::move(s)) {}
  Value(Array a) : data_(std::move(a)) {}
  Value(Object o) : data_(std::move(o)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_double() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_int() || is_double(); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }
  bool is_object() const { return std::holds_alternative<Object>(data_); }
  /// "null", "boolean", "integer", "number", "string", "array", "object"
  std::string_view type_name() const;

  // The as_ functions need the type to be right (checked, aborts): test with is_ first, or use
  // Fields.
  bool as_bool() const { return get<bool>(); }
  std::int64_t as_int() const { return get<std::int64_t>(); }
  double as_number() const { return is_int() ? static_cast<double>(as_int()) : get<double>(); }
  const std::string& as_string() const { return get<std::string>(); }
  const Array& as_array() const { return get<Array>(); }
  Array& as_array() { return const_cast<Array&>(std::as_const(*this).as_array()); }
  const Object& as_object() const { return get<Object>(); }
  Object& as_object() { return const_cast<Object&>(std::as_const(*this).as_object()); }

  /// Member of an object; null value when absent or when this is no object.
  const Value& operator[](std::string_view key) const;
  /// Creates the member. A value that is no object becomes one first, so that indexing what came
  /// from outside through a non-const value cannot abort.
  Value& operator[](std::string_view key);
  bool has(std::string_view key) const { return !(*this)[key].is_null(); }
  /// Text of the member when it is a string, else `fallback`.
  std::string text_or(std::string_view key, std::string_view fallback) const;
  std::int64_t int_or(std::string_view key, std::int64_t fallback) const;
  double number_or(std::string_view key, double fallback) const;
  bool bool_or(std::string_view key, bool fallback) const;
  void push_back(Value value);

  bool operator==(const Value&) const = default;

 private:
  template <class T>
  const T& get() const {
    const T* held = std::get_if<T>(&data_);
    TAKT_CHECK(held != nullptr, "Value holds another type");
    return *held;
  }
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> data_;
};

/// How much text and depth a parser takes.
struct ParseLimits {
  std::size_t bytes_max = 16 << 20;
  int depth_max = 100;
};

/// Strict JSON; kInvalid names line and column. NaN and infinities are refused.
Result<Value> parse_json(std::string_view text, const ParseLimits& limits = {});
/// Compact canonical JSON: sorted keys, shortest exact numbers, NaN as the text "NaN".
std::string dump_json(const Value& value);
/// Indented, for people.
std::string dump_json_pretty(const Value& value);
/// One YAML (or JSON) document; no anchors or tags beyond the core schema; kInvalid names the line.
Result<Value> parse_yaml(std::string_view text, const ParseLimits& limits = {});
/// Several documents separated by `---`.
Result<std::vector<Value>> parse_yaml_documents(std::string_view text,
                                                const ParseLimits& limits = {});

/// Reads the fields of one object with exact errors, and refuses those that nobody asked for.
///   Fields f(value, "spec.resources");
///   cpu = f.text("cpu", "100m"); gpus = f.integer("gpus", 0, 0, 64);
///   TAKT_RETURN_IF_ERROR(f.done());
/// The first error is kept and given by done(); later getters return their fallback.
class Fields {
 public:
  Fields(const Value& object, std::string path);
  bool has(std::string_view key) const { return object_->has(key); }
  /// Required when `fallback` is not given.
  std::string text(std::string_view key);
  std::string text(std::string_view key, std::string_view fallback);
  /// A text or a number as text: for amounts that people write either way (`cpu: 500m`, `cpu: 1`).
  std::string amount(std::string_view key, std::string_view fallback);
  std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t min,
                       std::int64_t max);
  double number(std::string_view key, double fallback);
  bool boolean(std::string_view key, bool fallback);
  const Array& array(std::string_view key);    // empty when absent
  const Object& object(std::string_view key);  // empty when absent
  /// Any type; null when absent.
  const Value& any(std::string_view key);
  /// Array of texts; a single text counts as one.
  std::vector<std::string> texts(std::string_view key);
  /// Records an error at `key`, if none came before.
  void reject(std::string_view key, std::string message, std::string hint = {});
  std::string path_of(std::string_view key) const;
  /// The first error, or one for a field that no getter asked for (naming the nearest known one).
  Status done();

 private:
  // The member when it is there and of that type; records an error when it is of another.
  const Value* want(std::string_view key, std::string_view type, bool (Value::*is)() const);
  const Value* find(std::string_view key);
  const Value* object_;
  std::string path_;
  std::vector<std::string> known_;
  Status status_;
};

/// The candidate closest to `word` by edit distance, or "" when none is near (distance > 1/2
/// length).
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace takt
