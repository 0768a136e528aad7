// SPDX-License-Identifier: Apache-2.0
// Live events for consoles and `takt events --follow`: one thread reads the log for all
// subscribers.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "takt/net/http.h"
#include "takt/store/database.h"
#include "takt/store/event_log.h"

namespace takt::spine {

/// Owner thread over the event log. Wake-ups carry no information: the thread reads what is new.
class EventStream {
 public:
  /// More events behind than this, and a subscriber is told to fetch afresh instead.
  static constexpr std::int64_t kBacklogMax = 10'000;
  static constexpr std::size_t kSubscribersMax = 500;

  explicit EventStream(store::Database& db);
  ~EventStream();
  /// kExhausted when no further subscriber has room; asked before the answer begins.
  Status check_room();
  /// Sends events of `project` after `after`, then each new one, until the sink closes.
  /// kExhausted over the number of subscribers. Does not block.
  Status subscribe(std::shared_ptr<net::StreamSink> sink, ProjectId project, std::int64_t after);
  /// Something was committed. Any thread.
  void wake();
  /// Closes all sinks and ends the thread.
  void stop();

 private:
  struct Subscriber {
    std::shared_ptr<net::StreamSink> sink;
    ProjectId project;
    std::int64_t cursor = 0;
    Mono last_sent;
  };
  void run();
  void serve(Subscriber& subscriber);
  Status check_room_locked() const;

  store::Database& db_;
  std::mutex mutex_;  // guards the five below
  std::condition_variable wake_;
  bool is_woken_ = false;
  bool is_stopping_ = false;
  std::vector<Subscriber> joining_;
  std::size_t served_ = 0;               // how many subscribers_ were last seen
  std::vector<Subscriber> subscribers_;  // only the owner thread
  std::thread thread_;
};

}  // namespace takt::spine
