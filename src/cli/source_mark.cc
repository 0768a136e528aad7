// SPDX-License-Identifier: Apache-2.0
#include "takt/cli/source_mark.h"

#include <algorithm>
#include <charconv>

namespace takt::cli {
namespace {

constexpr std::string_view kAtCharacter = "at character ";
constexpr std::size_t kShownBefore = 50, kShownAfter = 30;

bool begins_character(char c) { return (c & 0xC0) != 0x80; }

}  // namespace

std::string mark_under(std::string_view text, std::string_view hint) {
  if (!hint.starts_with(kAtCharacter) || text.empty()) return "";
  const std::string_view digits = hint.substr(kAtCharacter.size());
  std::size_t at = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), at);
  if (at == 0) return "";
  at = std::min(at - 1, text.size());
  std::size_t from = at > kShownBefore ? at - kShownBefore : 0;
  while (from < at && !begins_character(text[from])) ++from;
  std::size_t to = std::min(text.size(), at + kShownAfter);
  while (to < text.size() && !begins_character(text[to])) ++to;
  std::string shown = from > 0 ? "…" : "";
  auto column = static_cast<std::ptrdiff_t>(from > 0 ? 1 : 0);
  shown += text.substr(from, to - from);
  if (to < text.size()) shown += "…";
  std::ranges::replace_if(shown, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  column += std::ranges::count_if(text.substr(from, at - from), begins_character);
  return "\n  " + shown + "\n  " + std::string(static_cast<std::size_t>(column), ' ') + "^";
}

}  // namespace takt::cli
