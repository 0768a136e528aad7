// SPDX-License-Identifier: Apache-2.0
// The Open Inference Protocol (v2) over gRPC: the core six methods. grpc++ stays behind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "takt/serve/served_model.h"

namespace takt::serve {

struct GrpcOptions {
  std::string listen = "127.0.0.1:0";
  std::string token;                  // wanted as `authorization: Bearer TOKEN`; empty: anonymous
  std::string revision;               // trailing metadata takt-revision; empty: none
  std::int64_t deadline_ms = 60'000;  // of one inference whose client sets none
};

/// A listening gRPC server; the model must outlive it. Threads are grpc++'s own.
class GrpcServer {
 public:
  static Result<std::unique_ptr<GrpcServer>> start(GrpcOptions options, ServedModel& model,
                                                   Clock& clock);
  virtual ~GrpcServer() = default;
  virtual int port() const = 0;
  /// Takes no new calls; those in flight have `timeout_ms` to end.
  virtual void drain(std::int64_t timeout_ms) = 0;
};

}  // namespace takt::serve
