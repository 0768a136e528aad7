// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/state.h"

#include <gtest/gtest.h>

#include <map>

namespace takt::jobs {
namespace {

using S = JobState;
using E = JobEvent;

TEST(JobState, every_pair_of_state_and_event_does_what_the_picture_says) {
  const std::map<std::pair<S, E>, S> allowed{
      {{S::kWaiting, E::kPlaced}, S::kStarting},
      {{S::kWaiting, E::kFailed}, S::kFailed},
      {{S::kWaiting, E::kCancelAsked}, S::kCancelled},
      {{S::kStarting, E::kStarted}, S::kRunning},
      {{S::kStarting, E::kFailed}, S::kFailed},
      {{S::kStarting, E::kRetried}, S::kWaiting},
      {{S::kStarting, E::kCancelAsked}, S::kStopping},
      {{S::kRunning, E::kSucceeded}, S::kSucceeded},
      {{S::kRunning, E::kFailed}, S::kFailed},
      {{S::kRunning, E::kRetried}, S::kWaiting},
      {{S::kRunning, E::kCancelAsked}, S::kStopping},
      {{S::kStopping, E::kCancelAsked}, S::kStopping},
      {{S::kStopping, E::kGone}, S::kCancelled},
  };
  for (int s = 0; s <= static_cast<int>(S::kCancelled); ++s) {
    for (int e = 0; e < kJobEvents; ++e) {
      const auto pair = std::make_pair(static_cast<S>(s), static_cast<E>(e));
      const auto result = next(pair.first, pair.second);
      const auto expected = allowed.find(pair);
      if (expected == allowed.end()) {
        ASSERT_FALSE(result) << s << " " << e;
        EXPECT_EQ(result.error().code, Code::kConflict);
      } else {
        ASSERT_TRUE(result) << s << " " << e;
        EXPECT_EQ(*result, expected->second);
      }
    }
  }
}

TEST(JobState, a_final_state_is_never_left) {
  for (const S state : {S::kSucceeded, S::kFailed, S::kCancelled}) {
    EXPECT_TRUE(is_final(state));
    for (int e = 0; e < kJobEvents; ++e) EXPECT_FALSE(next(state, static_cast<E>(e)));
  }
}

TEST(JobState, names_can_be_read_back) {
  for (int s = 0; s <= static_cast<int>(S::kCancelled); ++s) {
    const auto state = static_cast<S>(s);
    EXPECT_EQ(parse_job_state(job_state_name(state)).value(), state);
  }
  EXPECT_NE(parse_job_state("done").error().hint.find("succeeded"), std::string::npos);
}

}  // namespace
}  // namespace takt::jobs
