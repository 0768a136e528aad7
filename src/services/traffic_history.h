// SPDX-License-Identifier: Apache-2.0
// What the gateway counted in the last half hour, in memory, from its growing counters.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "takt/base/clock.h"
#include "takt/gateway/stats.h"

namespace takt::services {

inline constexpr std::int64_t kBucketMs = 5'000;
inline constexpr std::int64_t kHistoryMs = 30 * 60 * 1000;

struct TrafficPoint {
  UnixMs at_ms = 0;  // its start
  std::int64_t requests = 0, errors = 0;
  std::optional<double> p50_ms, p99_ms;
};
struct RevisionTraffic {
  std::int64_t revision = 0;
  std::vector<TrafficPoint> points;  // oldest first, whole buckets, those without requests too
  TrafficPoint totals;               // over all of the range, the open bucket too
};

/// Thread-safe.
class TrafficHistory {
 public:
  /// Adds what grew since the reading before. Counters of a new epoch start at 0.
  void add(const gateway::StatsFile& stats, UnixMs now);
  std::vector<RevisionTraffic> read(const std::string& service, std::int64_t range_ms,
                                    UnixMs now) const;

 private:
  struct Bucket {
    UnixMs start_ms = 0;
    std::int64_t requests = 0, errors = 0;
    std::vector<std::pair<std::uint16_t, std::uint32_t>> latency;  // only counts above 0
  };
  struct Series {
    gateway::RevisionCounts last;
    std::deque<Bucket> buckets;  // only those with requests
  };
  mutable std::mutex mutex_;  // guards the three below
  std::map<gateway::RevisionKey, Series> series_;
  std::string epoch_;
  UnixMs first_ms_ = 0;
};

}  // namespace takt::services
