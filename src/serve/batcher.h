// SPDX-License-Identifier: Apache-2.0
// Gathers waiting requests into runs of the engine.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "takt/base/clock.h"
#include "takt/serve/batch_runner.h"
#include "takt/serve/engine.h"
#include "takt/serve/job_queue.h"
#include "takt/serve/metrics.h"

namespace takt::serve {

struct BatcherOptions {
  BatchLimits limits;
  bool is_batchable = false;              // dimension 0 of everything counts rows
  std::size_t queue_requests_max = 1024;  // beyond: kExhausted
  int threads = 1;                        // runs at the same time
  std::int64_t quick_rows_max = 0;        // requests of at most so many rows take the quick lane
};

/// Runs a task on the caller's own thread after what that has at hand; empty: at once.
using RunLater = std::function<void(std::function<void()>)>;

/// Two lanes to the engine, each first in, first out, together bounded:
/// - the batcher's own threads take what is slow;
/// - the quick lane serves models whose run costs less than waking another thread. There the
///   submitting thread leads: it runs what has gathered until the lane is empty, while others only
///   add to it. A network thread leads later, after reading what has arrived on all its
///   connections, so that batches form without anyone waiting.
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
  Status submit(InferJob job, const RunLater& run_later = {});
  /// Refuses what comes; the queue is run to its end. Blocks until then.
  void stop();
  std::size_t queued() const;

 private:
  void work();
  void lead();
  Status check_room() const;
  /// Waits for something to run: dead jobs, or a batch; both empty at the end.
  struct Taken {
    std::vector<InferJob> dead, batch;
  };
  Taken take_slow();
  Taken take_quick();

  const std::shared_ptr<Engine> engine_;
  const BatcherOptions options_;
  Clock& clock_;
  BatchRunner runner_;

  mutable std::mutex mutex_;
  std::condition_variable idle_;      // threads with nothing to do
  std::condition_variable delaying_;  // threads that wait for a batch to fill
  JobQueue slow_;                     // guarded by mutex_, as are all below
  JobQueue quick_;
  bool is_led_ = false;  // someone leads the quick lane, or will
  int idle_count_ = 0;
  int delaying_count_ = 0;
  bool is_stopping_ = false;
  std::vector<std::jthread> threads_;  // constant after the constructor
};

}  // namespace takt::serve
