// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/aside.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace takt::jobs {
namespace {

class ThreadAside final : public Aside {
 public:
  explicit ThreadAside(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ThreadAside() override {
    {
      const std::lock_guard guard(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(std::function<void()> task) override {
    {
      const std::lock_guard guard(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return is_over_ || !tasks_.empty(); });
        if (is_over_) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  bool is_over_ = false;                     // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Aside> make_thread_aside(int threads) {
  return std::make_unique<ThreadAside>(threads);
}

}  // namespace takt::jobs
