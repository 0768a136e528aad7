// SPDX-License-Identifier: Apache-2.0
#include "takt/track/checks.h"

#include <algorithm>

namespace takt::track {
namespace {

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c & 0x80) != 0 || std::string_view("_-. :/").find(c) != std::string_view::npos;
}

/// The key as a path would resolve: without empty, `.` and `..` parts.
std::string normal_path(std::string_view path) {
  std::vector<std::string_view> parts;
  std::string out = path.starts_with('/') ? "/" : "";
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, slash - at);
    at = slash + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..")
      parts.pop_back();
    else
      parts.push_back(part);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? "/" : "") + std::string(parts[i]);
  return out.empty() ? "." : out;
}

}  // namespace

std::unexpected<Error> invalid_value(std::string_view path, const Value& value,
                                     std::string_view why) {
  std::string message =
      "Invalid value " + dump_json(value) + " for parameter '" + std::string(path) + "' supplied";
  message += why.empty() ? "." : ": " + std::string(why);
  return fail(Code::kInvalid, std::move(message), {}, std::string(path));
}

std::unexpected<Error> missing_value(std::string_view path) {
  return fail(Code::kInvalid, "Missing value for required parameter '" + std::string(path) + "'.",
              {}, std::string(path));
}

Status check_key(std::string_view path, std::string_view key) {
  if (key.empty()) return invalid_value(path, key, "A key name must be provided.");
  if (!std::ranges::all_of(key, is_key_char))
    return invalid_value(
        path, key,
        "Names may only contain alphanumerics, underscores (_), dashes (-), periods (.), "
        "spaces ( ), colon(:) and slashes (/).");
  const std::string normal = normal_path(key);
  if (normal != key || normal == "." || normal.starts_with("..") || normal.starts_with('/'))
    return invalid_value(
        path, key,
        "Names may be treated as files in certain cases, and must not resolve to other names "
        "when treated as such. This name would resolve to '" +
            normal + "'");
  return check_length(path, key, kKeyBytesMax);
}

Status check_length(std::string_view path, std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return {};
  return fail(Code::kInvalid,
              "'" + std::string(path) + "' exceeds the maximum length of " +
                  std::to_string(bytes_max) + " characters",
              {}, std::string(path));
}

std::string cut_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  while (bytes_max > 0 && (text[bytes_max] & 0xC0) == 0x80) --bytes_max;
  return std::string(text.substr(0, bytes_max));
}

Status check_experiment_name(std::string_view name) {
  if (name.empty()) return invalid_value("name", "", "Experiment name cannot be empty.");
  return check_length("name", name, kExperimentNameBytesMax);
}

Status check_artifact_location(std::string_view location) {
  const std::string lower_dots(location);
  const bool has_dots = ("/" + lower_dots + "/").find("/../") != std::string::npos ||
                        lower_dots.find("%2e%2e") != std::string::npos ||
                        lower_dots.find("%2E%2E") != std::string::npos;
  if (location.find('#') == std::string_view::npos &&
      location.find('?') == std::string_view::npos && !has_dots)
    return {};
  return fail(
      Code::kInvalid,
      "Invalid artifact location '" + std::string(location) + "': it may not have '#', '?' or '..'",
      {}, "artifact_location");
}

}  // namespace takt::track
