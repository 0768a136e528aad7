// SPDX-License-Identifier: Apache-2.0
// Pooled HTTP/1.1 connections to the servers behind a proxy, on the loop of whoever asks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "takt/base/clock.h"
#include "takt/net/http.h"

namespace takt::net {

struct UpstreamRequest {
  std::string target;  // "127.0.0.1:9000"; an IP address or localhost
  Method method = Method::kPost;
  std::string path = "/";  // with the query, as it goes on the wire
  Headers headers;         // hop-by-hop ones, Host and Content-Length are left out
  std::string_view body;
  std::shared_ptr<const void> keep;  // what `body` rests on, held until the end (the Request, say)
  std::int64_t timeout_ms = 30'000;  // for everything, connecting too
};

struct UpstreamResponse {
  int status = 0;
  Headers headers;  // without hop-by-hop ones and Content-Length
  std::string body;
};

struct UpstreamResult {
  /// kUnavailable: no connection, or it broke; kTimeout; kTooLarge: the response's body.
  Result<UpstreamResponse> response;
  /// On an error: the request may have reached the server. When false, another server can be tried
  /// whatever the request does.
  bool may_have_run = false;
};

/// A request on its way. Dropping the handle does not stop it.
class UpstreamCall {
 public:
  virtual ~UpstreamCall() = default;
  /// Ends it: the callback gets kUnavailable soon. Thread of the call only.
  virtual void cancel() = 0;
};

struct UpstreamOptions {
  std::int64_t connect_timeout_ms = 2'000;
  std::int64_t idle_timeout_ms = 30'000;  // unused connections
  std::size_t idle_per_target_max = 64;   // per loop
  std::size_t response_bytes_max = std::size_t{1} << 30;
};

/// Connections are kept per loop and used again, the last used first. A request is sent a second
/// time only when a used connection turns out closed before any byte of the response came.
class UpstreamPool {
 public:
  explicit UpstreamPool(const Clock& clock, UpstreamOptions options = {});
  ~UpstreamPool();

  /// From an async handler: runs on its network thread, `done` too. From any other thread: on a
  /// thread of the pool's own. `done` is called exactly once and must not block.
  std::shared_ptr<UpstreamCall> send(UpstreamRequest request,
                                     std::function<void(UpstreamResult)> done);
  /// Closes the idle connections to a target that is gone.
  void forget(const std::string& target);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace takt::net
