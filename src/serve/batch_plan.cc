// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/batch_plan.h"

namespace takt::serve {

BatchPlan plan_batch(std::span<const Waiting> waiting, const BatchLimits& limits, Mono now) {
  std::size_t take = 1;
  std::int64_t rows = waiting.front().rows;
  while (take < waiting.size() && waiting[take].joins_first &&
         rows + waiting[take].rows <= limits.rows_max)
    rows += waiting[take++].rows;
  const bool is_closed = rows >= limits.rows_max || take < waiting.size();
  const std::int64_t left_us = waiting.front().arrived + limits.delay_us - now;
  if (is_closed || left_us <= 0) return {.take = take};
  return {.wait_us = left_us};
}

}  // namespace takt::serve
