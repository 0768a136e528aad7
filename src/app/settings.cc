// SPDX-License-Identifier: Apache-2.0
#include "takt/app/settings.h"

#include <array>
#include <charconv>

#include "takt/base/file.h"
#include "takt/base/units.h"
#include "takt/base/value.h"

namespace takt::app {
namespace {

constexpr std::array kTable = {
    Setting{"data_dir", SettingType::kText, "", "DIR",
            "where everything is kept; default $TAKT_HOME, else ~/.local/share/takt"},
    Setting{"listen", SettingType::kText, "127.0.0.1:8700", "HOST:PORT",
            "address of the API and the console"},
    Setting{"gateway_listen", SettingType::kText, "127.0.0.1:8000", "HOST:PORT",
            "address of the services' HTTP gateway"},
    Setting{"gateway_grpc_listen", SettingType::kText, "127.0.0.1:8001", "HOST:PORT",
            "address of the services' gRPC gateway"},
    Setting{"auth", SettingType::kSwitch, "on", "on|off",
            "off: everyone is admin; on loopback only"},
    Setting{"insecure_http", SettingType::kSwitch, "off", "on|off",
            "allow another address than loopback without TLS"},
    Setting{"tls_certificate", SettingType::kText, "", "FILE",
            "PEM certificate chain; with tls_key, serves https"},
    Setting{"tls_key", SettingType::kText, "", "FILE", "PEM private key"},
    Setting{"allowed_hosts", SettingType::kText, "", "NAME,…",
            "Host headers to accept besides loopback names"},
    Setting{"database", SettingType::kText, "", "URL",
            "postgresql://…; default: SQLite in the data folder"},
    Setting{"workers", SettingType::kInteger, "8", "N", "threads for requests that may block", 1,
            1024},
    Setting{"cpu", SettingType::kCpu, "0", "CPU",
            "CPU for jobs, such as 1500m; 0: what the machine has"},
    Setting{"memory", SettingType::kBytes, "0", "BYTES",
            "memory for jobs, such as 8GiB; 0: what the machine has"},
    Setting{"gpus", SettingType::kInteger, "-1", "N", "GPUs for jobs; -1: those found", -1, 64},
    Setting{"job_uid", SettingType::kInteger, "64000", "UID",
            "first of 1000 user ids that jobs run as when the server is root", 1000, 2'000'000'000},
    Setting{"drain", SettingType::kDuration, "20s", "TIME",
            "how long requests in flight may take at SIGTERM"},
    Setting{"log_level", SettingType::kText, "info", "LEVEL", "debug, info, warn or error"},
    Setting{"log_format", SettingType::kText, "auto", "FORMAT",
            "text, json, or auto: text on a terminal"},
};

std::string kebab(std::string_view name) {
  std::string flag(name);
  for (char& c : flag)
    if (c == '_') c = '-';
  return flag;
}

std::string variable(std::string_view name) {
  std::string text = "TAKT_";
  for (const char c : name) text += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

std::vector<std::string> known_names(std::string (*form)(std::string_view)) {
  std::vector<std::string> names;
  for (const Setting& setting : kTable) names.push_back(form(setting.name));
  return names;
}

const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : kTable)
    if (setting.name == name) return &setting;
  return nullptr;
}

std::unexpected<Error> unknown_setting(const std::string& what, const std::string& name,
                                       const std::vector<std::string>& known) {
  const std::string near = nearest_name(name, known);
  return fail(Code::kInvalid, "unknown " + what + " '" + name + "'",
              near.empty() ? "see `takt server --help`" : "did you mean '" + near + "'?");
}

Result<std::int64_t> parse_typed(SettingType type, const std::string& value) {
  switch (type) {
    case SettingType::kText:
      return 0;
    case SettingType::kCpu:
      return parse_cpu(value);
    case SettingType::kBytes:
      return parse_bytes(value);
    case SettingType::kDuration:
      return parse_duration_ms(value);
    case SettingType::kSwitch:
      if (value == "on" || value == "true") return 1;
      if (value == "off" || value == "false") return 0;
      return fail(Code::kInvalid, "'" + value + "' is neither on nor off");
    case SettingType::kInteger: {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error == std::errc() && end == value.data() + value.size()) return number;
      return fail(Code::kInvalid, "'" + value + "' is no whole number");
    }
  }
  return 0;
}

/// --name VALUE and --name=VALUE, by setting name.
Result<std::map<std::string, std::string>> read_flags(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> flags;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("--")) return unknown_setting("argument", word, {});
    const auto equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    for (char& c : name)
      if (c == '-') c = '_';
    if (name != "config" && find_setting(name) == nullptr) {
      std::vector<std::string> known = known_names(kebab);
      known.emplace_back("config");
      return unknown_setting("flag", word.substr(0, equals), known);
    }
    if (equals != std::string::npos) {
      flags[name] = word.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      flags[name] = arguments[++i];
    } else {
      return fail(Code::kInvalid, word + " needs a value");
    }
  }
  return flags;
}

