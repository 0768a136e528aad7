// SPDX-License-Identifier: Apache-2.0
// Folds full heads of metrics into chunks, in the background.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "takt/store/database.h"

namespace takt::track {

/// Owns one thread. Each step is one short write of its own, so a crash costs nothing but the step,
/// and other writes go between. Several servers on one database may each have one.
class MetricFolder {
 public:
  explicit MetricFolder(store::Database& db) : db_(db) {}
  ~MetricFolder() { stop(); }
  void start();
  /// Some head may be full. Any thread.
  void wake();
  void stop();
  /// One step; true when more is due. What the thread does until nothing is. For tests.
  Result<bool> step();

 private:
  void run();
  bool wait();

  store::Database& db_;
  std::mutex mutex_;  // guards the two below
  std::condition_variable wake_;
  bool is_woken_ = true;  // an earlier server may have left some
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace takt::track
