// SPDX-License-Identifier: Apache-2.0
// Time comes from here only, so that tests can own it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "takt/base/error.h"

namespace takt {

/// Milliseconds since 1970-01-01 UTC; what the store and the API hold.
using UnixMs = std::int64_t;

/// A point on the monotonic clock, for deadlines and durations; microseconds.
struct Mono {
  std::int64_t us = 0;
  auto operator<=>(const Mono&) const = default;
  Mono operator+(std::int64_t more_us) const { return {us + more_us}; }
  std::int64_t operator-(Mono other) const { return us - other.us; }
};

/// Source of time; one per process, injected. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual UnixMs now_ms() const = 0;
  virtual Mono mono() const = 0;
  virtual void sleep_ms(std::int64_t duration_ms) const = 0;
};

/// The real one.
Clock& system_clock();

/// When a caller stops waiting. Passed down by value.
struct Deadline {
  Mono at;
  static Deadline after_ms(const Clock& clock, std::int64_t ms) {
    return {clock.mono() + ms * 1000};
  }
  std::int64_t left_ms(const Clock& clock) const { return (at - clock.mono()) / 1000; }
};

/// "2026-11-30T14:36:05.123Z"
std::string format_time(UnixMs time_ms);
Result<UnixMs> parse_time(std::string_view text);

}  // namespace takt
