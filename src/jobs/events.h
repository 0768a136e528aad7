// SPDX-License-Identifier: Apache-2.0
// The events that this room appends, each in the transaction of the change it tells of.
#pragma once

#include "takt/jobs/job.h"
#include "takt/store/event_log.h"

namespace takt::jobs::events {

inline constexpr std::string_view kSubmitted = "job.submitted";
inline constexpr std::string_view kPlaced = "job.placed";
inline constexpr std::string_view kStarted = "job.started";
inline constexpr std::string_view kAttemptEnded = "job.attempt-ended";
inline constexpr std::string_view kEnded = "job.ended";
inline constexpr std::string_view kCancelAsked = "job.cancel-asked";

/// Subject job/N; the details always hold `name` and `state`, and what `more` adds.
Status append(store::Tx& tx, const Job& job, std::string_view verb, const UserId& actor,
              Object more = {});

}  // namespace takt::jobs::events
