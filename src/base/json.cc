// SPDX-License-Identifier: Apache-2.0
// parse_json and dump_json of value.h, and json_writer.h: RFC 8259, nothing more.
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "takt/base/json_writer.h"
#include "takt/base/utf8.h"
#include "takt/base/value.h"

namespace takt {
namespace {

// Recursive descent; the depth limit bounds the stack. The first error wins and stops everything.
class JsonParser {
 public:
  JsonParser(std::string_view text, int depth_max) : text_(text), depth_max_(depth_max) {}

  Result<Value> parse() {
    Value value;
    skip_space();
    if (read_value(value, 0)) {
      skip_space();
      if (at_ == text_.size()) return value;
      stop("text after the end of the value");
    }
    return fail(Code::kInvalid, place() + ": " + error_);
  }

 private:
  bool stop(std::string message) {
    if (error_.empty()) error_ = std::move(message);
    return false;
  }

  std::string place() const {
    std::size_t line = 1;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
      if (text_[i] == '\n') {
        ++line;
        line_start = i + 1;
      }
    }
    return "line " + std::to_string(line) + ", column " + std::to_string(at_ - line_start + 1);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
      ++at_;
    }
  }

  bool unexpected(std::string_view wanted) {
    if (at_ >= text_.size()) return stop("the text ends early, expected " + std::string(wanted));
    return stop("expected " + std::string(wanted));
  }

  bool read_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return unexpected("a value");
    at_ += word.size();
    return true;
  }

  bool read_value(Value& value, int depth) {
    switch (peek()) {
      case '{':
        return read_object(value, depth + 1);
      case '[':
        return read_array(value, depth + 1);
      case '"': {
        std::string text;
        if (!read_string(text)) return false;
        value = Value(std::move(text));
        return true;
      }
      case 't':
        value = Value(true);
        return read_word("true");
      case 'f':
        value = Value(false);
        return read_word("false");
      case 'n':
        return read_word("null");
      default:
        return read_number(value);
    }
  }

  bool read_object(Value& value, int depth) {
    if (depth > depth_max_) return too_deep();
    Object members;
    ++at_;
    skip_space();
    if (peek() == '}') {
      ++at_;
      value = Value(std::move(members));
      return true;
    }
    for (;;) {
      if (peek() != '"') return unexpected("a key in double quotes");
      const std::size_t key_start = at_;
      std::string key;
      if (!read_string(key)) return false;
      skip_space();
      if (peek() != ':') return unexpected("':'");
      ++at_;
      skip_space();
      const auto [place, is_new] = members.try_emplace(std::move(key));
      if (!is_new) {
        at_ = key_start;
        return stop("duplicate key \"" + shorten(place->first, 80) + "\"");
      }
      if (!read_value(place->second, depth)) return false;
      skip_space();
      const char c = peek();
      if (c != ',' && c != '}') return unexpected("',' or '}'");
      ++at_;
      if (c == '}') break;
      skip_space();
    }
    value = Value(std::move(members));
    return true;
  }

  bool read_array(Value& value, int depth) {
    if (depth > depth_max_) return too_deep();
    Array items;
    ++at_;
    skip_space();
    if (peek() == ']') {
      ++at_;
      value = Value(std::move(items));
      return true;
    }
    for (;;) {
      if (!read_value(items.emplace_back(), depth)) return false;
      skip_space();
      const char c = peek();
      if (c != ',' && c != ']') return unexpected("',' or ']'");
      ++at_;
      if (c == ']') break;
      skip_space();
    }
    value = Value(std::move(items));
    return true;
  }

  bool too_deep() { return stop("nested deeper than " + std::to_string(depth_max_) + " levels"); }

  bool read_string(std::string& out) {
    ++at_;
    for (;;) {
      const std::size_t run = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20 &&
             static_cast<unsigned char>(text_[at_]) < 0x80) {
        ++at_;
      }
      out.append(text_.substr(run, at_ - run));
      if (at_ >= text_.size()) return stop("the text ends inside a string");
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!read_escape(out)) return false;
        continue;
      }
      if (c < 0x20) return stop("control character in a string");
      const std::size_t size = utf8_char_size(text_.substr(at_));
      if (size == 0) return stop("not UTF-8");
      out.append(text_.substr(at_, size));
      at_ += size;
    }
  }

  bool read_escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
    ++at_;
    const char letter = peek();
    if (const std::size_t index = kLetters.find(letter);
        index != std::string_view::npos && letter) {
      out += kMeaning[index];
      ++at_;
      return true;
    }
    if (letter != 'u') return stop("unknown escape in a string");
    ++at_;
    std::uint32_t unit = 0;
    if (!read_hex4(unit)) return false;
    if (unit >= 0xdc00 && unit <= 0xdfff) return stop("half of a surrogate pair");
    if (unit >= 0xd800 && unit <= 0xdbff) {
      std::uint32_t low = 0;
      if (!text_.substr(at_).starts_with("\\u")) return stop("half of a surrogate pair");
      at_ += 2;
      if (!read_hex4(low)) return false;
      if (low < 0xdc00 || low > 0xdfff) return stop("half of a surrogate pair");
      unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(out, unit);
    return true;
  }

  bool read_hex4(std::uint32_t& unit) {
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
    if (digits.size() != 4 || error != std::errc{} || end != digits.data() + 4) {
      return stop("expected four hex digits");
    }
    at_ += 4;
    return true;
  }

  std::size_t skip_digits() {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - start;
  }

  bool read_number(Value& value) {
    const std::size_t start = at_;
    if (peek() == '-') ++at_;
    const char first = peek();
    const std::size_t digits = skip_digits();
    if (digits == 0) {
      at_ = start;
      return unexpected("a value");
    }
    if (first == '0' && digits > 1) {
      at_ = start;
      return stop("a number may not begin with 0");
    }
    bool is_integer = true;
    if (peek() == '.') {
      is_integer = false;
      ++at_;
      if (skip_digits() == 0) return unexpected("a digit");
    }
    if (peek() == 'e' || peek() == 'E') {
      is_integer = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (skip_digits() == 0) return unexpected("a digit");
    }
    return convert_number(text_.substr(start, at_ - start), is_integer, value);
  }

  bool convert_number(std::string_view text, bool is_integer, Value& value) {
    const char* const last = text.data() + text.size();
    std::int64_t integer = 0;
    if (is_integer && std::from_chars(text.data(), last, integer).ec == std::errc{}) {
      value = Value(static_cast<long>(integer));
      return true;
    }
    // Integers beyond 64 bits are numbers too: JavaScript writes 1e20 as 100000000000000000000.
    double number = 0;
    if (std::from_chars(text.data(), last, number).ec != std::errc{}) {
      // Out of range also means too small to tell from zero, which is no mistake.
      number = std::strtod(std::string(text).c_str(), nullptr);
      if (std::isinf(number)) return stop("number out of range");
    }
    value = Value(number);
    return true;
  }

  std::string_view text_;
  int depth_max_;
  std::size_t at_ = 0;
  std::string error_;
};

