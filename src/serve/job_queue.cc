// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/job_queue.h"

#include <algorithm>
#include <utility>

namespace takt::serve {
namespace {

bool same_row_shape(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

bool is_dead(const InferJob& job, Mono now) {
  return (job.deadline && *job.deadline <= now) || (job.is_cancelled && job.is_cancelled());
}

}  // namespace

void JobQueue::push(InferJob job) {
  rows_ += job.rows;
  jobs_.push_back(std::move(job));
}

std::vector<InferJob> JobQueue::take_dead(Mono now) {
  std::vector<InferJob> dead;
  std::erase_if(jobs_, [&](InferJob& job) {
    if (!is_dead(job, now)) return false;
    rows_ -= job.rows;
    dead.push_back(std::move(job));
    return true;
  });
  return dead;
}

bool JobQueue::joins(const InferJob& job, const InferJob& first) const {
  if (!is_batchable_) return false;
  for (std::size_t i = 0; i < first.inputs.size(); ++i) {
    if (!same_row_shape(job.inputs[i].shape, first.inputs[i].shape)) return false;
  }
  return true;
}

BatchPlan JobQueue::plan(const BatchLimits& limits, Mono now) {
  view_.clear();
  std::int64_t rows = 0;
  for (const InferJob& job : jobs_) {
    const bool joins_first = !view_.empty() && joins(job, jobs_.front());
    rows += job.rows;
    view_.push_back({job.rows, joins_first, job.arrived});
    if (view_.size() > 1 && (!joins_first || rows > limits.rows_max)) break;  // decides already
  }
  return plan_batch(view_, limits, now);
}

std::vector<InferJob> JobQueue::take(std::size_t count) {
  const auto end = jobs_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<InferJob> batch(std::make_move_iterator(jobs_.begin()), std::make_move_iterator(end));
  jobs_.erase(jobs_.begin(), end);
  for (const InferJob& job : batch) rows_ -= job.rows;
  return batch;
}

}  // namespace takt::serve
