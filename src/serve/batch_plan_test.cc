// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/batch_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace takt::serve {
namespace {

constexpr BatchLimits kLimits{.rows_max = 4, .delay_us = 100};

BatchPlan plan(std::initializer_list<Waiting> waiting, std::int64_t now_us,
               BatchLimits limits = kLimits) {
  return plan_batch(std::vector<Waiting>(waiting), limits, Mono{now_us});
}

TEST(BatchPlan, the_oldest_waits_for_company_until_its_delay_ends) {
  EXPECT_EQ(plan({{1, false, {0}}}, 30).take, 0U);
  EXPECT_EQ(plan({{1, false, {0}}}, 30).wait_us, 70);
  EXPECT_EQ(plan({{1, false, {0}}}, 100).take, 1U);
}

TEST(BatchPlan, without_a_delay_what_is_there_goes_at_once) {
  EXPECT_EQ(plan({{1, false, {5}}, {1, true, {5}}}, 5, {.rows_max = 4}).take, 2U);
}

TEST(BatchPlan, a_full_batch_goes_at_once) {
  EXPECT_EQ(plan({{2, false, {0}}, {2, true, {0}}, {1, true, {0}}}, 0).take, 2U);
}

TEST(BatchPlan, a_request_that_does_not_fit_closes_the_batch) {
  EXPECT_EQ(plan({{3, false, {0}}, {2, true, {0}}}, 0).take, 1U);
}

TEST(BatchPlan, other_shapes_close_the_batch_and_keep_their_turn) {
  EXPECT_EQ(plan({{1, false, {0}}, {1, false, {0}}, {1, true, {0}}}, 0).take, 1U);
}

TEST(BatchPlan, a_request_larger_than_a_batch_goes_alone) {
  EXPECT_EQ(plan({{9, false, {0}}, {1, true, {0}}}, 0).take, 1U);
}

}  // namespace
}  // namespace takt::serve
