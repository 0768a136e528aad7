// SPDX-License-Identifier: Apache-2.0
// The queue between a push stream's writers and its connection.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "takt/net/http.h"
#include "takt/net/internal/loop.h"

namespace takt::net::internal {

/// Bounded at kPushBytesMax: a client that falls behind is cut off.
class PushSink final : public StreamSink, public std::enable_shared_from_this<PushSink> {
 public:
  static constexpr std::size_t kPushBytesMax = 1 << 20;

  explicit PushSink(std::shared_ptr<Loop> loop)
      : loop_(std::move(loop)), changed_(loop_->executor()) {}

  // Any thread.
  bool send(std::string bytes) override;
  void close() override;
  bool is_open() const override;
  /// Nothing more will go out: the client is gone or too slow.
  void cut();

  struct Batch {
    std::string bytes;
    bool is_end = false;  // nothing will follow
    bool is_cut = false;  // end without a proper ending
  };
  /// Waits for bytes or the end. Loop thread, one caller.
  Task<Batch> next();

 private:
  void wake();

  std::shared_ptr<Loop> loop_;
  Signal changed_;
  mutable std::mutex mutex_;
  std::string bytes_;
  bool is_open_ = true;
  bool is_cut_ = false;
  bool is_waking_ = false;
};

}  // namespace takt::net::internal
