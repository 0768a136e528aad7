// SPDX-License-Identifier: Apache-2.0
// One request and its answer, between the network thread and whoever answers.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "takt/net/internal/core.h"
#include "takt/net/internal/head_parser.h"

namespace takt::net::internal {

/// Holds the request until the last user is done with it. The answer is taken once; later ones are
/// ignored.
class Exchange final : public ClientWatch, public std::enable_shared_from_this<Exchange> {
 public:
  explicit Exchange(std::shared_ptr<Loop> loop)
      : loop_(std::move(loop)), answered_(loop_->executor()), parser(request) {}

  /// Any thread. Only the first call counts.
  void answer(Response response);
  bool is_answered() const { return is_answered_.load(); }
  /// Waits for the answer. Loop thread.
  Task<void> wait_answer() { return answered_.wait(); }
  Response take_answer() {
    gone_callback_ = nullptr;  // it may hold this exchange
    return std::move(*response_);
  }
  /// For async handlers: a copyable function, which answers 500 when dropped without a call.
  Responder make_responder(const Core& core);

  bool is_gone() const override { return is_gone_.load(std::memory_order_relaxed); }
  void on_gone(std::function<void()> callback) override;
  void run_later(std::function<void()> task) override;
  /// Loop thread: the client went away.
  void mark_gone();

 private:
  std::shared_ptr<Loop> loop_;
  Signal answered_;
  std::optional<Response> response_;
  std::atomic<bool> is_answered_ = false;
  std::atomic<bool> is_gone_ = false;
  std::function<void()> gone_callback_;

 public:
  Request request;
  HeadParser parser;
  const Route* route = nullptr;
  Mono start;
};

}  // namespace takt::net::internal
