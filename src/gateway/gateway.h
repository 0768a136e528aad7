// SPDX-License-Identifier: Apache-2.0
// `takt gateway`: the data path of services, a process that needs nothing but its folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "takt/base/clock.h"
#include "takt/base/error.h"

namespace takt::gateway {

struct GatewayOptions {
  std::filesystem::path folder;  // --folder: DATA/gateway; holds snapshot.json, gets stats.json
  std::string http = "127.0.0.1:8000";    // --http, host:port; port 0: any free one
  std::string grpc = "127.0.0.1:8001";    // --grpc; empty: none
  bool reuse_port = true;                 // a successor may listen before this one ends
  int network_threads = 1;                // --network-threads
  std::size_t body_bytes_max = 64 << 20;  // --body-bytes-max
  std::int64_t deadline_ms = 60'000;      // --deadline-ms, of one request
  std::int64_t drain_ms = 30'000;         // --drain-ms, for requests in flight at SIGTERM
  std::int64_t tick_ms = 1'000;           // how often stats.json is written
};

/// A running gateway. Beyond loopback addresses it wants a service token of the snapshot.
class Gateway {
 public:
  /// Listens; routes by the folder's snapshot at once, when there is one.
  static Result<std::unique_ptr<Gateway>> start(GatewayOptions options, Clock& clock);
  virtual ~Gateway() = default;
  virtual int http_port() const = 0;
  virtual int grpc_port() const = 0;  // -1: none
  /// The version of the snapshot in use; 0: none yet.
  virtual std::int64_t snapshot_version() const = 0;
  /// Takes no new requests, answers those in flight, writes its counts a last time.
  virtual void drain() = 0;
};

/// Runs until SIGTERM or SIGINT, which drain; the exit code. Must be called before the process has
/// started threads of its own.
int gateway_main(GatewayOptions options);

}  // namespace takt::gateway
