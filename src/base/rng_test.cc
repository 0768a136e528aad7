// SPDX-License-Identifier: Apache-2.0
#include "takt/base/rng.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

// The reference implementation's first outputs for seed 1234567.
TEST(RngTest, SplitMix64Vectors) {
  Rng rng(1234567);
  EXPECT_EQ(rng.next(), 6457827717110365317ULL);
  EXPECT_EQ(rng.next(), 3203168211198807973ULL);
  EXPECT_EQ(rng.next(), 9817491932198370423ULL);
}

TEST(RngTest, RangesHold) {
  Rng rng(1);
  int counts[10] = {};
  for (int i = 0; i < 100'000; ++i) {
    const double number = rng.uniform();
    ASSERT_GE(number, 0.0);
    ASSERT_LT(number, 1.0);
    ++counts[rng.below(10)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

}  // namespace
}  // namespace takt
