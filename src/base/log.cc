// SPDX-License-Identifier: Apache-2.0
#include "takt/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "takt/base/clock.h"

namespace takt {
namespace {

std::atomic<LogLevel> level_now{LogLevel::kInfo};
std::atomic<bool> writes_json{false};

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

std::string_view level_word(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      break;
  }
  return "error";
}

// The only state that outlives main: log calls may come from destructors.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    sink->set_pattern("%^%v%$");
    auto made = std::make_unique<spdlog::logger>("takt", std::move(sink));
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    writes_json = ::isatty(STDERR_FILENO) == 0;
    return made.release();
  }();
  return *instance;
}

void add_member(std::string& line, std::string_view key, const Value& value) {
  line += line.size() > 1 ? "," : "";
  line += dump_json(Value(key));
  line += ':';
  line += dump_json(value);
}

std::string json_line(LogLevel level, std::string_view message, const Object& fields) {
  std::string line = "{";
  add_member(line, "time", format_time(system_clock().now_ms()));
  add_member(line, "level", level_word(level));
  add_member(line, "message", message);
  for (const auto& [key, value] : fields) {
    const bool is_taken = key == "time" || key == "level" || key == "message";
    add_member(line, is_taken ? key + "_" : key, value);
  }
  line += '}';
  return line;
}

// Plain words stand as they are; all else is quoted, so that no value can forge a line or a field.
std::string text_of_field(const Value& value) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/:@+%";
  if (value.is_string() && !value.as_string().empty() &&
      value.as_string().find_first_not_of(kPlain) == std::string::npos) {
    return value.as_string();
  }
  return dump_json(value);
}

std::string text_line(LogLevel level, std::string_view message, const Object& fields) {
  std::string line = format_time(system_clock().now_ms());
  line += ' ';
  line += level_word(level);
  line.append(6 - level_word(level).size(), ' ');
  for (const char c : message) line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  for (const auto& [key, value] : fields) {
    line += "  ";
    line += key;
    line += '=';
    line += text_of_field(value);
  }
  return line;
}

/// The end of the characters from `at` on that are among these.
std::size_t end_of(std::string_view characters, std::string_view line, std::size_t at) {
  return std::min(line.find_first_not_of(characters, at), line.size());
}

/// A token that came with a path or in an error's text keeps its name and loses its secret:
/// takt_0a1b_…, whichever way it got into the line.
void hide_secrets(std::string& line) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::size_t at = 0;
  while ((at = line.find("takt", at)) != std::string::npos) {
    const std::size_t kind_end = end_of("abcdefghijklmnopqrstuvwxyz", line, at);  // takt, taktjob …
    at = kind_end;
    if (kind_end == line.size() || line[kind_end] != '_') continue;
    const std::size_t id_end = end_of(kHex, line, kind_end + 1);
    if (id_end == line.size() || line[id_end] != '_') continue;
    const std::size_t secret_end = end_of(kHex, line, id_end + 1);
    if (secret_end == id_end + 1) continue;
    line.replace(id_end + 1, secret_end - id_end - 1, "…");
    at = id_end + 1;
  }
}

}  // namespace

void log_setup(LogLevel level, LogFormat format) {
  logger();
  level_now = level;
  if (format != LogFormat::kAuto) writes_json = format == LogFormat::kJson;
}

bool log_enabled(LogLevel level) { return level >= level_now.load(std::memory_order_relaxed); }

void log_write(LogLevel level, std::string_view message, Object fields) {
  if (!log_enabled(level)) return;
  spdlog::logger& out = logger();
  std::string line = writes_json.load(std::memory_order_relaxed)
                         ? json_line(level, message, fields)
                         : text_line(level, message, fields);
  hide_secrets(line);
  out.log(spdlog_level(level), spdlog::string_view_t(line));
}

}  // namespace takt
