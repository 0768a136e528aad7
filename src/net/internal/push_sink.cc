// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/push_sink.h"

namespace takt::net::internal {

bool PushSink::send(std::string bytes) {
  {
    std::lock_guard lock(mutex_);
    if (!is_open_) return false;
    if (bytes_.size() + bytes.size() > kPushBytesMax) {
      is_open_ = false;
      is_cut_ = true;
    } else if (bytes_.empty()) {
      bytes_ = std::move(bytes);
    } else {
      bytes_ += bytes;
    }
  }
  wake();
  return is_open();
}

void PushSink::close() {
  {
    std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  wake();
}

void PushSink::cut() {
  {
    std::lock_guard lock(mutex_);
    is_open_ = false;
    is_cut_ = true;
  }
  wake();
}

bool PushSink::is_open() const {
  std::lock_guard lock(mutex_);
  return is_open_;
}

void PushSink::wake() {
  {
    std::lock_guard lock(mutex_);
    if (is_waking_) return;
    is_waking_ = true;
  }
  asio::post(loop_->executor(), [self = shared_from_this()] {
    {
      std::lock_guard lock(self->mutex_);
      self->is_waking_ = false;
    }
    self->changed_.notify();
  });
}

Task<PushSink::Batch> PushSink::next() {
  while (true) {
    {
      std::lock_guard lock(mutex_);
      if (is_cut_) co_return Batch{{}, true, true};
      if (!bytes_.empty() || !is_open_) {
        co_return Batch{std::exchange(bytes_, {}), !is_open_, false};
      }
    }
    co_await changed_.wait();
  }
}

}  // namespace takt::net::internal
