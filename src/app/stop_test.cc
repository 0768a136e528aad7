// SPDX-License-Identifier: Apache-2.0
#include "takt/app/stop.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "takt/base/testing/temp_dir.h"

namespace takt::app {
namespace {

TEST(Stop, no_lock_is_no_server) {
  takt::testing::TempDir dir;
  EXPECT_FALSE(stop_server(dir.path(), 0).value());
}

TEST(Stop, a_lock_that_cannot_be_looked_at_is_not_taken_for_no_server) {
  takt::testing::TempDir dir;
  std::filesystem::create_symlink("server.lock", dir.path() / "server.lock");  // to itself
  EXPECT_FALSE(stop_server(dir.path(), 0));
}

}  // namespace
}  // namespace takt::app
