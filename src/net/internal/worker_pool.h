// SPDX-License-Identifier: Apache-2.0
// Threads for blocking work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace takt::net::internal {

/// A pool that grows to `threads_max` when all are busy, with a bounded queue. Owned by the server;
/// any thread may add. Tasks must not throw.
class WorkerPool {
 public:
  using Task = std::move_only_function<void()>;

  WorkerPool(int threads_max, std::size_t queue_max)
      : threads_max_(threads_max), queue_max_(queue_max) {}
  ~WorkerPool() { stop(); }

  /// False when the queue is full or the pool was stopped; the task is left untouched then.
  bool try_add(Task&& task);
  /// For the later steps of work that was admitted: beyond the bound, but not after stop().
  bool add(Task&& task);
  /// Runs what is queued, then ends the threads.
  void stop();
  std::size_t queued() const;

 private:
  bool push(Task&& task, std::size_t limit);
  void run();
  /// One more thread; the lock is held.
  bool grow();

  const int threads_max_;
  const std::size_t queue_max_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> queue_;
  std::vector<std::thread> threads_;
  int idle_ = 0;
  bool is_stopped_ = false;
};

}  // namespace takt::net::internal