void dump_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    std::size_t run = 0;
    while (run < text.size() && text[run] != '"' && text[run] != '\\' &&
           static_cast<unsigned char>(text[run]) >= 0x20 &&
           static_cast<unsigned char>(text[run]) < 0x7f) {
      ++run;
    }
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text.front());
    std::size_t size = 1;
    if (c >= 0x80) {
      // What is no UTF-8 (a file name, a program's output) becomes U+FFFD, so that the dump is
      // JSON.
      size = utf8_char_size(text);
      out.append(size == 0 ? "\xef\xbf\xbd" : text.substr(0, size));
      if (size == 0) size = 1;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    }
    text.remove_prefix(size);
  }
  out += '"';
}

void dump_double(std::string& out, double number) {
  if (std::isnan(number)) {
    out += "\"NaN\"";
  } else if (std::isinf(number)) {
    out += number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    const std::string_view text(digits, static_cast<std::size_t>(end - digits));
    out += text;
    // 1.0 stays a number with a fraction when it is read again.
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
  }
}

// Writes a value; indented when it is for people.
class JsonDumper {
 public:
  JsonDumper(std::string& out, bool is_pretty) : out_(out), is_pretty_(is_pretty) {}

  void dump(const Value& value, int depth) {
    if (value.is_null()) {
      out_ += "null";
    } else if (value.is_bool()) {
      out_ += value.as_bool() ? "true" : "false";
    } else if (value.is_int()) {
      char digits[24];
      out_.append(digits, std::to_chars(digits, digits + sizeof digits, value.as_int()).ptr);
    } else if (value.is_double()) {
      dump_double(out_, value.as_number());
    } else if (value.is_string()) {
      dump_string(out_, value.as_string());
    } else if (value.is_array()) {
      dump_array(value.as_array(), depth);
    } else {
      dump_object(value.as_object(), depth);
    }
  }

 private:
  void new_line(int depth) {
    if (!is_pretty_) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth) * 2, ' ');
  }

  void dump_array(const Array& items, int depth) {
    if (items.empty()) {
      out_ += "[]";
      return;
    }
    char before = '[';
    for (const Value& item : items) {
      out_ += before;
      before = ',';
      new_line(depth + 1);
      dump(item, depth + 1);
    }
    new_line(depth);
    out_ += ']';
  }

  void dump_object(const Object& members, int depth) {
    if (members.empty()) {
      out_ += "{}";
      return;
    }
    char before = '{';
    for (const auto& [key, member] : members) {
      out_ += before;
      before = ',';
      new_line(depth + 1);
      dump_string(out_, key);
      out_ += is_pretty_ ? ": " : ":";
      dump(member, depth + 1);
    }
    new_line(depth);
    out_ += '}';
  }

  std::string& out_;
  bool is_pretty_;
};

}  // namespace

Result<Value> parse_json(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return fail(Code::kTooLarge, "JSON of " + std::to_string(text.size()) +
                                     " bytes is over the limit of " +
                                     std::to_string(limits.bytes_max));
  }
  return JsonParser(text, limits.depth_max).parse();
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  dump_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  separate();
  dump_double(out_, number);
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  char digits[24];
  return raw({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
}

std::string dump_json(const Value& value) {
  std::string out;
  JsonDumper(out, false).dump(value, 0);
  return out;
}

std::string dump_json_pretty(const Value& value) {
  std::string out;
  JsonDumper(out, true).dump(value, 0);
  return out;
}

}  // namespace takt
