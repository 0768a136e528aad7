// SPDX-License-Identifier: Apache-2.0
// parse_yaml and parse_yaml_documents of value.h: yaml-cpp's scanner, our own tree. Nothing is
// expanded (no anchors), so the result is never larger than the text.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>

#include "takt/base/utf8.h"
#include "takt/base/value.h"

namespace takt {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool all_digits_of_base(std::string_view text, int base) {
  return !text.empty() && std::ranges::all_of(text, [base](char c) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
    return digit < base;
  });
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool is_float_text(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - start;
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  const std::size_t whole = digits();
  std::size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  if (whole + fraction == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<Value> read_integer(std::string_view text) {
  std::string_view digits = text;
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (text.starts_with("0o")) {
    base = 8;
    digits.remove_prefix(2);
  } else if (text.starts_with("+")) {
    digits.remove_prefix(1);
  }
  const std::string_view unsigned_digits =
      base == 10 && text.starts_with("-") ? text.substr(1) : digits;
  if (!all_digits_of_base(unsigned_digits, base)) return std::nullopt;
  std::int64_t integer = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), integer, base).ec ==
      std::errc{}) {
    return Value(static_cast<long>(integer));
  }
  return Value(std::strtod(std::string(digits).c_str(), nullptr));
}

// A plain scalar by the core schema of YAML 1.2: `yes` and `on` are text, `010` is ten.
Value read_plain_scalar(const std::string& text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return {};
  if (is_one_of(text, {"true", "True", "TRUE"})) return Value(true);
  if (is_one_of(text, {"false", "False", "FALSE"})) return Value(false);
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) {
    return Value(std::numeric_limits<double>::quiet_NaN());
  }
  const std::string_view unsigned_text =
      std::string_view(text).substr(text[0] == '-' || text[0] == '+' ? 1 : 0);
  if (is_one_of(unsigned_text, {".inf", ".Inf", ".INF"})) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Value(text[0] == '-' ? -infinity : infinity);
  }
  if (std::optional<Value> integer = read_integer(text)) return *std::move(integer);
  if (is_float_text(text)) return Value(std::strtod(text.c_str(), nullptr));
  return Value(text);
}

std::string place_of(int line, int column) {
  if (line < 0) return "";
  return "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) + ": ";
}

constexpr std::string_view kCoreTagPrefix = "tag:yaml.org,2002:";

// Builds one document. After the first error it only listens on.
class DocumentBuilder final : public YAML::EventHandler {
 public:
  explicit DocumentBuilder(int depth_max) : depth_max_(depth_max) {}

  Value take_document() { return std::move(document_); }
  const std::string& error() const { return error_; }
  const YAML::Mark& start() const { return mark_; }

  void OnDocumentStart(const YAML::Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    stop(mark, "anchors (&" + shorten(name, 40) + ") are not supported");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    stop(mark, "aliases (*name) are not supported");
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!may_go_on(mark, anchor)) return;
    if (wants_key()) return stop(mark, "a key may not be empty or null");
    add(Value());
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (!may_go_on(mark, anchor)) return;
    if (wants_key()) {
      if (stack_.back().value.as_object().contains(text)) {
        return stop(mark, "duplicate key \"" + shorten(text, 80) + "\"");
      }
      stack_.back().key = text;
      return;
    }
    std::optional<Value> value = scalar_of_tag(tag, text);
    if (!value) return stop(mark, "not a value of its tag, or a tag beyond the core schema");
    add(*std::move(value));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, "seq", anchor, Value(Array{}));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, "map", anchor, Value(Object{}));
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Value value;
    std::optional<std::string> key;  // of the member that comes next
  };

  void stop(const YAML::Mark& mark, const std::string& message) {
    if (error_.empty()) error_ = place_of(mark.line, mark.column) + message;
  }

  bool may_go_on(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) stop(mark, "anchors (&name) are not supported");
    return error_.empty();
  }

  bool wants_key() const {
    return !stack_.empty() && stack_.back().value.is_object() && !stack_.back().key;
  }

  void open(const YAML::Mark& mark, std::string_view tag, std::string_view kind,
            YAML::anchor_t anchor, Value empty) {
    if (!may_go_on(mark, anchor)) return;
    if (wants_key()) return stop(mark, "a key must be text");
    const bool is_core_tag =
        tag.starts_with(kCoreTagPrefix) && tag.substr(kCoreTagPrefix.size()) == kind;
    if (!tag.empty() && tag != "?" && tag != "!" && !is_core_tag) {
      return stop(mark, "tag " + shorten(tag, 80) + " is not supported");
    }
    if (stack_.size() >= static_cast<std::size_t>(depth_max_)) {
      return stop(mark, "nested deeper than " + std::to_string(depth_max_) + " levels");
    }
    stack_.push_back(Frame{std::move(empty), std::nullopt});
  }

  void close() {
    if (!error_.empty() || stack_.empty()) return;
    Value value = std::move(stack_.back().value);
    stack_.pop_back();
    add(std::move(value));
  }

  void add(Value value) {
    if (stack_.empty()) {
      document_ = std::move(value);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.key) {
      frame.value.as_object().emplace(*std::move(frame.key), std::move(value));
      frame.key.reset();
    } else {
      frame.value.as_array().push_back(std::move(value));
    }
  }

  static std::optional<Value> scalar_of_tag(std::string_view tag, const std::string& text) {
    if (tag == "?" || tag.empty()) return read_plain_scalar(text);
    if (tag == "!") return Value(text);
    if (!tag.starts_with(kCoreTagPrefix)) return std::nullopt;
    const std::string_view kind = tag.substr(kCoreTagPrefix.size());
    if (kind == "str") return Value(text);
    Value value = read_plain_scalar(text);
    if (kind == "float" && value.is_int()) return Value(value.as_number());
    const bool fits = (kind == "int" && value.is_int()) || (kind == "float" && value.is_double()) ||
                      (kind == "bool" && value.is_bool()) || (kind == "null" && value.is_null());
    return fits ? std::optional<Value>(std::move(value)) : std::nullopt;
  }

  int depth_max_;
  YAML::Mark mark_ = YAML::Mark::null_mark();
  std::vector<Frame> stack_;
  Value document_;
  std::string error_;
};

