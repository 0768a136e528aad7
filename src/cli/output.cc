// SPDX-License-Identifier: Apache-2.0
#include "takt/cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "takt/base/clock.h"
#include "takt/base/units.h"

namespace takt::cli {
namespace {

constexpr int kBarWidth = 30;

/// Columns that a UTF-8 text takes, near enough: its code points.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

bool is_number(std::string_view text) {
  return text.find_first_not_of("0123456789.,-%") == std::string_view::npos;
}

}  // namespace

void print_line(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

void print_json(const Value& value) { print_line(dump_json_pretty(value)); }

void Table::print() const {
  std::vector<std::size_t> widths(head_.size());
  std::vector<bool> is_numeric(head_.size(), !rows_.empty());
  for (std::size_t c = 0; c < head_.size(); ++c) {
    widths[c] = width_of(head_[c]);
    for (const auto& row : rows_) {
      widths[c] = std::max(widths[c], width_of(row[c]));
      if (!is_number(row[c])) is_numeric[c] = false;
    }
  }
  const auto print_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string gap(widths[c] - width_of(cells[c]), ' ');
      line += (c == 0 ? "" : "  ") + (is_numeric[c] ? gap + cells[c] : cells[c] + gap);
    }
    while (line.ends_with(' ')) line.pop_back();
    print_line(line);
  };
  print_row(head_);
  for (const auto& row : rows_) print_row(row);
}

Progress::Progress(std::string what, std::int64_t total_bytes)
    : what_(std::move(what)), total_(total_bytes), is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (is_terminal_ && shown_ >= 0) std::fputs("\r\033[K", stderr);
}

void Progress::add(std::int64_t bytes) {
  done_ += bytes;
  if (!is_terminal_ || total_ <= 0) return;
  const std::int64_t percent = std::min<std::int64_t>(100, done_ * 100 / total_);
  if (percent == shown_) return;
  shown_ = percent;
  const auto full = static_cast<std::size_t>(percent * kBarWidth / 100);
  std::fprintf(stderr, "\r%s [%s%s] %3d%% of %s\033[K", what_.c_str(),
               std::string(full, '#').c_str(), std::string(kBarWidth - full, '.').c_str(),
               static_cast<int>(percent), format_bytes(total_).c_str());
}

void print_error(const Error& error) {
  const std::string field = error.field.empty() ? "" : error.field + ": ";
  const std::string message =
      error.message.starts_with(error.field) ? error.message : field + error.message;
  std::fprintf(stderr, "error: %s\n", message.c_str());
  if (!error.hint.empty()) std::fprintf(stderr, "  hint: %s\n", error.hint.c_str());
}

std::string short_time(const std::string& rfc3339) {
  const auto time_ms = parse_time(rfc3339);
  if (!time_ms) return rfc3339;
  const auto local = [](UnixMs ms) {
    const std::time_t seconds = ms / 1000;
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
  };
  const std::tm then = local(*time_ms);
  const std::tm now = local(takt::system_clock().now_ms());
  const bool is_today = then.tm_year == now.tm_year && then.tm_yday == now.tm_yday;
  char text[32];
  std::strftime(text, sizeof text, is_today ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &then);
  return text;
}

std::string short_number(const Value& value) {
  if (!value.is_number())
    return value.is_null() ? "" : value.is_string() ? value.as_string() : dump_json(value);
  if (value.is_int()) return std::to_string(value.as_int());
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value.as_number());
  return text;
}

std::string cell(const Value& object, std::string_view key) {
  const Value& value = object[key];
  if (value.is_null()) return "";
  return value.is_string() ? value.as_string() : dump_json(value);
}

}  // namespace takt::cli
