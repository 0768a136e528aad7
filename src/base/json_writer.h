// SPDX-License-Identifier: Apache-2.0
// JSON text written straight away, for long answers: the same text as dump_json of the same value,
// when the keys of objects come sorted.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace takt {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  /// Of a member; a word of the program's own, which needs no escapes.
  JsonWriter& key(std::string_view name) {
    separate();
    out_ += '"';
    out_ += name;
    out_ += "\":";
    needs_comma_ = false;
    return *this;
  }
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  /// Not-a-number and infinities are texts: "NaN", "Infinity", "-Infinity".
  JsonWriter& value(double number);
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::same_as<bool> auto is_true) { return raw(is_true ? "true" : "false"); }
  template <class T>
  JsonWriter& member(std::string_view name, const T& member_value) {
    return key(name).value(member_value);
  }

  /// Room for about so much more, so that a long text is not moved while it grows.
  void reserve(std::size_t bytes) { out_.reserve(out_.size() + bytes); }
  std::string take() { return std::move(out_); }

 private:
  void separate() {
    if (needs_comma_) out_ += ',';
    needs_comma_ = true;
  }
  JsonWriter& open(char bracket) {
    separate();
    out_ += bracket;
    needs_comma_ = false;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    needs_comma_ = true;
    return *this;
  }
  JsonWriter& raw(std::string_view text) {
    separate();
    out_ += text;
    return *this;
  }

  std::string out_;
  bool needs_comma_ = false;
};

}  // namespace takt
