// SPDX-License-Identifier: Apache-2.0
// JSON text written straight away, for long answers: the same text as dump_json of the same value,
// when the keys of objects come sorted.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace takt {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
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
