// SPDX-License-Identifier: Apache-2.0
#include "takt/shim/supervise.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "takt/base/file.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/base/value.h"

namespace takt::shim {
namespace {

/// A disk of 256 KiB at the path; none where mounting is not allowed.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path)
      : path_(path), is_there_(::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=256k") == 0) {}
  ~SmallDisk() {
    if (is_there_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  bool is_there() const { return is_there_; }

 private:
  const std::string path_;
  const bool is_there_;
};

/// Supervises in a process of its own, as the shim does.
int supervise_apart(const AttemptSpec& spec, const std::string& folder) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(supervise(spec, folder) ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Supervise, a_full_disk_does_not_lose_how_the_command_ended) {
  takt::testing::TempDir dir;
  const std::string folder = dir.path().string();
  SmallDisk disk(folder);
  if (!disk.is_there()) GTEST_SKIP() << "mounting a small disk needs root";
  AttemptSpec spec;
  spec.token = "9f";
  spec.folder = folder;
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.command = {"sh", "-c", "cat /dev/zero > fill; exit 7"};
  ASSERT_EQ(supervise_apart(spec, folder), 0);
  const auto record = read_file(dir.path() / "exit.json");
  ASSERT_TRUE(record) << record.error().text();
  EXPECT_EQ(parse_json(*record).value_or(Value()).int_or("code", -1), 7) << *record;
  EXPECT_NE(::access((folder + "/exit.spare").c_str(), F_OK), 0);
}

TEST(Supervise, leaves_the_record_alone_and_no_spare) {
  takt::testing::TempDir dir;
  const std::string folder = dir.path().string();
  AttemptSpec spec;
  spec.folder = folder;
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.command = {"sh", "-c", "test -e exit.spare && exit 7"};
  ASSERT_EQ(supervise_apart(spec, folder), 0);
  EXPECT_EQ(parse_json(read_file(dir.path() / "exit.json").value()).value().int_or("code", -1), 7);
  EXPECT_NE(::access((folder + "/exit.spare").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace takt::shim
