// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/metrics.h"

#include <array>
#include <atomic>

namespace takt::jobs {
namespace {

constexpr std::size_t kFailures = static_cast<std::size_t>(FailureClass::kLost) + 1;

std::atomic<std::int64_t> submitted_count{0}, waiting_gauge{0}, placed_gauge{0};
std::array<std::atomic<std::int64_t>, kFailures> ended_counts{};

void add_metric(std::string& out, std::string_view name, std::string_view type,
                std::string_view help) {
  out += "# HELP " + std::string(name) + " " + std::string(help) + "\n# TYPE " + std::string(name) +
         " " + std::string(type) + "\n";
}

void add_plain(std::string& out, std::string_view name, std::string_view type,
               std::string_view help, std::int64_t value) {
  add_metric(out, name, type, help);
  out += std::string(name) + " " + std::to_string(value) + "\n";
}

}  // namespace

void count_submission() { ++submitted_count; }
void count_attempt_end(FailureClass failure) {
  ++ended_counts.at(static_cast<std::size_t>(failure));
}
void set_queue_gauges(std::int64_t waiting, std::int64_t placed) {
  waiting_gauge = waiting;
  placed_gauge = placed;
}

std::string render_job_metrics() {
  std::string out;
  add_plain(out, "takt_jobs_submitted_total", "counter", "Jobs submitted since the server started.",
            submitted_count);
  add_plain(out, "takt_jobs_waiting", "gauge", "Jobs that wait for resources.", waiting_gauge);
  add_plain(out, "takt_jobs_placed", "gauge", "Jobs that hold resources.", placed_gauge);
  add_metric(out, "takt_jobs_attempts_ended_total", "counter", "Attempts ended, by failure class.");
  for (std::size_t i = 0; i < kFailures; ++i)
    out += "takt_jobs_attempts_ended_total{failure=\"" +
           std::string(failure_class_name(static_cast<FailureClass>(i))) + "\"} " +
           std::to_string(ended_counts.at(i)) + "\n";
  return out;
}

}  // namespace takt::jobs
