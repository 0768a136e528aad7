// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/reader_pool.h"

#include <algorithm>
#include <chrono>

namespace takt::store::internal {

Status ReaderPool::read(Deadline deadline, const ReadFn& fn) {
  TAKT_ASSIGN(auto connection, acquire(deadline));
  Status status = connection != nullptr ? Status{} : Status{fail(Code::kInternal, "no connection")};
  if (status) status = begin(connection, deadline);
  if (status) {
    ConnectionReader reader(*connection);
    status = fn(reader);
  }
  // Also when it did not begin: nothing half open may lie among the idle ones.
  if (connection != nullptr && (!status || !connection->commit())) connection->rollback();
  release(std::move(connection));
  return status;
}

Result<std::unique_ptr<Connection>> ReaderPool::acquire(Deadline deadline) {
  {
    std::unique_lock lock(mutex_);
    const auto left =
        std::chrono::milliseconds(std::max<std::int64_t>(deadline.left_ms(clock_), 0));
    if (!freed_.wait_for(lock, left, [&] { return in_use_ < readers_max_; })) {
      return fail(Code::kTimeout,
                  "all " + std::to_string(readers_max_) + " database readers are busy",
                  "try again");
    }
    ++in_use_;
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  auto connection = engine_.connect(Access::kRead);
  if (!connection) release(nullptr);
  return connection;
}

void ReaderPool::release(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  --in_use_;
  if (connection != nullptr && !connection->is_lost()) idle_.push_back(std::move(connection));
  freed_.notify_one();
}

Status ReaderPool::begin(std::unique_ptr<Connection>& connection, Deadline deadline) {
  const std::int64_t left_ms = std::max<std::int64_t>(deadline.left_ms(clock_), 1);
  Status status = connection->begin_read(left_ms);
  if (status || !connection->is_lost()) return status;
  // The server closed an idle session: nothing has been read yet, so a new one may take over.
  TAKT_ASSIGN(connection, engine_.connect(Access::kRead));
  return connection->begin_read(left_ms);
}

}  // namespace takt::store::internal
