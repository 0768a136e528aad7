// SPDX-License-Identifier: Apache-2.0
// What the gateway routes by: DATA/gateway/snapshot.json, written by services, read here.
// docs/formats/gateway.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/value.h"

namespace takt::gateway {

/// A ready replica.
struct ReplicaEndpoint {
  std::string http;  // host:port
  std::string grpc;  // host:port; empty: HTTP only
  bool operator==(const ReplicaEndpoint&) const = default;
};

struct RevisionEntry {
  std::int64_t number = 0;
  double share = 0;  // a weight beside the other revisions of the service
  std::vector<ReplicaEndpoint> replicas;
  bool operator==(const RevisionEntry&) const = default;
};

struct ServiceEntry {
  std::string name;  // the model name in requests
  std::vector<RevisionEntry> revisions;
  bool operator==(const ServiceEntry&) const = default;
};

struct Snapshot {
  std::int64_t version = 0;               // grows with each one that is written
  std::vector<std::string> token_hashes;  // SHA-256, of service tokens; asked beyond loopback only
  std::vector<ServiceEntry> services;
  bool operator==(const Snapshot&) const = default;
};

std::string render_snapshot(const Snapshot& snapshot);
/// kInvalid names the field. Unknown fields are passed over: a newer server may write more.
Result<Snapshot> parse_snapshot(std::string_view text);

}  // namespace takt::gateway
