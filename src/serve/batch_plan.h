// SPDX-License-Identifier: Apache-2.0
// When a batch closes: a pure function from the queue and the time to a decision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/base/clock.h"

namespace takt::serve {

/// A waiting request as the policy sees it, oldest first.
struct Waiting {
  std::int64_t rows = 1;
  bool joins_first = false;  // same shapes but for the rows, so it may share a run with the oldest
  Mono arrived;
};

struct BatchLimits {
  std::int64_t rows_max = 1;  // rows of one run; a single request may have more, alone
  std::int64_t delay_us = 0;  // how long the oldest may wait for company
};

/// Run the oldest `take` requests together now; or, when `take` is 0, look again after `wait_us`
/// (or when more came).
struct BatchPlan {
  std::size_t take = 0;
  std::int64_t wait_us = 0;
};

/// A batch closes when it is full, when the next request does not fit or has other shapes, or when
/// the oldest has waited its delay. Order of arrival is kept. `waiting` must not be empty.
BatchPlan plan_batch(std::span<const Waiting> waiting, const BatchLimits& limits, Mono now);

}  // namespace takt::serve
