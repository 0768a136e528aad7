// SPDX-License-Identifier: Apache-2.0
// What an attempt's end means: its failure class, a reason with numbers, and whether to try again.
#pragma once

#include <string>

#include "takt/jobs/executor.h"

namespace takt::jobs {

struct Outcome {
  FailureClass failure = FailureClass::kNone;
  std::string reason;
  bool is_retryable = true;  // false: another attempt would end the same way
};
/// Of an attempt that ended with a record.
Outcome classify(const AttemptExit& exit, const JobSpec& spec);
/// Of one whose supervisor is gone.
Outcome lost_outcome();
/// Of one that was never started.
Outcome never_started_outcome();
/// Of one that was ended with everything else of the data folder.
Outcome halted_outcome();
/// Of one whose preparation or start failed.
Outcome launch_outcome(const Error& error);

/// "127: the command was not found"; "" when a code says nothing by itself.
std::string exit_code_meaning(int code);
/// "SIGKILL"
std::string signal_name(int signal);
/// What a person can do about it.
std::string next_step(FailureClass failure, const JobSpec& spec);

/// The memory cap of a job: its limit, else its reservation.
std::int64_t memory_cap_of(const JobSpec& spec);
/// Time before attempt number `retries_used` + 1: doubling, at most ten minutes.
std::int64_t back_off_ms(const JobSpec& spec, int retries_used);

}  // namespace takt::jobs
