// SPDX-License-Identifier: Apache-2.0
// The rules of a .taktignore file: gitignore(5), for one file at the root of a tree.
#pragma once

#include <bitset>
#include <string_view>
#include <vector>

namespace takt::content {

/// A pattern of shell wildcards, matched in time proportional to pattern × text.
class Glob {
 public:
  /// `spans_folders`: `/` is a separator that only `**` crosses; else it is a character like
  /// others.
  Glob(std::string_view pattern, bool spans_folders);
  bool matches(std::string_view text) const;

 private:
  enum class Kind { kOneOf, kStar, kFolders, kInsideFolders, kRest };
  struct Token {
    Kind kind;
    std::bitset<256> bytes;  // of kOneOf
  };
  void add_stars(std::string_view pattern, std::size_t& at, bool spans_folders);
  bool add_class(std::string_view pattern, std::size_t& at);
  void enter(std::vector<char>& states, std::size_t token) const;

  std::vector<Token> tokens_;
  bool never_ = false;  // a pattern that is malformed matches nothing
};

/// Which paths the rules leave out. As git does, a caller asks about a folder before what lies in
/// it, and does not enter a folder that is left out.
class IgnoreRules {
 public:
  static IgnoreRules parse(std::string_view text);
  /// `path` is relative to the file's folder, `/`-separated.
  bool is_ignored(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    Glob glob;
    bool is_negated;
    bool folders_only;
    bool whole_path;  // else only the last name is compared
  };
  std::vector<Rule> rules_;
};

}  // namespace takt::content