// What yaml-cpp would pass through or misread: bytes that are no UTF-8, control characters.
Status check_yaml_text(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return fail(Code::kTooLarge, "YAML of " + std::to_string(text.size()) +
                                     " bytes is over the limit of " +
                                     std::to_string(limits.bytes_max));
  }
  std::optional<std::size_t> wrong = find_invalid_utf8(text);
  std::string_view what = "not UTF-8";
  for (std::size_t i = 0; i < wrong.value_or(text.size()); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c >= 0x20 && c != 0x7f) || c == '\n' || c == '\r' || c == '\t') continue;
    wrong = i;
    what = "control character";
    break;
  }
  if (!wrong) return {};
  const auto line = std::ranges::count(text.substr(0, *wrong), '\n');
  return fail(Code::kInvalid, "line " + std::to_string(line + 1) + ": " + std::string(what));
}

Result<std::vector<Value>> read_documents(std::string_view text, const ParseLimits& limits) {
  std::vector<Value> documents;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    YAML::Mark start = YAML::Mark::null_mark();
    for (;;) {
      DocumentBuilder builder(limits.depth_max);
      if (!parser.HandleNextDocument(builder)) return documents;
      if (!builder.error().empty()) return fail(Code::kInvalid, builder.error());
      // At a stray `}` or `]` yaml-cpp gives empty documents for ever, without moving on.
      if (builder.start().pos == start.pos && !start.is_null()) {
        return fail(Code::kInvalid, place_of(start.line, start.column) + "nothing may stand here");
      }
      start = builder.start();
      documents.push_back(builder.take_document());
    }
  } catch (const YAML::Exception& error) {
    const std::string place =
        error.mark.is_null() ? "" : place_of(error.mark.line, error.mark.column);
    return fail(Code::kInvalid, place + error.msg);
  } catch (const std::exception& error) {
    return fail(Code::kInvalid, std::string("not YAML: ") + error.what());
  }
}

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

Result<std::vector<Value>> parse_yaml_documents(std::string_view text, const ParseLimits& limits) {
  TAKT_RETURN_IF_ERROR(check_yaml_text(text, limits));
  if (looks_like_json(text)) {
    if (Result<Value> json = parse_json(text, limits)) return std::vector<Value>{*std::move(json)};
  }
  Result<std::vector<Value>> documents = read_documents(text, limits);
  if (documents) std::erase_if(*documents, [](const Value& value) { return value.is_null(); });
  return documents;
}

Result<Value> parse_yaml(std::string_view text, const ParseLimits& limits) {
  TAKT_ASSIGN(std::vector<Value> documents, parse_yaml_documents(text, limits));
  if (documents.size() > 1) {
    return fail(Code::kInvalid, std::to_string(documents.size()) + " documents where one is taken",
                "remove the --- lines or send one document at a time");
  }
  return documents.empty() ? Value() : std::move(documents.front());
}

}  // namespace takt
