// SPDX-License-Identifier: Apache-2.0
#include "takt/app/backup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "takt/base/file.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/store/database.h"

namespace takt::app {
namespace {

namespace fs = std::filesystem;

class BackupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    data_dir_ = dir_.path() / "data";
    put("blobs/packs/a.pack", "a pack");
    put("blobs/loose/ab/cdef", "a blob");
    put("blobs/tmp/new-1", "half a blob");
    put("jobs/7/attempts/1/stdout.log", "epoch 1");
    put("jobs/7/attempts/1/exit.json", "{}");
    put("jobs/7/attempts/1/work/train.py", "print()");
    put("jobs/7/attempts/1/outputs/stdout.log", "an output of that name");
    put("jobs/7/checkpoint/deep/step", "3");
    db_ = std::move(
        *store::Database::open({.location = (data_dir_ / "takt.db").string()}, system_clock()));
    ASSERT_TRUE(db_->migrate({}));
  }
  void put(const std::string& path, const std::string& text) {
    fs::create_directories((data_dir_ / path).parent_path());
    std::ofstream(data_dir_ / path) << text;
  }
  /// A folder whose path is longer than the system takes, so that reading it fails for anyone.
  static void make_unreadable(const fs::path& below) {
    Fd at(::open(below.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string name(200, 'x');
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
      at = Fd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
  }
  std::string text_of(const fs::path& path) { return read_file(path).value_or("(missing)"); }

  testing::TempDir dir_;
  fs::path data_dir_;
  std::unique_ptr<store::Database> db_;
};

TEST_F(BackupTest, it_holds_content_logs_records_and_checkpoints_and_comes_back) {
  const auto backup = make_backup(*db_, data_dir_);
  ASSERT_TRUE(backup) << backup.error().text();
  const fs::path restored = dir_.path() / "restored";
  const Status back = restore_backup(backup->path, restored);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(text_of(restored / "blobs/packs/a.pack"), "a pack");
  EXPECT_EQ(text_of(restored / "blobs/loose/ab/cdef"), "a blob");
  EXPECT_EQ(text_of(restored / "jobs/7/attempts/1/stdout.log"), "epoch 1");
  EXPECT_EQ(text_of(restored / "jobs/7/attempts/1/exit.json"), "{}");
  EXPECT_EQ(text_of(restored / "jobs/7/checkpoint/deep/step"), "3");
  EXPECT_FALSE(fs::exists(restored / "blobs/tmp"));
  EXPECT_FALSE(fs::exists(restored / "jobs/7/attempts/1/work"));
  EXPECT_FALSE(fs::exists(restored / "jobs/7/attempts/1/outputs"));
}

TEST_F(BackupTest, one_that_would_miss_something_fails_and_leaves_nothing_behind) {
  make_unreadable(data_dir_ / "blobs/loose");
  const auto backup = make_backup(*db_, data_dir_);
  ASSERT_FALSE(backup);
  EXPECT_NE(backup.error().message.find("File name too long"), std::string::npos)
      << backup.error().text();
  EXPECT_TRUE(fs::is_empty(data_dir_ / "backups"));
}

TEST_F(BackupTest, a_backup_with_a_damaged_database_is_not_restored) {
  const auto backup = make_backup(*db_, data_dir_);
  ASSERT_TRUE(backup) << backup.error().text();
  fs::resize_file(backup->path / "takt.db", fs::file_size(backup->path / "takt.db") / 2);
  const fs::path restored = dir_.path() / "restored";
  const Status back = restore_backup(backup->path, restored);
  ASSERT_FALSE(back);
  EXPECT_NE(back.error().message.find("restoring"), std::string::npos) << back.error().text();
  EXPECT_FALSE(fs::exists(restored)) << "another try may use the folder";
}

}  // namespace
}  // namespace takt::app
