// SPDX-License-Identifier: Apache-2.0
// A bounded set of read-only connections, opened when first needed.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "takt/store/internal/connection.h"

namespace takt::store::internal {

/// Thread-safe. A reader holds its connection for the whole snapshot.
class ReaderPool {
 public:
  ReaderPool(Engine& engine, const Clock& clock, int readers_max)
      : engine_(engine), clock_(clock), readers_max_(readers_max) {}

  Status read(Deadline deadline, const ReadFn& fn);

 private:
  Result<std::unique_ptr<Connection>> acquire(Deadline deadline);
  void release(std::unique_ptr<Connection> connection);
  Status begin(std::unique_ptr<Connection>& connection, Deadline deadline);

  Engine& engine_;
  const Clock& clock_;
  const int readers_max_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Connection>> idle_;  // under mutex_
  int in_use_ = 0;                                 // under mutex_
};

}  // namespace takt::store::internal
