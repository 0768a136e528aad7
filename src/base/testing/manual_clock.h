// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "takt/base/clock.h"

namespace takt::testing {

/// A clock that moves only when told. Starts at 2026-01-01T00:00:00Z.
class ManualClock final : public Clock {
 public:
  UnixMs now_ms() const override { return 1767225600000 + us_ / 1000; }
  Mono mono() const override { return {us_}; }
  void sleep_ms(std::int64_t duration_ms) const override { us_ += duration_ms * 1000; }
  void advance_ms(std::int64_t ms) { us_ += ms * 1000; }

 private:
  mutable std::atomic<std::int64_t> us_{0};
};

}  // namespace takt::testing
