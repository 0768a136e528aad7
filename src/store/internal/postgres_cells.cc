// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/postgres_cells.h"

#include <array>
#include <charconv>
#include <cmath>

#include "takt/base/digest.h"

namespace takt::store::internal {
namespace {

std::string number_text(double number) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return {buffer.data(), end};
}

std::int64_t parse_whole(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double parse_real(std::string_view text) {
  if (text == "Infinity") return INFINITY;
  if (text == "-Infinity") return -INFINITY;
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() ? value : NAN;
}

int hex_digit(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

/// bytea_output is hex: \x0aff
std::string parse_bytea(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 2; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(hex_digit(text[i]) << 4 | hex_digit(text[i + 1]));
  }
  return bytes;
}

void append_copy_text(std::string& to, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        to += "\\\\";
        break;
      case '\n':
        to += "\\n";
        break;
      case '\r':
        to += "\\r";
        break;
      case '\t':
        to += "\\t";
        break;
      default:
        to += c;
    }
  }
}

Code postgres_code(std::string_view state) {
  if (state.starts_with("23")) return Code::kConflict;
  if (state == "53100" || state == "53200") return Code::kExhausted;
  if (state == "57014") return Code::kTimeout;
  if (state == "22021") return Code::kInvalid;  // text that is no UTF-8
  if (state.starts_with("54")) return Code::kTooLarge;
  const bool is_passing = state.empty() || state.starts_with("08") || state.starts_with("57P") ||
                          state.starts_with("40") || state.starts_with("53") || state == "55P03" ||
                          state == "25P03";
  return is_passing ? Code::kUnavailable : Code::kInternal;
}

}  // namespace

void append_copy_line(std::string& to, const Row& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) to += '\t';
    const Cell& cell = row.cell(i);
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      to += std::to_string(*whole);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      to += number_text(*real);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      append_copy_text(to, *text);
    } else if (const auto* bytes = std::get_if<Bytes>(&cell)) {
      to += "\\\\x" + to_hex(bytes->value);
    } else {
      to += "\\N";
    }
  }
  to += '\n';
}

unsigned postgres_type_of(const Cell& cell) {
  if (std::holds_alternative<std::int64_t>(cell)) return kPgInt8;
  if (std::holds_alternative<double>(cell)) return kPgFloat8;
  if (std::holds_alternative<std::string>(cell)) return kPgText;
  if (std::holds_alternative<Bytes>(cell)) return kPgBytea;
  return 0;
}

PostgresParams::PostgresParams(const Params& params) {
  numbers.reserve(params.size());  // c_str() pointers must stay
  for (const Cell& cell : params) {
    const char* value = nullptr;
    int length = 0;
    int format = 0;
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      value = numbers.emplace_back(std::to_string(*whole)).c_str();
    } else if (const auto* real = std::get_if<double>(&cell)) {
      value = numbers.emplace_back(number_text(*real)).c_str();
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      value = text->c_str();
    } else if (const auto* bytes = std::get_if<Bytes>(&cell)) {
      value = bytes->value.c_str();
      length = static_cast<int>(bytes->value.size());
      format = 1;
    }
    values.push_back(value);
    lengths.push_back(length);
    formats.push_back(format);
  }
}

Cell cell_from_postgres(unsigned type, std::string_view text) {
  switch (type) {
    case kPgBool:
      return std::int64_t{text == "t" ? 1 : 0};
    case kPgInt2:
    case kPgInt4:
    case kPgInt8:
      return parse_whole(text);
    case kPgFloat4:
    case kPgFloat8:
      return parse_real(text);
    case kPgNumeric:  // sums of integers are whole, averages are not
      if (text.find_first_of(".NnIi") == std::string_view::npos) return parse_whole(text);
      return parse_real(text);
    case kPgBytea:
      return Bytes{parse_bytea(text)};
    default:
      return std::string(text);
  }
}

Error postgres_error(std::string_view state, std::string message, std::string_view constraint,
                     std::string_view sql) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  Error error{.code = postgres_code(state)};
  switch (error.code) {
    case Code::kConflict:
      error.message = "the database refused a row: " + message;
      if (!constraint.empty()) error.message += " (constraint " + std::string(constraint) + ")";
      break;
    case Code::kExhausted:
      error.message = "the database cannot write: " + message;
      error.hint = "free disk space on the database server";
      break;
    case Code::kUnavailable:
      error.message = "the database is not available: " + message;
      error.hint = "try again; if it lasts, look at the database server";
      break;
    case Code::kTimeout:
      error.message = "the query took longer than its deadline";
      break;
    default:
      error.message = "database error: " + message;
      if (!sql.empty()) error.message += " in \"" + std::string(sql.substr(0, 120)) + "\"";
  }
  return error;
}

}  // namespace takt::store::internal
