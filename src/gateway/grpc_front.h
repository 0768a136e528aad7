// SPDX-License-Identifier: Apache-2.0
// The gateway's gRPC side: serialized messages are passed on; only the model's name is read.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "takt/base/clock.h"
#include "takt/gateway/routes_table.h"
#include "takt/net/grpc_proxy.h"

namespace takt::gateway {

/// The text in field 1 of a serialized protobuf message: the model's name in each request of the
/// inference protocol that has one. Nothing when it is not within these bytes.
std::optional<std::string_view> first_text_field(std::string_view message);

struct GrpcFrontOptions {
  bool needs_token = false;
  std::int64_t deadline_ms = 60'000;
};

/// Chooses the target of each call; must outlive the proxy. Thread-safe.
class GrpcFront {
 public:
  GrpcFront(Routes& routes, GrpcFrontOptions options, Clock& clock)
      : routes_(routes), options_(options), clock_(clock) {}
  Result<net::GrpcRoute> choose(const net::GrpcCall& call);

 private:
  struct CallKind {
    bool is_unary = true;
    bool is_counted = false;  // among the revision's requests
    bool is_again = false;    // the second replica that is tried
  };
  net::GrpcRoute route_to(std::unique_ptr<Choice> chosen, std::string service, CallKind kind) const;
  Routes& routes_;
  const GrpcFrontOptions options_;
  Clock& clock_;
};

/// Is this Authorization value a token of the snapshot?
bool is_service_token(const Table& table, std::string_view authorization);

}  // namespace takt::gateway
