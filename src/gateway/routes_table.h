// SPDX-License-Identifier: Apache-2.0
// The routes in use and the choice of a replica for one request.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/clock.h"
#include "takt/base/rng.h"
#include "takt/gateway/snapshot.h"
#include "takt/gateway/stats.h"

namespace takt::gateway {

/// A replica as the gateway sees it; lives on over changes of the snapshot.
struct Replica {
  explicit Replica(ReplicaEndpoint at) : endpoint(std::move(at)) {}
  const ReplicaEndpoint endpoint;
  std::atomic<int> outstanding{0};
  std::atomic<std::int64_t> avoid_until_us{0};  // it refused a connection a moment ago
};

struct RevisionRoute {
  std::int64_t number = 0;
  double share = 0;
  std::vector<std::shared_ptr<Replica>> replicas;
  std::shared_ptr<RevisionCounters> counters;
};
struct ServiceRoute {
  std::string name;
  std::uint32_t hash = 0;
  std::vector<RevisionRoute> revisions;
};
/// Constant once it is in use.
struct Table {
  std::int64_t version = 0;
  std::vector<std::string> token_hashes;
  std::map<std::string, ServiceRoute, std::less<>> services;
};

enum class Wire { kHttp, kGrpc };

/// Where one request goes. Counts as outstanding until it is dropped.
class Choice {
 public:
  Choice(std::int64_t revision, std::uint32_t service_hash, std::shared_ptr<Replica> replica,
         std::shared_ptr<RevisionCounters> counters);
  ~Choice() { replica_->outstanding.fetch_sub(1, std::memory_order_relaxed); }
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;

  const std::int64_t revision;
  const std::uint32_t service_hash;
  Replica& replica() const { return *replica_; }
  RevisionCounters& counters() const { return *counters_; }

 private:
  const std::shared_ptr<Replica> replica_;
  const std::shared_ptr<RevisionCounters> counters_;
};

/// Thread-safe. A request keeps the table it began with; a new one is put in place at once.
class Routes {
 public:
  explicit Routes(const Clock& clock);

  /// Puts a snapshot in use; the endpoints that are in it no longer.
  std::vector<ReplicaEndpoint> apply(const Snapshot& snapshot);
  std::shared_ptr<const Table> table() const { return table_.load(std::memory_order_acquire); }

  /// A weighted random revision among those with ready replicas, and its replica with the fewest
  /// requests. kNotFound: no such service; kUnavailable: no replica of it is ready.
  Result<std::unique_ptr<Choice>> choose(std::string_view service, Wire wire, Rng& rng) const;
  /// After a replica failed: another of the same revision, else of another one with traffic, else
  /// the same again. kUnavailable when there is none at all.
  Result<std::unique_ptr<Choice>> choose_again(std::string_view service, Wire wire,
                                               const Choice& failed, Rng& rng) const;
  /// Of any service, for calls that name none.
  Result<std::unique_ptr<Choice>> choose_any(Wire wire, Rng& rng) const;
  /// The next requests go elsewhere for a moment, if they can.
  void avoid(Replica& replica) const;

  std::map<RevisionKey, RevisionCounts> counts() const;

 private:
  std::unique_ptr<Choice> take(const ServiceRoute& service, const RevisionRoute& revision,
                               const Replica* except, Wire wire, Rng& rng) const;

  const Clock& clock_;
  std::atomic<std::shared_ptr<const Table>> table_;
  mutable std::mutex mutex_;  // guards the two below
  std::map<RevisionKey, std::shared_ptr<RevisionCounters>> counters_;
  std::map<std::string, std::shared_ptr<Replica>> replicas_;  // by endpoints
};

/// One generator a thread: no two requests wait for each other to choose.
Rng& thread_rng();

}  // namespace takt::gateway
