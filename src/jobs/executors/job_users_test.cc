// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/executors/job_users.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "takt/base/testing/manual_clock.h"
#include "takt/base/testing/temp_dir.h"

namespace takt::jobs {
namespace {

class JobUsersTest : public ::testing::Test {
 protected:
  /// A process of that user, as /proc shows one.
  void run_as(uid_t user, int pid) {
    const auto folder = dir_.path() / std::to_string(pid);
    std::filesystem::create_directory(folder);
    if (::geteuid() == 0) {
      ASSERT_EQ(::chown(folder.c_str(), user, user), 0);
    }
  }
  void end(int pid) { std::filesystem::remove(dir_.path() / std::to_string(pid)); }

  takt::testing::TempDir dir_;
  takt::testing::ManualClock clock_;
  JobUsers users_{64'000, 1'000, clock_, dir_.path()};
};

TEST_F(JobUsersTest, a_job_has_the_user_of_its_number) {
  EXPECT_EQ(users_.choose(JobId{7}), 64'007u);
  EXPECT_EQ(users_.choose(JobId{7}), 64'007u) << "its next attempt may have it again";
}

TEST_F(JobUsersTest, two_that_start_at_once_never_share_one) {
  EXPECT_EQ(users_.choose(JobId{7}), 64'007u);
  EXPECT_EQ(users_.choose(JobId{1007}), 64'008u);
  EXPECT_EQ(users_.choose(JobId{8}), 64'009u);
  clock_.advance_ms(120'000);
  EXPECT_EQ(users_.choose(JobId{1007}), 64'007u) << "neither runs any more";
}

TEST_F(JobUsersTest, the_user_of_one_that_runs_on_is_given_to_no_other) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  run_as(64'005, 100);
  std::filesystem::create_directory(dir_.path() / "sys");
  clock_.advance_ms(120'000);
  EXPECT_EQ(users_.choose(JobId{1005}), 64'006u);
  end(100);
  clock_.advance_ms(120'000);
  EXPECT_EQ(users_.choose(JobId{2005}), 64'005u);
}

TEST_F(JobUsersTest, when_all_are_taken_it_is_its_own) {
  JobUsers few(64'000, 2, clock_, dir_.path());
  EXPECT_EQ(few.choose(JobId{1}), 64'001u);
  EXPECT_EQ(few.choose(JobId{2}), 64'000u);
  EXPECT_EQ(few.choose(JobId{3}), 64'001u);
}

}  // namespace
}  // namespace takt::jobs
