// SPDX-License-Identifier: Apache-2.0
// What the connections of one server share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>

#include "takt/net/http.h"
#include "takt/net/internal/loop.h"
#include "takt/net/internal/route_table.h"
#include "takt/net/internal/wire.h"
#include "takt/net/internal/worker_pool.h"

namespace takt::net::internal {

/// Options, routes, pools and counters of a server; outlives its connections.
struct Core {
  Core(ServerOptions with, const Router& with_router, Authenticator* with_authenticator,
       Clock& with_clock);

  const ServerOptions options;
  const Router::Impl& routes;
  Authenticator* const authenticator;
  Clock& clock;
  std::shared_ptr<TlsContext> tls;
  WorkerPool workers;
  WorkerPool stream_workers;  // a slow client's upload may not hold up the API
  std::atomic<bool> is_draining = false;
  std::atomic<std::int64_t> requests = 0;
  std::atomic<std::int64_t> in_flight = 0;

  /// Unique in this server's life: a random prefix and a counter.
  std::string next_request_id();
  /// Deadline of a transfer that has moved so many bytes since `start`.
  Mono transfer_deadline(Mono start, std::int64_t bytes) const {
    return start + options.transfer_timeout_ms * 1000 +
           bytes * 1'000'000 / options.bytes_per_second_min;
  }

  void connection_opened();
  void connection_closed();
  std::int64_t connections() const;
  /// True when the last connection was gone in time.
  bool wait_no_connections(std::int64_t timeout_ms);

 private:
  std::string prefix_;
  std::atomic<std::uint64_t> counter_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable gone_;
  std::int64_t connections_ = 0;
};

/// Answers, from the route's, the path's or takt's error form. `status` overrides the code's.
Response error_response(const Core& core, const Route* route, const Request& request,
                        const Error& error, int status = 0);

}  // namespace takt::net::internal
