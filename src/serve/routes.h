// SPDX-License-Identifier: Apache-2.0
// The Open Inference Protocol (v2) over HTTP, and /metrics.
#pragma once

#include <cstdint>
#include <string>

#include "takt/net/http.h"
#include "takt/serve/served_model.h"

namespace takt::serve {

struct HttpOptions {
  net::Access access = net::Access::kAnonymous;
  std::size_t body_bytes_max = 64 << 20;  // also of an unpacked body
  std::int64_t deadline_ms = 60'000;      // of one inference
  std::string revision;                   // header Takt-Revision of every answer; empty: none
};

/// The model must outlive the router, and be stopped before the router dies.
void register_routes(net::Router& router, ServedModel& model, HttpOptions options, Clock& clock);

/// The protocol's error form: {"error": "message; hint"}.
net::Response inference_error(const Error& error);

/// What the server says of itself and of its model.
Value server_metadata();
Value model_metadata(const ServedModel& model, const ModelInfo& info);

}  // namespace takt::serve
