// SPDX-License-Identifier: Apache-2.0
#include "takt/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "takt/base/testing/temp_dir.h"

namespace takt {
namespace {

namespace fs = std::filesystem;

std::size_t count_items(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(FileTest, WritesDurablyAndReadsBack) {
  testing::TempDir dir;
  const fs::path path = dir.path() / "a.json";
  ASSERT_TRUE(write_file_durably(path, "one"));
  ASSERT_TRUE(write_file_durably(path, "two", 0600));
  EXPECT_EQ(read_file(path).value(), "two");
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(count_items(dir.path()), 1u) << "no temporary file stays";
}

TEST(FileTest, WriteErrorsLeaveNothing) {
  testing::TempDir dir;
  EXPECT_EQ(write_file_durably(dir.path() / "no" / "a", "x").error().code, Code::kNotFound);
  ASSERT_TRUE(make_dirs(dir.path() / "folder" / "in"));
  EXPECT_FALSE(write_file_durably(dir.path() / "folder", "x"));
  EXPECT_EQ(count_items(dir.path()), 1u);
}

TEST(FileTest, ReadLimits) {
  testing::TempDir dir;
  const fs::path path = dir.path() / "a";
  ASSERT_TRUE(write_file_durably(path, std::string(100, 'x')));
  EXPECT_EQ(read_file(path, 100)->size(), 100u);
  const Result<std::string> large = read_file(path, 99);
  EXPECT_EQ(large.error().code, Code::kTooLarge);
  EXPECT_EQ(large.error().message, path.string() + " is larger than the limit of 99 bytes");
  EXPECT_EQ(read_file(dir.path() / "none").error().code, Code::kNotFound);
  EXPECT_EQ(read_file(dir.path()).error().code, Code::kInvalid);
  ASSERT_TRUE(write_file_durably(path, std::string(300'000, 'y')));
  EXPECT_EQ(read_file(path)->size(), 300'000u);
  ASSERT_TRUE(write_file_durably(path, ""));
  EXPECT_EQ(read_file(path).value(), "");
  EXPECT_FALSE(read_file("/proc/self/status")->empty()) << "a file that says it is empty";
}

TEST(FileTest, FoldersAreMadeAndRemoved) {
  testing::TempDir dir;
  const fs::path deep = dir.path() / "a" / "b" / "c";
  ASSERT_TRUE(make_dirs(deep));
  ASSERT_TRUE(make_dirs(deep)) << "making it again is fine";
  ASSERT_TRUE(write_file_durably(deep / "f", "x", 0444));
  EXPECT_FALSE(make_dirs(deep / "f" / "g"));
  ASSERT_EQ(::symlink("/etc", (deep / "link").c_str()), 0);
  ASSERT_EQ(::chmod(deep.c_str(), 0555), 0);
  ASSERT_TRUE(remove_tree(dir.path() / "a"));
  EXPECT_FALSE(fs::exists(dir.path() / "a"));
  EXPECT_TRUE(fs::exists("/etc/passwd"));
  EXPECT_TRUE(remove_tree(dir.path() / "never was"));
}

TEST(FileTest, WriteAllReportsAFullDisk) {
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  EXPECT_EQ(write_all(full.get(), "x").error().code, Code::kExhausted);
  EXPECT_TRUE(write_all(full.get(), ""));
}

TEST(FileTest, LocksExcludeEachOther) {
  testing::TempDir dir;
  const fs::path path = dir.path() / "server.lock";
  EXPECT_FALSE(is_locked(path)) << "no file, no lock";
  Result<Fd> lock = lock_file(path);
  ASSERT_TRUE(lock);
  EXPECT_TRUE(is_locked(path));
  const Result<Fd> second = lock_file(path);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_EQ(second.error().message, path.string() + " is locked by another process");
  lock->reset();
  EXPECT_FALSE(is_locked(path));
  EXPECT_TRUE(lock_file(path));
}

TEST(FileTest, FdMovesAndCloses) {
  Fd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  Fd second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT: moved from, by contract empty
  EXPECT_EQ(second.get(), number);
  second.reset();
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace takt
