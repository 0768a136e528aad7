// SPDX-License-Identifier: Apache-2.0
#include "takt/base/safe_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "takt/base/testing/temp_dir.h"

namespace takt {
namespace {

TEST(SafePathTest, OrdinaryPathsPass) {
  for (const char* path : {"a",     "a/b/c",  "a.b",     "..a",        "a..",   "...", ".hidden",
                           "a b",   "ä/你好", "a/..b/c", "C:",         "~",     "-rf", "%2e%2e",
                           "a%2fb", "&lt;",   "con",     "a/b.tar.gz", "$HOME", "`x`"}) {
    EXPECT_TRUE(check_relative_path(path)) << path;
  }
}

// Spellings seen in published path traversal reports, and variations of them.
TEST(SafePathTest, TraversalSpellingsAreRefused) {
  const std::string_view kSpellings[] = {
      "",
      "/",
      "//",
      "/etc/passwd",
      "//etc/passwd",
      ".",
      "..",
      "./",
      "../",
      "./a",
      "../a",
      "a/..",
      "a/.",
      "a/../b",
      "a/./b",
      "a//b",
      "a/",
      "a/b/",
      "a/b/../../..",
      "../../../../etc/passwd",
      "a/../../etc/passwd",
      "..\\..\\windows\\win.ini",
      "a\\..\\b",
      "\\",
      "\\\\server\\share",
      "a\\b",
      "..\\/",
      "....//../",
      "..;/../",
      "a/..\\..",
      std::string_view("a\0b", 3),
      std::string_view("..\0/", 4),
      std::string_view("../\0", 4),
      "a\nb",
      "..\n/a",
      "a\rb",
      "a\tb",
      "a\x7f",
      "\x1b[31m",
      "\xc0\xae\xc0\xae/a",  // overlong dots
      "\xc0\xaf"
      "etc",                         // overlong slash
      "\xe0\x80\xae\xe0\x80\xae/a",  // overlong dots, three bytes
      "a\xff",
      "\xed\xa0\x80",
  };
  for (const std::string_view path : kSpellings) {
    const Status status = check_relative_path(path);
    ASSERT_FALSE(status) << path;
    EXPECT_EQ(status.error().code, Code::kInvalid) << path;
  }
  EXPECT_FALSE(check_relative_path(std::string(4097, 'a')));
  EXPECT_FALSE(check_relative_path(std::string(256, 'a')));
  EXPECT_TRUE(check_relative_path(std::string(255, 'a') + "/" + std::string(255, 'b')));
}

TEST(SafePathTest, MessagesNameThePath) {
  EXPECT_EQ(check_relative_path("a/../b").error().text(),
            "path \"a/../b\" has the name ..; use a relative path with / between names");
  EXPECT_EQ(check_relative_path("/etc").error().message, "path \"/etc\" is absolute");
  EXPECT_EQ(check_relative_path("a\nb").error().message, "path \"a?b\" has a control character");
}

class SafeRootTest : public ::testing::Test {
 protected:
  SafeRootTest() {
    EXPECT_TRUE(make_dirs(dir_.path() / "root" / "in"));
    EXPECT_TRUE(write_file_durably(dir_.path() / "secret", "secret"));
    EXPECT_TRUE(write_file_durably(root_path() / "in" / "file", "content"));
    root_ = SafeRoot::open(root_path()).value();
  }
  std::filesystem::path root_path() const { return dir_.path() / "root"; }
  void link(const std::string& target, const std::string& name) {
    ASSERT_EQ(::symlink(target.c_str(), (root_path() / name).c_str()), 0);
  }
  Code read_error(std::string_view path) { return root_.resolve(path)->open_read().error().code; }

  testing::TempDir dir_;
  SafeRoot root_;
};

TEST_F(SafeRootTest, ReadsWhatLiesBeneath) {
  const SafePath path = root_.resolve("in/file").value();
  EXPECT_EQ(path.relative(), "in/file");
  const Fd file = path.open_read().value();
  char text[16] = {};
  EXPECT_EQ(::read(file.get(), text, sizeof text), 7);
  EXPECT_STREQ(text, "content");
  EXPECT_EQ(read_error("in/none"), Code::kNotFound);
  EXPECT_EQ(read_error("in/file/x"), Code::kInvalid);
}

TEST_F(SafeRootTest, ResolveRefusesTraversal) {
  EXPECT_EQ(root_.resolve("../secret").error().code, Code::kInvalid);
  EXPECT_EQ(root_.resolve("/etc/passwd").error().code, Code::kInvalid);
}

TEST_F(SafeRootTest, SymbolicLinksAreNotFollowed) {
  link("../secret", "out");
  link("/etc", "etc");
  link("in/file", "inside");
  link("in", "folder");
  link("loop", "loop");
  link("/proc/self/root", "magic");
  for (const char* path :
       {"out", "etc/passwd", "inside", "folder/file", "loop", "magic/etc/passwd"}) {
    EXPECT_EQ(read_error(path), Code::kDenied) << path;
  }
  EXPECT_EQ(root_.resolve("out")->open_read().error().text(),
            "\"out\" leads through a symbolic link; symbolic links are not followed here");
  EXPECT_FALSE(root_.resolve("folder/new")->create());
  EXPECT_FALSE(root_.resolve("out")->create());
  EXPECT_FALSE(root_.resolve("folder/a/b")->make_parents());
  EXPECT_FALSE(std::filesystem::exists(root_path() / "in" / "a"));
}

TEST_F(SafeRootTest, OnlyRegularFilesAreRead) {
  EXPECT_EQ(read_error("in"), Code::kInvalid);
  ASSERT_EQ(::mkfifo((root_path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_error("pipe"), Code::kInvalid) << "and without waiting for a writer";
}

TEST_F(SafeRootTest, CreatesNewFilesOnly) {
  const SafePath path = root_.resolve("new/deep/file").value();
  EXPECT_EQ(path.create().error().code, Code::kNotFound);
  ASSERT_TRUE(path.make_parents());
  ASSERT_TRUE(path.make_parents()) << "again is fine";
  {
    const Fd file = path.create(0600).value();
    EXPECT_TRUE(write_all(file.get(), "x"));
  }
  EXPECT_EQ(read_file(root_path() / "new/deep/file").value(), "x");
  EXPECT_EQ(path.create().error().code, Code::kConflict);
  EXPECT_FALSE(root_.resolve("in/file/x")->make_parents());
}

TEST_F(SafeRootTest, KeepsItsFolderWhenThatIsRenamed) {
  std::filesystem::rename(root_path(), dir_.path() / "moved");
  EXPECT_TRUE(root_.resolve("in/file")->open_read());
}

TEST(SafeRootOpenTest, NeedsAFolder) {
  EXPECT_EQ(SafeRoot::open("/no/such").error().code, Code::kNotFound);
  EXPECT_EQ(SafeRoot::open("/etc/passwd").error().code, Code::kInvalid);
}

}  // namespace
}  // namespace takt
