// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/codec_thread.h"

#include <string>
#include <utility>

namespace takt::serve {

CodecThread::~CodecThread() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wakes_.notify_one();
  thread_.join();
}

Status CodecThread::add(Task task) {
  const std::lock_guard lock(mutex_);
  if (tasks_.size() >= tasks_max_) {
    return fail(Code::kExhausted,
                std::to_string(tasks_.size()) + " large bodies are waiting, the most allowed",
                "send the request again later, or its tensors in binary form");
  }
  tasks_.push_back(std::move(task));
  wakes_.notify_one();
  return {};
}

void CodecThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wakes_.wait(lock, [this] { return !tasks_.empty() || is_stopping_; });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds dies unlocked
    lock.lock();
  }
}

}  // namespace takt::serve
