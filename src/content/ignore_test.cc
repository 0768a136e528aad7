// SPDX-License-Identifier: Apache-2.0
#include "takt/content/ignore.h"

#include <gtest/gtest.h>

#include <set>

#include "takt/base/process.h"
#include "takt/base/rng.h"
#include "takt/base/testing/temp_dir.h"

namespace takt::content {
namespace {

bool ignores(std::string_view rules, std::string_view path, bool is_folder = false) {
  return IgnoreRules::parse(rules).is_ignored(path, is_folder);
}

TEST(IgnoreTest, NamesMatchAtAnyDepth) {
  EXPECT_TRUE(ignores("*.log\n", "a.log"));
  EXPECT_TRUE(ignores("*.log\n", "x/y/a.log"));
  EXPECT_FALSE(ignores("*.log\n", "a.logs"));
  EXPECT_TRUE(ignores("build", "x/build"));
  EXPECT_FALSE(ignores("build", "x/rebuild"));
}

TEST(IgnoreTest, SlashesAnchor) {
  EXPECT_TRUE(ignores("/build", "build"));
  EXPECT_FALSE(ignores("/build", "x/build"));
  EXPECT_TRUE(ignores("a/b", "a/b"));
  EXPECT_FALSE(ignores("a/b", "x/a/b"));
  EXPECT_FALSE(ignores("a/*", "a/b/c"));
}

TEST(IgnoreTest, TrailingSlashMeansFolders) {
  EXPECT_TRUE(ignores("build/", "x/build", true));
  EXPECT_FALSE(ignores("build/", "x/build", false));
}

TEST(IgnoreTest, DoubleStars) {
  EXPECT_TRUE(ignores("**/foo", "foo"));
  EXPECT_TRUE(ignores("**/foo", "a/b/foo"));
  EXPECT_TRUE(ignores("foo/**", "foo/a/b"));
  EXPECT_FALSE(ignores("foo/**", "foo", true));
  EXPECT_TRUE(ignores("a/**/b", "a/b"));
  EXPECT_TRUE(ignores("a/**/b", "a/x/y/b"));
  EXPECT_FALSE(ignores("a/**/b", "ax/b"));
  EXPECT_FALSE(ignores("a/**b", "a/x/b")) << "not alone between slashes: ordinary stars";
}

TEST(IgnoreTest, LaterRulesWin) {
  EXPECT_FALSE(ignores("*.txt\n!keep.txt\n", "keep.txt"));
  EXPECT_TRUE(ignores("!keep.txt\n*.txt\n", "keep.txt"));
}

TEST(IgnoreTest, CommentsSpacesAndEscapes) {
  EXPECT_FALSE(ignores("# a\n", "# a"));
  EXPECT_TRUE(ignores("\\#a\n", "#a"));
  EXPECT_TRUE(ignores("\\!a\n", "!a"));
  EXPECT_TRUE(ignores("a   \n", "a"));
  EXPECT_TRUE(ignores("a\\ \n", "a "));
  EXPECT_TRUE(ignores("a\r\n", "a"));
  EXPECT_TRUE(
      ignores("\xef\xbb\xbf"
              "a\n",
              "a"));
  EXPECT_FALSE(ignores("\n\n!\n/\n", "a"));
  EXPECT_FALSE(ignores("a\\", "a"));
}

TEST(IgnoreTest, Classes) {
  EXPECT_TRUE(ignores("[a-c]x", "bx"));
  EXPECT_FALSE(ignores("[!a-c]x", "bx"));
  EXPECT_TRUE(ignores("[^a-c]x", "dx"));
  EXPECT_TRUE(ignores("[]]x", "]x"));
  EXPECT_TRUE(ignores("[[:digit:]]x", "7x"));
  EXPECT_TRUE(ignores("[\\]]x", "]x"));
  EXPECT_FALSE(ignores("[ax", "ax"));
  EXPECT_TRUE(ignores("[a-]x", "-x"));
}

TEST(IgnoreTest, ManyStarsAreNotSlow) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_FALSE(ignores(pattern + "b", std::string(2000, 'a')));
}

// Random rules and paths, with git's own answer as the truth.
TEST(IgnoreTest, AgreesWithGit) {
  testing::TempDir dir;
  const auto git = [&](std::vector<std::string> arguments) {
    ProcessSpec spec{.command = {"git", "-C", dir.path().string()}};
    spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
    return run(std::move(spec), 60'000);
  };
  const Result<Completed> made = git({"init", "-q"});
  if (!made || made->exit_code != 0) GTEST_SKIP() << "needs git";

  const std::uint64_t seed = 20260101;
  Rng rng(seed);
  const auto pick = [&](std::vector<std::string> from) { return from[rng.below(from.size())]; };
  for (int round = 0; round < 60; ++round) {
    std::string rules;
    for (std::uint64_t i = 0; i < 1 + rng.below(4); ++i) {
      if (rng.below(4) == 0) rules += "!";
      for (std::uint64_t part = 0; part < 1 + rng.below(6); ++part) {
        rules += pick({"a", "b", "*", "**", "/", "?", "[ab]", "[!a]", "/**/", "**/", "/**", "\\a",
                       "[[:alpha:]]", "[a-"});
      }
      rules += pick({"\n", "/\n", " \n"});
    }
    // No folder is left out but the ones asked for: names of one and two letters, three deep.
    std::set<std::string> paths;
    while (paths.size() < 60) {
      std::string path;
      for (std::uint64_t part = 0; part < 1 + rng.below(3); ++part) {
        path += (path.empty() ? "" : "/") + pick({"a", "b", "ab", "ba", "aa"});
      }
      paths.insert(path);
      if (paths.size() >= 155) break;
    }
    ASSERT_TRUE(write_file_durably(dir.path() / ".gitignore", rules));
    std::vector<std::string> command = {"check-ignore", "--no-index", "--"};
    command.insert(command.end(), paths.begin(), paths.end());
    const Completed answer = git(command).value();
    ASSERT_LE(answer.exit_code, 1) << answer.errors;
    const IgnoreRules parsed = IgnoreRules::parse(rules);
    for (const std::string& path : paths) {
      const bool git_ignores = ("\n" + answer.output).contains("\n" + path + "\n");
      // A folder above that is left out decides.
      bool ours = false;
      for (std::size_t slash = path.find('/'); slash != std::string::npos && !ours;
           slash = path.find('/', slash + 1)) {
        ours = parsed.is_ignored(path.substr(0, slash), true);
      }
      ours = ours || parsed.is_ignored(path, false);
      ASSERT_EQ(ours, git_ignores)
          << "seed " << seed << " round " << round << " path " << path << " rules:\n"
          << rules;
    }
  }
}

}  // namespace
}  // namespace takt::content
