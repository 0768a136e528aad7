// SPDX-License-Identifier: Apache-2.0
#include "takt/base/lock.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "takt/base/file.h"
#include "takt/base/testing/temp_dir.h"

namespace takt {
namespace {

TEST(LockTest, IsHeldWhileItsHolderHasIt) {
  testing::TempDir dir;
  const std::filesystem::path path = dir.path() / "attempt.lock";
  EXPECT_FALSE(is_lock_held(path).value()) << "no file, no lock";
  Result<Fd> lock = lock_file(path);
  ASSERT_TRUE(lock);
  EXPECT_TRUE(is_lock_held(path).value());
  lock->reset();
  EXPECT_FALSE(is_lock_held(path).value());
}

TEST(LockTest, WithoutADescriptorNothingIsKnown) {
  testing::TempDir dir;
  const std::filesystem::path path = dir.path() / "attempt.lock";
  const Result<Fd> lock = lock_file(path);
  ASSERT_TRUE(lock);
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const ::rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Result<bool> held = is_lock_held(path);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(held) << "a lock that cannot be looked at must not count as free";
}

}  // namespace
}  // namespace takt
