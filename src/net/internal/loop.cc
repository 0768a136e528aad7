// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/loop.h"

namespace takt::net::internal {
namespace {
thread_local Loop* current_loop = nullptr;
}  // namespace

Loop::Loop(const Clock& clock, std::int64_t tick_ms)
    : clock_(clock), tick_ms_(tick_ms), work_(io_.get_executor()), timer_(io_.get_executor()) {}

Loop::~Loop() { stop(); }

Loop* Loop::current() { return current_loop; }

void Loop::start() {
  thread_ = std::thread([this] {
    current_loop = this;
    io_.run();
    current_loop = nullptr;
  });
}

void Loop::stop() {
  work_.reset();
  io_.stop();
  if (thread_.joinable()) {
    if (thread_.get_id() == std::this_thread::get_id()) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }
}

Loop::Handle Loop::watch(Ticker& ticker) {
  tickers_.push_front(&ticker);
  if (!is_armed_) arm();
  return tickers_.begin();
}

void Loop::arm() {
  is_armed_ = true;
  timer_.expires_after(std::chrono::milliseconds(tick_ms_));
  timer_.async_wait([this](const error_code& error) {
    is_armed_ = false;
    if (error) return;
    Mono now = clock_.mono();
    for (auto it = tickers_.begin(); it != tickers_.end();) (*it++)->on_tick(now);
    if (!tickers_.empty()) arm();
  });
}

void Loop::drain() {
  for (auto it = tickers_.begin(); it != tickers_.end();) (*it++)->on_drain();
}

void Loop::abort() {
  for (auto it = tickers_.begin(); it != tickers_.end();) (*it++)->on_abort();
}

}  // namespace takt::net::internal
