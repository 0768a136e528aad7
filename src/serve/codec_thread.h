// SPDX-License-Identifier: Apache-2.0
// One thread for bodies that take long to read or write, so that neither the network's thread nor
// the model's does it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "takt/base/error.h"

namespace takt::serve {

/// Runs tasks in order. The destructor runs what is queued, then ends the thread.
class CodecThread {
 public:
  using Task = std::move_only_function<void()>;

  explicit CodecThread(std::size_t tasks_max) : tasks_max_(tasks_max), thread_([this] { run(); }) {}
  ~CodecThread();
  CodecThread(const CodecThread&) = delete;
  CodecThread& operator=(const CodecThread&) = delete;

  /// Any thread. kExhausted when the queue is full; the task is not run then.
  Status add(Task task);

 private:
  void run();

  const std::size_t tasks_max_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<Task> tasks_;  // guarded by mutex_
  bool is_stopping_ = false;
  std::thread thread_;  // last: runs from the constructor on
};

}  // namespace takt::serve