Result<Value> read_config(const std::string& path) {
  TAKT_ASSIGN(const std::string text,
              read_file(path, 1 << 20).transform_error(while_("reading the configuration")));
  TAKT_ASSIGN(Value config, parse_yaml(text).transform_error(while_(path)));
  if (config.is_null()) return Value(Object{});
  if (!config.is_object())
    return fail(Code::kInvalid, path + ": the configuration must be an object");
  return config;
}

}  // namespace

std::span<const Setting> settings_table() { return kTable; }

Status Settings::set(const Setting& setting, const std::string& value, const std::string& where) {
  const auto typed = parse_typed(setting.type, value);
  if (!typed)
    return fail(Code::kInvalid, where + ": " + typed.error().message, typed.error().hint,
                std::string(setting.name));
  if (*typed < setting.min || *typed > setting.max)
    return fail(Code::kInvalid,
                where + ": must be " + std::to_string(setting.min) + ".." +
                    std::to_string(setting.max) + ", got " + value,
                "", std::string(setting.name));
  texts_[std::string(setting.name)] = value;
  integers_[std::string(setting.name)] = *typed;
  return {};
}

Result<Settings> Settings::load(const std::vector<std::string>& arguments,
                                const std::map<std::string, std::string>& environment) {
  TAKT_ASSIGN(const auto flags, read_flags(arguments));
  const auto value_of = [&](const std::string& name) -> std::string {
    if (const auto flag = flags.find(name); flag != flags.end()) return flag->second;
    const auto found = environment.find(variable(name));
    return found == environment.end() ? "" : found->second;
  };
  Value config{Object{}};
  const std::string config_path = value_of("config");
  if (!config_path.empty()) {
    TAKT_ASSIGN(config, read_config(config_path));
  }
  for (const auto& [key, value] : config.as_object()) {
    const bool is_plain = value.is_string() || value.is_number() || value.is_bool();
    if (find_setting(key) == nullptr)
      return unknown_setting("key in " + config_path, key,
                             known_names([](std::string_view n) { return std::string(n); }));
    if (!is_plain)
      return fail(Code::kInvalid, config_path + ": " + key + " must be a plain value", "", key);
  }
  Settings settings;
  for (const Setting& setting : kTable) {
    const std::string name(setting.name);
    TAKT_RETURN_IF_ERROR(settings.set(setting, std::string(setting.fallback), name));
    if (const Value& value = config[name]; !value.is_null())
      TAKT_RETURN_IF_ERROR(settings.set(setting,
                                        value.is_string() ? value.as_string() : dump_json(value),
                                        config_path + ": " + name));
    if (const auto found = environment.find(variable(name)); found != environment.end())
      TAKT_RETURN_IF_ERROR(settings.set(setting, found->second, variable(name)));
    if (const auto flag = flags.find(name); flag != flags.end())
      TAKT_RETURN_IF_ERROR(settings.set(setting, flag->second, "--" + kebab(name)));
  }
  return settings;
}

const std::string& Settings::text(std::string_view name) const {
  const auto found = texts_.find(name);
  TAKT_CHECK(found != texts_.end(), "no such setting");
  return found->second;
}

std::int64_t Settings::integer(std::string_view name) const {
  const auto found = integers_.find(name);
  TAKT_CHECK(found != integers_.end(), "no such setting");
  return found->second;
}

bool Settings::is_on(std::string_view name) const { return integer(name) != 0; }

std::string settings_help() {
  std::string text =
      "usage: takt server [FLAGS]\n\nEach flag is also an environment variable (--data-dir: "
      "TAKT_DATA_DIR) and a key of the\n"
      "configuration file (data_dir). Flags beat the environment, the environment the file.\n\n"
      "  --config FILE                     YAML file with settings\n";
  for (const Setting& setting : kTable) {
    std::string line = "  --" + kebab(setting.name) + " " + std::string(setting.placeholder);
    line.resize(std::max<std::size_t>(line.size() + 1, 36), ' ');
    text += line + std::string(setting.doc);
    if (!setting.fallback.empty()) text += " [" + std::string(setting.fallback) + "]";
    text += "\n";
  }
  return text;
}

}  // namespace takt::app
