// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/job.h"

#include <array>

namespace takt::jobs {
namespace {

constexpr std::array<std::string_view, 7> kStateNames{
    "waiting", "starting", "running", "stopping", "succeeded", "failed", "cancelled"};
constexpr std::array<std::string_view, 8> kFailureNames{
    "none", "exit_code", "signal", "out_of_memory", "timeout", "cancelled", "launch", "lost"};
constexpr std::array<std::string_view, 3> kKindNames{"task", "replica", "gateway"};

template <class Enum, std::size_t N>
Result<Enum> parse_word(const std::array<std::string_view, N>& names, std::string_view what,
                        std::string_view word) {
  std::string known;
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == word) return static_cast<Enum>(i);
    known += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  return fail(Code::kInvalid, "'" + std::string(word) + "' is not a " + std::string(what),
              "one of " + known);
}

}  // namespace

std::string_view job_state_name(JobState state) {
  return kStateNames.at(static_cast<std::size_t>(state));
}
Result<JobState> parse_job_state(std::string_view name) {
  return parse_word<JobState>(kStateNames, "job state", name);
}

std::string_view failure_class_name(FailureClass failure) {
  return kFailureNames.at(static_cast<std::size_t>(failure));
}
Result<FailureClass> parse_failure_class(std::string_view name) {
  return parse_word<FailureClass>(kFailureNames, "failure class", name);
}

std::string_view job_kind_name(JobKind kind) {
  return kKindNames.at(static_cast<std::size_t>(kind));
}
Result<JobKind> parse_job_kind(std::string_view name) {
  return parse_word<JobKind>(kKindNames, "job kind", name);
}

}  // namespace takt::jobs
