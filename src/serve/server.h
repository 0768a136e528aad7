// SPDX-License-Identifier: Apache-2.0
// `takt infer`: one model behind HTTP and gRPC, with or without a control plane.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "takt/base/clock.h"
#include "takt/base/error.h"

namespace takt::serve {

struct InferOptions {
  std::filesystem::path model;  // --model or --model-dir: an ONNX file, or a folder that holds one
  std::string model_name;       // --model-name; empty: the folder's or file's name
  std::string model_version = "1";        // --model-version, as clients see it
  std::string host = "127.0.0.1";         // --host
  int http_port = 8000;                   // --http-port; 0: any free one
  int grpc_port = 8001;                   // --grpc-port; 0: any free one; -1: no gRPC
  std::int64_t batch_rows_max = 64;       // --max-batch-size; 0: no batching
  std::int64_t batch_delay_us = 0;        // --max-delay-us
  int threads = 1;                        // --threads, within one run of the model
  int instances = 1;                      // --instances, runs at the same time
  std::size_t queue_requests_max = 1024;  // --queue-requests-max
  std::size_t body_bytes_max = 64 << 20;  // --body-bytes-max
  std::int64_t deadline_ms = 60'000;      // --deadline-ms, of one inference
  std::int64_t drain_ms = 30'000;         // --drain-ms, for requests in flight at SIGTERM
  std::string revision;                   // --revision, header Takt-Revision of every answer
  std::filesystem::path ports_dir;  // --ports-dir: gets files `http` and `grpc` with host:port
  std::string token;  // service token; must be set unless `host` is a loopback address
};

/// A running inference server: listening at once, ready when its model is loaded and warm.
class InferServer {
 public:
  /// Listens and writes the port files; the model is not loaded yet.
  static Result<std::unique_ptr<InferServer>> listen(InferOptions options, Clock& clock);
  virtual ~InferServer() = default;
  /// Loads and warms the model up; ready when it succeeds. `is_stopped` is asked between steps.
  virtual Status load(const std::function<bool()>& is_stopped) = 0;
  /// Not ready from now on; answers what is in flight, then closes.
  virtual void drain() = 0;
  virtual bool is_ready() const = 0;
  virtual int http_port() const = 0;
  virtual int grpc_port() const = 0;  // -1: none
};

/// Runs until SIGTERM or SIGINT, which drain; the exit code. Must be called before the process has
/// started threads of its own (signals are blocked in all).
int infer_main(InferOptions options);

}  // namespace takt::serve
