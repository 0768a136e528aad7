// SPDX-License-Identifier: Apache-2.0
// A request's body, read by a worker from a connection that lives on a loop.
#pragma once

#include "takt/net/internal/connection.h"

namespace takt::net::internal {

/// Each read is a step of the connection on its loop. Used by one worker while the connection waits
/// for the answer.
class LoopBodyReader final : public BodyReader {
 public:
  LoopBodyReader(Connection& connection, Exchange& exchange)
      : connection_(connection), exchange_(exchange) {}
  Result<std::size_t> read(std::span<char> buffer) override;
  std::int64_t length() const override;

 private:
  Connection& connection_;
  Exchange& exchange_;
};

}  // namespace takt::net::internal
