// SPDX-License-Identifier: Apache-2.0
// Gathers waiting requests into runs of the engine and deals out the rows of the answers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "takt/base/clock.h"
#include "takt/serve/batch_plan.h"
#include "takt/serve/engine.h"
#include "takt/serve/metrics.h"

namespace takt::serve {

struct BatcherOptions {
  BatchLimits limits;
  bool is_batchable = false;              // dimension 0 of everything counts rows
  std::size_t queue_requests_max = 1024;  // beyond: kExhausted
  int threads = 1;                        // runs at the same time
  std::int64_t inline_rows_max = 0;       // requests so small are run where they are submitted
};

/// One request in the queue.
struct InferJob {
  std::vector<Tensor> inputs;  // in the model's order, checked
  std::int64_t rows = 1;
  std::optional<Mono> deadline;        // past it: kTimeout, not run
  std::function<bool()> is_cancelled;  // may be empty; true: the client is gone
  /// Called once, on the batcher's thread; must not block. All outputs in the model's order.
  std::move_only_function<void(Result<std::vector<Tensor>>)> done;
  Mono arrived;  // set by submit
};

/// Owns the threads that call the engine. The queue is bounded; requests run in order of arrival.
/// A request of a model so quick that handing it over would cost more than running it is run on the
/// thread that submits it.
/// A run of several that fails is repeated one by one, so that nobody fails for another's values.
class Batcher {
 public:
  Batcher(std::shared_ptr<Engine> engine, BatcherOptions options, Clock& clock,
          ServeMetrics& metrics);
  /// Ends what is queued, then the threads.
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  /// Any thread. kExhausted when the queue is full, kUnavailable after stop(); `done` is not called
  /// then.
  Status submit(InferJob job);
  /// Refuses what comes; the queue is run to its end. Blocks until then.
  void stop();
  std::size_t queued() const;

 private:
  void run_loop();
  Status enqueue(InferJob job);
  std::vector<InferJob> take_batch();
  void drop_dead(std::vector<InferJob>& dead);
  BatchPlan plan(Mono now);
  bool joins(const InferJob& job, const InferJob& first) const;
  void run_batch(std::vector<InferJob> batch);
  void run_one(InferJob job);
  Result<std::vector<Tensor>> run_merged(std::span<const InferJob> batch, std::int64_t rows);
  void finish(InferJob job, Result<std::vector<Tensor>> outputs);

  const std::shared_ptr<Engine> engine_;
  const BatcherOptions options_;
  Clock& clock_;
  ServeMetrics& metrics_;

  mutable std::mutex mutex_;
  std::condition_variable idle_;      // threads with nothing to do
  std::condition_variable delaying_;  // threads that wait for a batch to fill
  std::deque<InferJob> queue_;        // guarded by mutex_, as are all below
  std::vector<Waiting> view_;         // reused by plan()
  std::int64_t queued_rows_ = 0;
  int idle_count_ = 0;
  int delaying_count_ = 0;
  std::atomic<bool> is_stopping_ = false;  // written under mutex_
  std::vector<std::jthread> threads_;      // constant after the constructor
};

}  // namespace takt::serve
