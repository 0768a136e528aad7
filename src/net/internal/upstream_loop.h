// SPDX-License-Identifier: Apache-2.0
// The connections of one UpstreamPool that live on one loop.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/net/internal/loop.h"
#include "takt/net/internal/response_parser.h"
#include "takt/net/upstream.h"

namespace takt::net::internal {

struct UpstreamConnection {
  explicit UpstreamConnection(Executor executor) : socket(executor) {}
  Socket socket;
  std::string target;
  std::string in;        // received, not yet used
  Mono deadline{};       // of the request in flight, or when the idle connection is closed
  bool is_late = false;  // closed at its deadline
  bool is_used = false;  // answered a request before

  void abort() {
    error_code ignored;
    socket.close(ignored);
  }
  /// An idle connection that the server closed, or that has bytes nobody asked for, is no use.
  bool is_stale();
};

/// One request, from start to the callback.
class LoopCall final : public UpstreamCall {
 public:
  LoopCall(UpstreamRequest with, std::function<void(UpstreamResult)> on_done)
      : request(std::move(with)), done(std::move(on_done)) {}
  void cancel() override {
    is_cancelled = true;
    if (connection != nullptr) connection->abort();
  }

  UpstreamRequest request;
  std::function<void(UpstreamResult)> done;
  UpstreamConnection* connection = nullptr;  // in use
  bool is_cancelled = false;
};

/// Loop thread only. Held by its pool and by every call in flight.
class UpstreamLoop final : public Ticker, public std::enable_shared_from_this<UpstreamLoop> {
 public:
  UpstreamLoop(std::shared_ptr<Loop> loop, const UpstreamOptions& options)
      : loop_(std::move(loop)), options_(options) {}

  Loop& loop() { return *loop_; }
  void start(const std::shared_ptr<LoopCall>& call);
  void forget(const std::string& target) { idle_.erase(target); }
  /// No call will come any more.
  void close();

  void on_tick(Mono now) override;
  void on_drain() override {}
  void on_abort() override;

 private:
  using Connections = std::list<std::unique_ptr<UpstreamConnection>>;
  enum class Outcome { kOk, kStale, kFailed };

  Task<void> run(std::shared_ptr<LoopCall> call);
  Task<Outcome> attempt(LoopCall& call, bool may_reuse, UpstreamResult& result);
  Task<Status> connect(UpstreamConnection& connection, Mono deadline);
  Task<Outcome> exchange(LoopCall& call, UpstreamConnection& connection, UpstreamResult& result,
                         bool& keep);
  Task<bool> fill(UpstreamConnection& connection);
  Task<Status> read_body(UpstreamConnection& connection, ResponseParser& parser, std::string& body);
  Error broken(const LoopCall& call, const UpstreamConnection& connection,
               std::string_view doing) const;
  std::unique_ptr<UpstreamConnection> take_idle(const std::string& target);
  void keep_idle(std::unique_ptr<UpstreamConnection> connection);
  void watch();
  void unwatch_if_empty();

  std::shared_ptr<Loop> loop_;  // first: the sockets below end before it
  const UpstreamOptions options_;
  std::map<std::string, std::vector<std::unique_ptr<UpstreamConnection>>> idle_;
  Connections active_;
  std::optional<Loop::Handle> ticker_;
  bool is_closed_ = false;
};

}  // namespace takt::net::internal
