// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/exchange.h"

namespace takt::net::internal {
namespace {

// Its death without a call is an answer too.
class Pledge {
 public:
  Pledge(std::shared_ptr<Exchange> exchange, const Core& core)
      : exchange_(std::move(exchange)), core_(core) {}
  Pledge(const Pledge&) = delete;
  Pledge& operator=(const Pledge&) = delete;
  ~Pledge() {
    // A late drop may outlive the server, which answers everything before it ends.
    if (is_kept_.load() || exchange_->is_answered()) return;
    Error error{.code = Code::kInternal, .message = "the handler gave no answer"};
    exchange_->answer(error_response(core_, exchange_->route, exchange_->request, error));
  }
  void keep(Response response) {
    if (!is_kept_.exchange(true)) exchange_->answer(std::move(response));
  }

 private:
  std::shared_ptr<Exchange> exchange_;
  const Core& core_;
  std::atomic<bool> is_kept_ = false;
};

}  // namespace

void Exchange::answer(Response response) {
  if (is_answered_.exchange(true)) return;
  if (loop_->is_own_thread()) {
    response_ = std::move(response);
    answered_.notify();
    return;
  }
  asio::post(loop_->executor(),
             [self = shared_from_this(), response = std::move(response)]() mutable {
               self->response_ = std::move(response);
               self->answered_.notify();
             });
}

Responder Exchange::make_responder(const Core& core) {
  auto pledge = std::make_shared<Pledge>(shared_from_this(), core);
  return [pledge](Response response) { pledge->keep(std::move(response)); };
}

void Exchange::on_gone(std::function<void()> callback) {
  if (is_gone()) {
    callback();
  } else {
    gone_callback_ = std::move(callback);
  }
}

void Exchange::run_later(std::function<void()> task) {
  asio::post(loop_->executor(), std::move(task));
}

void Exchange::mark_gone() {
  is_gone_.store(true, std::memory_order_relaxed);
  if (auto callback = std::exchange(gone_callback_, nullptr)) callback();
}

}  // namespace takt::net::internal
