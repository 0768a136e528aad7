// SPDX-License-Identifier: Apache-2.0
// Structured logs: text on a terminal, JSON lines elsewhere. Messages are constant phrases.
//   log_info("job placed", {{"job", 41}, {"node", name}});
#pragma once

#include <string_view>

#include "takt/base/value.h"

namespace takt {

enum class LogLevel { kDebug, kInfo, kWarn, kError };
enum class LogFormat { kAuto, kText, kJson };

void log_setup(LogLevel level, LogFormat format);
/// Whether a line of that level is written: ask before building costly fields.
bool log_enabled(LogLevel level);
void log_write(LogLevel level, std::string_view message, Object fields);

inline void log_debug(std::string_view m, Object f = {}) {
  log_write(LogLevel::kDebug, m, std::move(f));
}
inline void log_info(std::string_view m, Object f = {}) {
  log_write(LogLevel::kInfo, m, std::move(f));
}
inline void log_warn(std::string_view m, Object f = {}) {
  log_write(LogLevel::kWarn, m, std::move(f));
}
inline void log_error(std::string_view m, Object f = {}) {
  log_write(LogLevel::kError, m, std::move(f));
}

}  // namespace takt
