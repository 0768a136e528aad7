// SPDX-License-Identifier: Apache-2.0
#include "takt/shim/tree.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "takt/base/file.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/shim/command.h"

namespace takt::shim {
namespace {

TEST(Tree, without_cgroups_children_grandchildren_and_escapees_are_ended) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  takt::testing::TempDir dir;
  AttemptSpec spec;
  spec.folder = dir.path().string();
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.command = {"sh", "-c",
                  "sleep 1000 & (setsid sh -c 'sleep 1001 & exit' &) ; touch ready; wait"};
  const auto started = start_command(spec, (dir.path() / "log").string());
  ASSERT_TRUE(started) << started.error().text();
  for (int i = 0; i < 4000 && ::access((dir.path() / "ready").c_str(), F_OK) != 0; ++i)
    ::poll(nullptr, 0, 2);
  EXPECT_TRUE(std::ranges::count(descendants(::getpid()), *started) == 1);
  int reaped = 0;
  const bool gone = kill_tree(
      {}, "",
      [&reaped] {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) ++reaped;
      },
      10'000);
  EXPECT_TRUE(gone);
  EXPECT_GE(reaped, 3);
  EXPECT_TRUE(descendants(::getpid()).empty());
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

TEST(Tree, what_cannot_be_told_is_none) {
  EXPECT_EQ(oom_kills("/no/such/cgroup"), 0);
  EXPECT_EQ(cgroup_cpu_ms("/no/such/cgroup"), -1);
  EXPECT_TRUE(cgroup_members("/no/such/cgroup").empty());
}

TEST(Command, says_why_it_could_not_be_run) {
  takt::testing::TempDir dir;
  AttemptSpec spec;
  spec.folder = dir.path().string();
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.command = {"pythn"};
  const auto unknown = start_command(spec, (dir.path() / "log").string());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "cannot run 'pythn': No such file or directory; it is neither in the code folder nor "
            "in PATH, or its "
            "interpreter line is wrong");
  spec.command = {"true"};
  spec.folder = "/no/such/folder";
  EXPECT_FALSE(start_command(spec, (dir.path() / "log").string()));
}

}  // namespace
}  // namespace takt::shim
