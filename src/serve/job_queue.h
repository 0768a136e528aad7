// SPDX-License-Identifier: Apache-2.0
// Requests that wait for a run of the model.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "takt/base/clock.h"
#include "takt/serve/batch_plan.h"
#include "takt/serve/tensor.h"

namespace takt::serve {

/// One request in the queue.
struct InferJob {
  std::vector<Tensor> inputs;  // in the model's order, checked
  std::int64_t rows = 1;
  std::optional<Mono> deadline;        // past it: kTimeout, not run
  std::function<bool()> is_cancelled;  // may be empty; true: the client is gone
  /// Called once, on the thread that ran it; must not block. All outputs in the model's order.
  std::move_only_function<void(Result<std::vector<Tensor>>)> done;
  Mono arrived;  // set by Batcher::submit
};

/// First in, first out. Not thread-safe: its owner locks.
class JobQueue {
 public:
  explicit JobQueue(bool is_batchable) : is_batchable_(is_batchable) {}

  bool empty() const { return jobs_.empty(); }
  std::size_t size() const { return jobs_.size(); }
  std::int64_t rows() const { return rows_; }

  void push(InferJob job);
  /// Takes out what is past its deadline or whose client is gone.
  std::vector<InferJob> take_dead(Mono now);
  /// What to do with the oldest ones now; the queue must not be empty.
  BatchPlan plan(const BatchLimits& limits, Mono now);
  std::vector<InferJob> take(std::size_t count);

 private:
  bool joins(const InferJob& job, const InferJob& first) const;

  const bool is_batchable_;
  std::deque<InferJob> jobs_;
  std::vector<Waiting> view_;  // reused by plan()
  std::int64_t rows_ = 0;
};

}  // namespace takt::serve
