// SPDX-License-Identifier: Apache-2.0
// A gRPC proxy that passes serialized messages through without knowing them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/base/error.h"

namespace takt::net {

/// Keys in lower case; values of keys that end in -bin are raw bytes.
using GrpcMetadata = std::vector<std::pair<std::string, std::string>>;

/// What the chooser sees of a call.
struct GrpcCall {
  std::string_view method;        // "/inference.GRPCInferenceService/ModelInfer"
  const GrpcMetadata& metadata;   // of the client, "authorization" among it
  std::string_view message_head;  // the first serialized message, or its first part (see below)
  std::size_t message_bytes = 0;  // the length of the whole message
  std::string_view peer;          // "ipv4:127.0.0.1:43210"
};

/// Where a call goes.
struct GrpcRoute {
  std::string target;                // "127.0.0.1:9000"
  bool is_unary = true;              // false: messages pass both ways until one side ends
  GrpcMetadata request_metadata;     // added to the client's
  GrpcMetadata trailing_metadata;    // added to the server's
  std::int64_t timeout_ms = 60'000;  // unless the client's own deadline is nearer
  /// Another place for a unary call whose target was unavailable; asked at most once.
  std::function<std::optional<GrpcRoute>()> on_unavailable;
  /// Told the status (0 is OK) when the call ended.
  std::function<void(int grpc_status)> on_end;
};

/// Called on a gRPC thread for each call, with at least the first 16 KiB of the message (or all of
/// it); must not block. An Error ends the call with its code's gRPC status.
using GrpcChooser = std::function<Result<GrpcRoute>(const GrpcCall&)>;

struct GrpcProxyOptions {
  std::string listen = "127.0.0.1:0";
  bool reuse_port = false;
  // TLS, when both are set: PEM texts.
  std::string certificate_pem;
  std::string key_pem;
};

/// Any method of any service. Messages may have up to 2 GiB - 1 bytes.
class GrpcProxy {
 public:
  static Result<std::unique_ptr<GrpcProxy>> start(GrpcProxyOptions options, GrpcChooser chooser);
  virtual ~GrpcProxy() = default;
  virtual int port() const = 0;
  /// Takes no new calls; those in flight have the time to end.
  virtual void drain(std::int64_t timeout_ms) = 0;
  /// Connects to a target that calls may soon go to.
  virtual void prepare(const std::string& target) = 0;
  /// Drops the channel to a target that is gone.
  virtual void forget(const std::string& target) = 0;
};

}  // namespace takt::net
