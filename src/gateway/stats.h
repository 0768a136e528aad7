// SPDX-License-Identifier: Apache-2.0
// What the gateway counts for each revision, and the file that tells it: DATA/gateway/stats.json.
// docs/formats/gateway.md
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/value.h"

namespace takt::gateway {

/// Latencies in buckets that grow by an eighth of an octave: 16 us to 67 s, within 9 %.
inline constexpr std::size_t kLatencyBuckets = 178;
using LatencyCounts = std::array<std::int64_t, kLatencyBuckets>;
std::size_t latency_bucket(std::int64_t duration_us);
/// The upper end of a bucket; the last has none and says its lower one.
double bucket_end_us(std::size_t bucket);
/// The latency that `share` (0.5, 0.99) of the counted stay below; nothing without counts.
std::optional<double> percentile_ms(const LatencyCounts& counts, double share);

/// Values at one moment; they only grow within one epoch.
struct RevisionCounts {
  std::int64_t requests = 0;
  std::int64_t errors = 0;  // answers of 500 and above, and calls that failed in their place
  std::int64_t duration_us_sum = 0;
  LatencyCounts latency{};
};

/// Counted on the path of every request: relaxed adds.
class RevisionCounters {
 public:
  void record(std::int64_t duration_us, bool is_error);
  RevisionCounts load() const;

 private:
  std::atomic<std::int64_t> requests_{0}, errors_{0}, duration_us_sum_{0};
  std::array<std::atomic<std::int64_t>, kLatencyBuckets> latency_{};
};

using RevisionKey = std::pair<std::string, std::int64_t>;  // service, revision number

/// The file as services reads it.
struct StatsFile {
  std::string epoch;  // of the gateway process: counts of another epoch start at 0
  std::int64_t pid = 0;
  std::int64_t updated_ms = 0;
  std::string http, grpc;  // where it listens
  std::int64_t snapshot_version = 0;
  std::string problem;  // why the newest snapshot could not be taken
  std::map<RevisionKey, RevisionCounts> revisions;
};
std::string render_stats(const StatsFile& stats);
Result<StatsFile> parse_stats(std::string_view text);
/// The same for Prometheus.
std::string render_metrics(const StatsFile& stats);

}  // namespace takt::gateway
