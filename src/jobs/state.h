// SPDX-License-Identifier: Apache-2.0
// What a job may become. One table; drawn in job.h. Everything that changes a state asks here.
#pragma once

#include <string_view>

#include "takt/jobs/job.h"

namespace takt::jobs {

enum class JobEvent {
  kPlaced,     // resources reserved, lease written
  kStarted,    // its shim has it
  kSucceeded,  // code 0 and outputs collected
  kFailed,     // the last attempt that it may have failed
  kRetried,    // an attempt failed, another will follow
  kCancelAsked,
  kGone,  // nothing of it runs any more, after a cancel
};
inline constexpr int kJobEvents = 7;
std::string_view job_event_name(JobEvent event);

/// The state after `event`; kConflict when it cannot happen in `state`.
Result<JobState> next(JobState state, JobEvent event);

}  // namespace takt::jobs
