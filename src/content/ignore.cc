// SPDX-License-Identifier: Apache-2.0
#include "takt/content/ignore.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <ranges>

namespace takt::content {
namespace {

using ByteSet = std::bitset<256>;

std::size_t index_of(char c) { return static_cast<unsigned char>(c); }

ByteSet only(char c) { return ByteSet().set(index_of(c)); }

ByteSet all_but_slash() { return ByteSet().set().reset(index_of('/')); }

// The bytes of a [:name:], none for an unknown one.
std::optional<ByteSet> named_class(std::string_view name) {
  struct Named {
    std::string_view name;
    int (*is)(int);
  };
  constexpr Named kClasses[] = {
      {"alnum", std::isalnum}, {"alpha", std::isalpha}, {"blank", std::isblank},
      {"cntrl", std::iscntrl}, {"digit", std::isdigit}, {"graph", std::isgraph},
      {"lower", std::islower}, {"print", std::isprint}, {"punct", std::ispunct},
      {"space", std::isspace}, {"upper", std::isupper}, {"xdigit", std::isxdigit},
  };
  for (const Named& named : kClasses) {
    if (named.name != name) continue;
    ByteSet bytes;
    for (int c = 0; c < 128; ++c) bytes.set(static_cast<std::size_t>(c), named.is(c) != 0);
    return bytes;
  }
  return std::nullopt;
}

std::string_view without_line_end(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ')) {
    const std::string_view before = line.substr(0, line.size() - 1);
    // An odd number of back-slashes before it makes the space part of the pattern.
    const std::size_t last_other = before.find_last_not_of('\\');
    const std::size_t slashes =
        before.size() - (last_other == std::string_view::npos ? 0 : last_other + 1);
    if (slashes % 2 == 1) break;
    line = before;
  }
  return line;
}

}  // namespace

Glob::Glob(std::string_view pattern, bool spans_folders) {
  std::size_t at = 0;
  while (at < pattern.size() && !never_) {
    const char c = pattern[at];
    if (c == '*') {
      add_stars(pattern, at, spans_folders);
    } else if (c == '?') {
      tokens_.push_back({Kind::kOneOf, all_but_slash()});
      ++at;
    } else if (c == '[') {
      never_ = !add_class(pattern, at);
    } else {
      if (c == '\\') ++at;
      never_ = at >= pattern.size();
      if (!never_) tokens_.push_back({Kind::kOneOf, only(pattern[at])});
      ++at;
    }
  }
}

void Glob::add_stars(std::string_view pattern, std::size_t& at, bool spans_folders) {
  const std::size_t start = at;
  while (at < pattern.size() && pattern[at] == '*') ++at;
  const bool begins_name = start == 0 || pattern[start - 1] == '/';
  const bool is_double = at - start >= 2 && spans_folders && begins_name;
  if (is_double && at == pattern.size()) {
    tokens_.push_back({Kind::kRest, {}});
  } else if (is_double && pattern[at] == '/') {
    tokens_.push_back({Kind::kFolders, {}});
    tokens_.push_back({Kind::kInsideFolders, {}});
    ++at;
  } else {
    tokens_.push_back({Kind::kStar, {}});
  }
}

// [abc], [a-z], [!x], [[:digit:]]; false when it has no end.
bool Glob::add_class(std::string_view pattern, std::size_t& at) {
  ByteSet bytes;
  ++at;
  const bool is_negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (is_negated) ++at;
  for (bool is_first = true; at < pattern.size(); is_first = false) {
    char low = pattern[at];
    if (low == ']' && !is_first) {
      ++at;
      if (is_negated) bytes.flip();
      bytes.reset(index_of('/'));
      tokens_.push_back({Kind::kOneOf, bytes});
      return true;
    }
    if (low == '[' && pattern.substr(at).starts_with("[:")) {
      const std::size_t end = pattern.find(":]", at + 2);
      if (end != std::string_view::npos) {
        const std::optional<ByteSet> named = named_class(pattern.substr(at + 2, end - at - 2));
        if (!named) return false;
        bytes |= *named;
        at = end + 2;
        continue;
      }
    }
    if (low == '\\') {
      if (++at >= pattern.size()) return false;
      low = pattern[at];
    }
    ++at;
    char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      ++at;
      if (pattern[at] == '\\' && ++at >= pattern.size()) return false;
      high = pattern[at++];
    }
    for (std::size_t i = index_of(low); i <= index_of(high); ++i) bytes.set(i);
  }
  return false;
}

// Marks the token, and those reached from it without reading a byte.
void Glob::enter(std::vector<char>& states, std::size_t token) const {
  while (states[token] == 0) {
    states[token] = 1;
    if (token == tokens_.size()) return;
    switch (tokens_[token].kind) {
      case Kind::kOneOf:
      case Kind::kInsideFolders:
        return;
      case Kind::kStar:
      case Kind::kRest:
        ++token;
        break;
      case Kind::kFolders:
        token += 2;
        break;
    }
  }
}

bool Glob::matches(std::string_view text) const {
  if (never_) return false;
  std::vector<char> states(tokens_.size() + 1, 0);
  std::vector<char> next(tokens_.size() + 1, 0);
  enter(states, 0);
  for (const char c : text) {
    std::ranges::fill(next, 0);
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (states[i] == 0) continue;
      switch (tokens_[i].kind) {
        case Kind::kOneOf:
          if (tokens_[i].bytes.test(index_of(c))) enter(next, i + 1);
          break;
        case Kind::kStar:
          if (c != '/') enter(next, i);
          break;
        case Kind::kFolders:
          if (c != '/') next[i + 1] = 1;
          break;
        case Kind::kInsideFolders:
          next[i] = 1;
          if (c == '/') enter(next, i + 1);
          break;
        case Kind::kRest:
          enter(next, i);
          break;
      }
    }
    std::swap(states, next);
  }
  return states[tokens_.size()] != 0;
}

IgnoreRules IgnoreRules::parse(std::string_view text) {
  IgnoreRules rules;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view pattern = without_line_end(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pattern.empty() || pattern.front() == '#') continue;
    const bool is_negated = pattern.front() == '!';
    if (is_negated) pattern.remove_prefix(1);
    const bool folders_only = pattern.ends_with('/');
    if (folders_only) pattern.remove_suffix(1);
    const bool whole_path = pattern.find('/') != std::string_view::npos;
    if (pattern.starts_with('/')) pattern.remove_prefix(1);
    if (pattern.empty()) continue;
    rules.rules_.push_back({Glob(pattern, whole_path), is_negated, folders_only, whole_path});
  }
  return rules;
}

bool IgnoreRules::is_ignored(std::string_view path, bool is_folder) const {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const Rule& rule : rules_ | std::views::reverse) {
    if (rule.folders_only && !is_folder) continue;
    if (rule.glob.matches(rule.whole_path ? path : name)) return !rule.is_negated;
  }
  return false;
}

}  // namespace takt::content
