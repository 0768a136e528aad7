// SPDX-License-Identifier: Apache-2.0
// A network thread.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <thread>

#include "takt/base/clock.h"
#include "takt/net/internal/asio.h"

namespace takt::net::internal {

/// Something with deadlines, asked a few times a second. Loop thread only.
class Ticker {
 public:
  virtual ~Ticker() = default;
  virtual void on_tick(Mono now) = 0;
  /// The server drains: end what has no request in flight.
  virtual void on_drain() = 0;
  /// End now.
  virtual void on_abort() = 0;
};

/// One io_context with its thread. One coarse timer serves all deadlines of the loop (a timer per
/// operation costs a system call each) and runs only while there is something to watch. Shared by
/// whatever may post to it late.
class Loop : public std::enable_shared_from_this<Loop> {
 public:
  explicit Loop(const Clock& clock, std::int64_t tick_ms = 100);
  ~Loop();

  void start();
  /// Ends the thread; what is still queued is dropped.
  void stop();
  /// Nothing that is posted from now on runs.
  bool is_stopped() const { return is_stopped_; }
  /// The loop whose thread this is, or null.
  static Loop* current();

  asio::io_context& io() { return io_; }
  Executor executor() { return io_.get_executor(); }
  const Clock& clock() const { return clock_; }
  bool is_own_thread() const { return current() == this; }

  // Loop thread only.
  using Handle = std::list<Ticker*>::iterator;
  Handle watch(Ticker& ticker);
  void unwatch(Handle handle) { tickers_.erase(handle); }
  void drain();
  void abort();

 private:
  void arm();
  void finish_aborted();

  const Clock& clock_;
  const std::int64_t tick_ms_;
  asio::io_context io_{1};
  asio::executor_work_guard<Executor> work_;
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>, Executor>
      timer_;
  bool is_armed_ = false;
  std::atomic<bool> is_stopped_ = false;
  std::list<Ticker*> tickers_;
  std::thread thread_;
};

}  // namespace takt::net::internal
