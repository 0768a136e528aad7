// SPDX-License-Identifier: Apache-2.0
#include "takt/models/checks.h"

#include <algorithm>
#include <charconv>

#include "takt/base/ids.h"

namespace takt::models {
namespace {

constexpr std::size_t kModelNameBytesMax = 256;
constexpr std::size_t kAliasBytesMax = 255;
constexpr std::size_t kRegistryKeyBytesMax = 250;
constexpr std::size_t kRegistryValueBytesMax = 100'000;

std::string lower_text(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return lower;
}

bool is_alias_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

Status check_model_name(std::string_view name) {
  if (name.empty())
    return fail(Code::kInvalid, "Registered model name cannot be empty.", {}, "name");
  if (name.size() > kModelNameBytesMax)
    return fail(Code::kInvalid,
                "Registered model name has " + std::to_string(name.size()) +
                    " characters, at most " + std::to_string(kModelNameBytesMax) + " are allowed",
                {}, "name");
  const bool is_bad = std::ranges::any_of(name, [](char c) {
    return c == '/' || c == ':' || c == '@' || static_cast<unsigned char>(c) < 0x20;
  });
  if (!is_bad) return {};
  return fail(Code::kInvalid,
              "Invalid model name: '" + std::string(name) +
                  "'. Model names may not contain '/', ':' or '@'.",
              {}, "name");
}

Status check_model_alias(std::string_view alias) {
  const auto refuse = [&](std::string why) {
    return fail(
        Code::kInvalid,
        "Invalid alias name: '" + std::string(alias.substr(0, 300)) + "'. " + std::move(why), {},
        "alias");
  };
  if (alias.empty())
    return fail(Code::kInvalid, "Registered model alias name cannot be empty.", {}, "alias");
  if (alias.size() > kAliasBytesMax)
    return refuse("It has more than " + std::to_string(kAliasBytesMax) + " characters.");
  if (!std::ranges::all_of(alias, is_alias_char))
    return refuse(
        "Names may only contain alphanumerics, underscores (_), dashes (-) and periods (.).");
  const std::string lower = lower_text(alias);
  if (lower == "latest")
    return fail(Code::kInvalid, "'latest' alias name (case insensitive) is reserved.", {}, "alias");
  if (!check_alias(alias) && !lower.starts_with('_') && !lower.starts_with('-') &&
      !lower.starts_with('.') && alias.size() <= 128)
    return fail(Code::kInvalid, "Version alias name '" + std::string(alias) + "' is reserved.", {},
                "alias");
  return {};
}

Status check_registry_tag(std::string_view key, std::string_view value) {
  if (key.empty()) return fail(Code::kInvalid, "Tag name cannot be empty.", {}, "key");
  if (key.size() > kRegistryKeyBytesMax)
    return fail(Code::kInvalid,
                "'key' exceeds the maximum length of " + std::to_string(kRegistryKeyBytesMax) +
                    " characters",
                {}, "key");
  if (value.size() > kRegistryValueBytesMax)
    return fail(Code::kInvalid,
                "'value' exceeds the maximum length of " + std::to_string(kRegistryValueBytesMax) +
                    " characters",
                {}, "value");
  return {};
}

Result<std::string> parse_stage(std::string_view stage) {
  for (const std::string_view known : {"None", "Staging", "Production", "Archived"})
    if (lower_text(known) == lower_text(stage)) return std::string(known);
  return fail(Code::kInvalid,
              "Invalid Model Version stage: " + std::string(stage.substr(0, 80)) +
                  ". Value must be one of None, Staging, Production, Archived.",
              {}, "stage");
}

Result<std::int64_t> parse_version_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return fail(
      Code::kInvalid,
      "Parameter 'version' must be an integer, got '" + std::string(text.substr(0, 80)) + "'.", {},
      "version");
}

}  // namespace takt::models
