// SPDX-License-Identifier: Apache-2.0
// Which waiting jobs may start now, and why the others wait: a pure policy.
//
// Order: priority (9 first), then number. All of a job's request at once or nothing. A job that
// does not fit is passed by smaller ones behind it, until it has waited `hold_after_ms` as the
// first of those that could run: from then on nothing behind it is placed before it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "takt/jobs/job.h"

namespace takt::jobs {

struct QueuedJob {
  JobId id;
  int priority = 5;
  Resources resources;
  UnixMs submitted_ms = 0;
  UnixMs not_before_ms = 0;  // a retry's back-off
};
struct PlacedJob {
  JobId id;
  Resources resources;
};
struct QueueView {
  std::vector<QueuedJob> waiting;  // any order
  std::vector<PlacedJob> placed;   // starting, running or stopping
};

struct Place {
  JobId job;
};
struct Wait {
  JobId job;
  std::string reason;   // all blockers, with numbers
  UnixMs until_ms = 0;  // when a timer alone may change it; 0: not by time
};
using Decision = std::variant<Place, Wait>;

inline constexpr std::int64_t kHoldAfterMs = 10 * 60'000;

std::vector<Decision> plan(const QueueView& view, const Resources& capacity, UnixMs now,
                           std::int64_t hold_after_ms = kHoldAfterMs);

/// Why `asked` could never run on `capacity`, naming the spec's field and both numbers; success if
/// it could.
Status check_fits(const Resources& asked, const Resources& capacity);

Resources sum(const std::vector<PlacedJob>& placed);

}  // namespace takt::jobs
