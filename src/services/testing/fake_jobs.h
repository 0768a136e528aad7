// SPDX-License-Identifier: Apache-2.0
// Jobs without processes: tests move them by hand.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "takt/jobs/job_service.h"

namespace takt::services::testing {

class FakeJobs final : public jobs::JobService {
 public:
  explicit FakeJobs(Clock& clock) : clock_(clock) {}

  Result<jobs::Job> submit(const access::CanWrite& by, const jobs::Submission& submission) override;
  Result<jobs::Job> get(const access::CanRead& by, JobId id) override;
  Result<std::optional<jobs::Job>> find_by_owner(const access::CanRead& by,
                                                 std::string_view owner) override;
  Result<std::vector<jobs::Job>> list(const access::CanRead&, const jobs::JobFilter&) override {
    return all();
  }
  Result<jobs::Job> cancel(const access::CanWrite& by, JobId id, std::int64_t grace_ms) override;
  Result<jobs::LogChunk> log(const access::CanRead&, JobId, int, std::int64_t,
                             std::int64_t) override {
    return jobs::LogChunk{"loading\n{\"error\":\"the model is no ONNX\",\"level\":\"error\"}\n", 0,
                          0, true};
  }
  Result<jobs::CapacityUse> capacity(const access::CanRead&) override {
    return jobs::CapacityUse{};
  }

  std::vector<jobs::Job> all() const;
  /// Those of this kind that are not over.
  std::vector<jobs::Job> open(jobs::JobKind kind) const;
  /// It runs and listens at an address made of its number.
  void run(JobId id);
  void end(JobId id, std::string reason);
  /// Runs all that wait and ends all that were cancelled.
  void settle();
  /// Every submission of a replica ends like this, until it is called with nothing.
  void refuse(std::optional<Error> error) { refusal_ = std::move(error); }
  int refused() const { return refused_; }
  static std::string endpoint_of(JobId id) {
    return "127.0.0.1:" + std::to_string(10'000 + id.value);
  }

 private:
  Clock& clock_;
  std::map<std::int64_t, jobs::Job> jobs_;
  std::optional<Error> refusal_;
  int refused_ = 0;
};

}  // namespace takt::services::testing
