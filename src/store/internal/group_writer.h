// SPDX-License-Identifier: Apache-2.0
// Group commit: many callers' writes in one transaction, acknowledged after its commit.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "takt/store/internal/commit_fault.h"
#include "takt/store/internal/connection.h"

namespace takt::store::internal {

/// Name of the counter that numbers events; a transaction that moved it wakes the log's readers.
inline constexpr std::string_view kEventCounter = "events";

/// Owns the writer thread, which alone uses the writing connection. The queue is bounded.
class GroupWriter {
 public:
  GroupWriter(Engine& engine, std::unique_ptr<Connection> connection, const Clock& clock,
              std::size_t queue_max, CommitFault fault = {});
  /// Finishes what is queued.
  ~GroupWriter();
  GroupWriter(const GroupWriter&) = delete;
  GroupWriter& operator=(const GroupWriter&) = delete;

  Status write(Deadline deadline, const WriteFn& fn);
  void on_commit(std::function<void()> wake);

 private:
  struct Request {
    enum class State { kQueued, kRunning, kDone };
    const WriteFn* fn;
    Deadline deadline;
    State state = State::kQueued;
    bool appended_events = false;
    Status result;
    std::condition_variable wake;
  };
  using Group = std::vector<Request*>;

  void loop();
  /// Waits for the first request; null when the writer ends.
  Request* wait_for_request();
  /// The next request if one waits and the group may still grow.
  Request* join(const Group& group, Mono started);
  /// Runs and commits; results stand in the requests. False when the connection broke before the
  /// commit, so that the same requests may be run again.
  bool run_group(Group& group, bool is_retry);
  Status run_parts(Group& group, bool may_grow);
  void run_one(Request& request);
  Status commit(const Group& group);
  Status reconnect();
  void finish(Group& group);

  Engine& engine_;
  std::unique_ptr<Connection> connection_;  // of the writer thread
  const Clock& clock_;
  const std::size_t queue_max_;
  CommitFault fault_;  // of the writer thread

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Request*> queue_;  // under mutex_
  bool is_stopping_ = false;    // under mutex_
  std::function<void()> wake_;  // under mutex_
  std::thread thread_;
};

}  // namespace takt::store::internal
