// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/loop.h"

namespace takt::net::internal {
namespace {
thread_local Loop* current_loop = nullptr;
constexpr int kFinishRoundsMax = 1000;
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
  is_stopped_ = true;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
    return;
  }
  if (thread_.joinable()) thread_.join();
  finish_aborted();
}

// A coroutine that waits holds its loop, and the loop's queue holds the coroutine. What was aborted
// is ready to end: let it, here, now that the thread is gone.
void Loop::finish_aborted() {
  Loop* const outer = current_loop;
  current_loop = this;
  io_.restart();
  for (int round = 0; round < kFinishRoundsMax && io_.poll() > 0; ++round) {
  }
  io_.stop();
  current_loop = outer;
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
