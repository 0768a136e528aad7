// SPDX-License-Identifier: Apache-2.0
#include "takt/base/ids.h"

#include <algorithm>
#include <charconv>

namespace takt {
namespace {

constexpr std::size_t kNameBytesMax = 128;

bool is_digit_char(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) {
  return is_digit_char(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name_char(char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; }
bool is_all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit_char);
}

// For messages: the text in quotes, cut when it is long.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 80;
  std::string out = "\"";
  for (const char c : text.substr(0, kShown)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  out += text.size() > kShown ? "…\"" : "\"";
  return out;
}

}  // namespace

Ref ref_of(const DatasetVersionId& id) { return {"dataset", id.text()}; }
Ref ref_of(const ModelVersionId& id) { return {"model", id.text()}; }
Ref ref_of(JobId id) { return {"job", std::to_string(id.value)}; }
Ref ref_of(const RunId& id) { return {"run", id.value}; }
Ref ref_of(const UserId& id) { return {"user", id.value}; }

Result<Ref> parse_ref(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return fail(Code::kInvalid, "not a reference: " + quoted(text),
                "write KIND/NAME, as in dataset/digits@3 or job/41");
  }
  return Ref{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

Result<VersionSelector> parse_version_selector(std::string_view text) {
  VersionSelector selector;
  const std::size_t at = text.find('@');
  selector.name = text.substr(0, at);
  TAKT_RETURN_IF_ERROR(check_name("name", selector.name));
  if (at == std::string_view::npos) return selector;
  const std::string_view word = text.substr(at + 1);
  if (is_all_digits(word)) {
    const auto [end, error] =
        std::from_chars(word.data(), word.data() + word.size(), selector.number);
    if (error != std::errc{} || selector.number < 1) {
      return fail(Code::kInvalid, quoted(text) + ": no such version number",
                  "versions are numbered 1, 2, 3 …");
    }
    return selector;
  }
  if (word == "latest") return selector;
  TAKT_RETURN_IF_ERROR(check_alias(word));
  selector.alias = word;
  return selector;
}

Status check_name(std::string_view what, std::string_view name) {
  const std::string hint = "use 1 to 128 letters, digits, '.', '_' or '-', a letter or digit first";
  if (name.empty()) return fail(Code::kInvalid, std::string(what) + " is empty", hint);
  if (name.size() > kNameBytesMax) {
    return fail(Code::kInvalid,
                std::string(what) + " " + quoted(name) + " has " + std::to_string(name.size()) +
                    " characters",
                hint);
  }
  if (!is_letter_or_digit(name.front()) || !std::ranges::all_of(name, is_name_char)) {
    return fail(Code::kInvalid, std::string(what) + " " + quoted(name) + " is not allowed", hint);
  }
  return {};
}

Status check_alias(std::string_view alias) {
  TAKT_RETURN_IF_ERROR(check_name("alias", alias));
  const bool looks_like_version =
      is_all_digits(alias) ||
      ((alias.front() == 'v' || alias.front() == 'V') && is_all_digits(alias.substr(1)));
  std::string lower(alias);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  if (looks_like_version || lower == "latest") {
    return fail(Code::kInvalid, "alias " + quoted(alias) + " could be mistaken for a version",
                "choose a word, as in production");
  }
  return {};
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return is_digit_char(c) || (c >= 'a' && c <= 'f');
         });
}

}  // namespace takt
