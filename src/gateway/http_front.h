// SPDX-License-Identifier: Apache-2.0
// The gateway's HTTP routes: inference is passed on as it came, health and metrics are its own.
#pragma once

#include <functional>
#include <string>

#include "takt/base/clock.h"
#include "takt/gateway/routes_table.h"
#include "takt/net/http.h"
#include "takt/net/upstream.h"

namespace takt::gateway {

struct HttpFrontOptions {
  net::Access access = net::Access::kAnonymous;
  std::size_t body_bytes_max = 64 << 20;
  std::int64_t deadline_ms = 60'000;
  std::function<std::string()> metrics;  // Prometheus text
};

/// Answers on the network threads; never blocks. Must outlive the server.
class HttpFront {
 public:
  HttpFront(Routes& routes, net::UpstreamPool& upstream, HttpFrontOptions options, Clock& clock);
  void register_routes(net::Router& router);

 private:
  struct Exchange;
  void pass(std::shared_ptr<net::Request> request, net::Responder respond);
  void send(std::shared_ptr<Exchange> exchange);
  void finish(const std::shared_ptr<Exchange>& exchange, net::UpstreamResult result);
  bool send_elsewhere(const std::shared_ptr<Exchange>& exchange);
  net::Response health(bool is_readiness) const;
  net::Response server_metadata() const;

  Routes& routes_;
  net::UpstreamPool& upstream_;
  const HttpFrontOptions options_;
  Clock& clock_;
};

/// {"error": "..."} with the code's status; 503 with Retry-After.
net::Response protocol_error(const Error& error);

}  // namespace takt::gateway
