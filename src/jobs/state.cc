// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/state.h"

#include <array>

namespace takt::jobs {
namespace {

constexpr std::array<std::string_view, kJobEvents> kEventNames{
    "placed", "started", "succeeded", "failed", "retried", "cancel-asked", "gone"};

struct Edge {
  JobState from;
  JobEvent event;
  JobState to;
};
constexpr Edge kEdges[] = {
    {JobState::kWaiting, JobEvent::kPlaced, JobState::kStarting},
    {JobState::kWaiting, JobEvent::kFailed, JobState::kFailed},  // can never run any more
    {JobState::kWaiting, JobEvent::kCancelAsked, JobState::kCancelled},
    {JobState::kStarting, JobEvent::kStarted, JobState::kRunning},
    {JobState::kStarting, JobEvent::kFailed, JobState::kFailed},
    {JobState::kStarting, JobEvent::kRetried, JobState::kWaiting},
    {JobState::kStarting, JobEvent::kCancelAsked, JobState::kStopping},
    {JobState::kRunning, JobEvent::kSucceeded, JobState::kSucceeded},
    {JobState::kRunning, JobEvent::kFailed, JobState::kFailed},
    {JobState::kRunning, JobEvent::kRetried, JobState::kWaiting},
    {JobState::kRunning, JobEvent::kCancelAsked, JobState::kStopping},
    {JobState::kStopping, JobEvent::kCancelAsked, JobState::kStopping},
    {JobState::kStopping, JobEvent::kGone, JobState::kCancelled},
};

}  // namespace

std::string_view job_event_name(JobEvent event) {
  return kEventNames.at(static_cast<std::size_t>(event));
}

Result<JobState> next(JobState state, JobEvent event) {
  for (const Edge& edge : kEdges)
    if (edge.from == state && edge.event == event) return edge.to;
  return fail(Code::kConflict, "a " + std::string(job_state_name(state)) + " job cannot be " +
                                   std::string(job_event_name(event)));
}

}  // namespace takt::jobs
