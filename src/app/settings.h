// SPDX-License-Identifier: Apache-2.0
// The server's settings: one table makes flags, environment variables, YAML keys and the docs.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.h"

namespace takt::app {

enum class SettingType { kText, kInteger, kSwitch, kCpu, kBytes, kDuration };

/// One row. `name` is the YAML key; the flag is its kebab form, the variable TAKT_ + upper case.
struct Setting {
  std::string_view name;
  SettingType type;
  std::string_view fallback;
  std::string_view placeholder;  // in help: "HOST:PORT"
  std::string_view doc;
  // Of numbers, in the unit they are held in.
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
std::span<const Setting> settings_table();

/// Values as text, checked by type; typed reads cannot fail afterwards.
class Settings {
 public:
  /// Flags beat the environment, which beats the file (`--config`), which beats the defaults.
  /// `arguments` are those after `takt server`. Unknown flags, keys and wrong values are kInvalid
  /// and name the nearest known one. Unknown TAKT_ variables are left to the CLI and to jobs.
  static Result<Settings> load(const std::vector<std::string>& arguments,
                               const std::map<std::string, std::string>& environment);
  const std::string& text(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;  // also of cpu, bytes and durations
  bool is_on(std::string_view name) const;

 private:
  Status set(const Setting& setting, const std::string& value, const std::string& where);
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, std::int64_t, std::less<>> integers_;
};

/// The table as `takt server --help` prints it.
std::string settings_help();

}  // namespace takt::app
