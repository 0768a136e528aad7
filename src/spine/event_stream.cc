// SPDX-License-Identifier: Apache-2.0
#include "takt/spine/event_stream.h"

#include <algorithm>
#include <chrono>

#include "takt/base/log.h"

namespace takt::spine {
namespace {

constexpr int kBatch = 500;
/// Also how soon another server's commits on a shared database are seen.
constexpr auto kPollInterval = std::chrono::milliseconds(1000);
constexpr std::int64_t kHeartbeatUs = 15'000'000;

}  // namespace

EventStream::EventStream(store::Database& db) : db_(db), thread_([this] { run(); }) {}

EventStream::~EventStream() { stop(); }

void EventStream::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void EventStream::wake() {
  {
    std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  wake_.notify_all();
}

Status EventStream::check_room() {
  std::lock_guard lock(mutex_);
  return check_room_locked();
}

Status EventStream::check_room_locked() const {
  if (joining_.size() + served_ < kSubscribersMax) return {};
  return fail(Code::kExhausted, std::to_string(kSubscribersMax) + " event streams are open already",
              "close unused consoles");
}

Status EventStream::subscribe(std::shared_ptr<net::StreamSink> sink, ProjectId project,
                              std::int64_t after) {
  {
    std::lock_guard lock(mutex_);
    if (is_stopping_) return fail(Code::kUnavailable, "the server is stopping");
    TAKT_RETURN_IF_ERROR(check_room_locked());
    joining_.push_back({std::move(sink), std::move(project), after, db_.clock().mono()});
    is_woken_ = true;
  }
  wake_.notify_all();
  return {};
}

void EventStream::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kPollInterval, [this] { return is_woken_ || is_stopping_; });
      is_woken_ = false;
      for (auto& subscriber : joining_) subscribers_.push_back(std::move(subscriber));
      joining_.clear();
      served_ = subscribers_.size();
      if (is_stopping_) break;
    }
    for (Subscriber& subscriber : subscribers_) serve(subscriber);
    std::erase_if(subscribers_, [](const Subscriber& s) { return !s.sink->is_open(); });
  }
  for (Subscriber& subscriber : subscribers_) subscriber.sink->close();
  subscribers_.clear();
}

void EventStream::serve(Subscriber& subscriber) {
  std::vector<store::Event> events;
  std::int64_t last = 0;
  const Status read = db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(last, store::last_event_sequence(reader));
    TAKT_ASSIGN(events, store::read_events(reader, subscriber.cursor, kBatch, subscriber.project));
    return {};
  });
  if (!read) {
    log_warn("reading events for a stream failed", {{"error", read.error().text()}});
    return;
  }
  const Mono now = db_.clock().mono();
  for (const store::Event& event : events) {
    const std::string id = std::to_string(event.sequence);
    if (!subscriber.sink->send(net::sse_frame(event.verb, id, dump_json(store::to_value(event)))))
      return;
    subscriber.cursor = event.sequence;
    subscriber.last_sent = now;
  }
  if (events.size() == kBatch)
    wake();  // more is waiting
  else
    subscriber.cursor = std::max(subscriber.cursor, last);  // others' events are not read again
  if (now - subscriber.last_sent > kHeartbeatUs) {
    subscriber.sink->send(": alive\n\n");
    subscriber.last_sent = now;
  }
}

}  // namespace takt::spine
