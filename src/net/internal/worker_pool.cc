// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/worker_pool.h"

#include <limits>
#include <system_error>

#include "takt/base/log.h"

namespace takt::net::internal {

bool WorkerPool::try_add(Task&& task) { return push(std::move(task), queue_max_); }

bool WorkerPool::add(Task&& task) {
  return push(std::move(task), std::numeric_limits<std::size_t>::max());
}

bool WorkerPool::push(Task&& task, std::size_t limit) {
  {
    std::lock_guard lock(mutex_);
    if (is_stopped_ || queue_.size() >= limit) return false;
    queue_.push_back(std::move(task));
    if (static_cast<std::size_t>(idle_) < queue_.size() &&
        threads_.size() < static_cast<std::size_t>(threads_max_)) {
      if (grow()) return true;
      if (threads_.empty()) {  // nobody would ever run it
        task = std::move(queue_.back());
        queue_.pop_back();
        return false;
      }
    }
  }
  wake_.notify_one();
  return true;
}

bool WorkerPool::grow() {
  try {
    threads_.emplace_back([this] { run(); });
    return true;
  } catch (const std::system_error& error) {  // the system has no thread for us now
    log_warn("a worker could not be started",
             {{"workers", static_cast<std::int64_t>(threads_.size())}, {"error", error.what()}});
    return false;
  }
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!queue_.empty()) {
      Task task = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      task();
      task = nullptr;  // its captures die outside the lock
      lock.lock();
      continue;
    }
    if (is_stopped_) return;
    ++idle_;
    wake_.wait(lock, [this] { return !queue_.empty() || is_stopped_; });
    --idle_;
  }
}

void WorkerPool::stop() {
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

std::size_t WorkerPool::queued() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

}  // namespace takt::net::internal
