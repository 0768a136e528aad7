// SPDX-License-Identifier: Apache-2.0
// What changed between two texts, line by line. Pure.
#pragma once

#include <string>
#include <string_view>

namespace takt::content {

struct TextDiff {
  std::string unified;  // hunks as `diff -u` writes them, without the file names; "" when equal
  int added = 0, removed = 0;
};
/// Shortest edit where it has at most a few thousand lines, else the changed middle as a whole.
TextDiff diff_texts(std::string_view before, std::string_view after);
/// UTF-8 without control characters but tab, newline, return and form feed.
bool is_text(std::string_view bytes);

}  // namespace takt::content
