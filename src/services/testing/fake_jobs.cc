// SPDX-License-Identifier: Apache-2.0
#include "takt/services/testing/fake_jobs.h"

namespace takt::services::testing {

Result<jobs::Job> FakeJobs::submit(const access::CanWrite& by, const jobs::Submission& submission) {
  for (const auto& [id, job] : jobs_)
    if (job.owner == submission.owner) return job;
  if (refusal_ && submission.spec.kind == jobs::JobKind::kReplica) {
    ++refused_;
    return fail(*refusal_);
  }
  jobs::Job job;
  job.id = {static_cast<std::int64_t>(jobs_.size()) + 1};
  job.project = by.project();
  job.spec = submission.spec;
  job.inputs = submission.inputs;
  job.owner = submission.owner;
  job.submitted_by = by.user();
  job.reason = "waits for 100m CPU";
  jobs_[job.id.value] = job;
  return job;
}

Result<jobs::Job> FakeJobs::get(const access::CanRead&, JobId id) {
  const auto found = jobs_.find(id.value);
  if (found == jobs_.end()) return fail(Code::kNotFound, "no such job");
  return found->second;
}

Result<std::optional<jobs::Job>> FakeJobs::find_by_owner(const access::CanRead&,
                                                         std::string_view owner) {
  for (const auto& [id, job] : jobs_)
    if (job.owner == owner) return job;
  return std::nullopt;
}

Result<jobs::Job> FakeJobs::cancel(const access::CanWrite&, JobId id, std::int64_t) {
  jobs::Job& job = jobs_.at(id.value);
  job.cancel_ms = clock_.now_ms();
  if (!jobs::is_final(job.state)) job.state = jobs::JobState::kStopping;
  return job;
}

std::vector<jobs::Job> FakeJobs::all() const {
  std::vector<jobs::Job> jobs;
  for (const auto& [id, job] : jobs_) jobs.push_back(job);
  return jobs;
}

std::vector<jobs::Job> FakeJobs::open(jobs::JobKind kind) const {
  std::vector<jobs::Job> jobs;
  for (const auto& [id, job] : jobs_)
    if (job.spec.kind == kind && !jobs::is_final(job.state)) jobs.push_back(job);
  return jobs;
}

void FakeJobs::run(JobId id) {
  jobs::Job& job = jobs_.at(id.value);
  job.state = jobs::JobState::kRunning;
  job.reason.clear();
  job.started_ms = clock_.now_ms();
  job.endpoints = {{"http", endpoint_of(id)}, {"grpc", endpoint_of(id)}};
}

void FakeJobs::end(JobId id, std::string reason) {
  jobs::Job& job = jobs_.at(id.value);
  job.state = job.cancel_ms > 0 ? jobs::JobState::kCancelled : jobs::JobState::kFailed;
  job.reason = std::move(reason);
  job.ended_ms = clock_.now_ms();
  job.endpoints.clear();
}

void FakeJobs::settle() {
  for (const jobs::Job& job : all()) {
    if (job.state == jobs::JobState::kWaiting) run(job.id);
    if (job.state == jobs::JobState::kStopping) end(job.id, "cancelled");
  }
}

}  // namespace takt::services::testing
