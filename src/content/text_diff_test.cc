// SPDX-License-Identifier: Apache-2.0
#include "takt/content/text_diff.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace takt::content {
namespace {

TEST(TextDiff, equal_texts_have_none) {
  EXPECT_EQ(diff_texts("a\nb\n", "a\nb\n").unified, "");
  EXPECT_EQ(diff_texts("", "").unified, "");
}

TEST(TextDiff, a_changed_line_stands_in_its_context) {
  const TextDiff diff = diff_texts("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
  EXPECT_EQ(diff.unified, "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(diff.added, 1);
  EXPECT_EQ(diff.removed, 1);
}

TEST(TextDiff, far_changes_are_hunks_of_their_own) {
  std::string before, after;
  for (int i = 0; i < 40; ++i) {
    before += std::to_string(i) + "\n";
    if (i != 5) after += i == 30 ? "thirty\n" : std::to_string(i) + "\n";
  }
  EXPECT_EQ(diff_texts(before, after).unified,
            "@@ -3,7 +3,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n"
            "@@ -28,7 +27,7 @@\n 27\n 28\n 29\n-30\n+thirty\n 31\n 32\n 33\n");
}

TEST(TextDiff, a_new_file_and_a_missing_newline_are_said) {
  EXPECT_EQ(diff_texts("", "a\n").unified, "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(diff_texts("a", "a\n").unified, "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

/// What the hunks make of `before`.
std::string patched(const std::string& before, const std::string& unified) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < before.size();) {
    const std::size_t end = before.find('\n', at);
    lines.push_back(before.substr(at, end - at));
    at = end + 1;
  }
  std::string text;
  std::size_t line = 0;
  for (std::size_t at = 0; at < unified.size();) {
    const std::size_t end = unified.find('\n', at);
    const std::string row = unified.substr(at, end - at);
    at = end + 1;
    if (row.starts_with("@@ -")) {
      const std::size_t begin = std::stoul(row.substr(4));
      const bool is_empty = row.find(",0 +") != std::string::npos;
      while (line < begin - (is_empty ? 0 : 1)) text += lines[line++] + "\n";
      continue;
    }
    if (row[0] != '+') ++line;
    if (row[0] != '-') text += row.substr(1) + "\n";
  }
  while (line < lines.size()) text += lines[line++] + "\n";
  return text;
}

TEST(TextDiff, the_hunks_turn_the_one_text_into_the_other) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string before, after;
    for (std::string* text : {&before, &after})
      for (unsigned i = random() % 40; i > 0; --i)
        *text += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
    const TextDiff diff = diff_texts(before, after);
    EXPECT_EQ(patched(before, diff.unified), after) << "seed 7, round " << round;
  }
}

TEST(TextDiff, large_texts_with_nothing_in_common_are_replaced_as_a_whole) {
  std::string before, after;
  for (int i = 0; i < 5000; ++i) {
    before += "b" + std::to_string(i) + "\n";
    after += "a" + std::to_string(i) + "\n";
  }
  const TextDiff diff = diff_texts("same\n" + before, "same\n" + after);
  EXPECT_EQ(diff.added, 5000);
  EXPECT_EQ(diff.removed, 5000);
  EXPECT_EQ(patched("same\n" + before, diff.unified), "same\n" + after);
}

TEST(TextDiff, bytes_are_told_from_text) {
  EXPECT_TRUE(is_text("a\tb\r\n\xc3\xa4"));
  EXPECT_FALSE(is_text(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_text("\xff\xfe"));
}

}  // namespace
}  // namespace takt::content
