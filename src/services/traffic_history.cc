// SPDX-License-Identifier: Apache-2.0
#include "takt/services/traffic_history.h"

#include <algorithm>

namespace takt::services {
namespace {

using gateway::kLatencyBuckets;
using gateway::LatencyCounts;

void put_percentiles(TrafficPoint& point, const LatencyCounts& latency) {
  point.p50_ms = gateway::percentile_ms(latency, 0.5);
  point.p99_ms = gateway::percentile_ms(latency, 0.99);
}

UnixMs bucket_start(UnixMs time_ms) { return time_ms - time_ms % kBucketMs; }

}  // namespace

void TrafficHistory::add(const gateway::StatsFile& stats, UnixMs now) {
  const std::lock_guard guard(mutex_);
  const bool is_first = epoch_.empty();
  const bool is_new_epoch = epoch_ != stats.epoch;
  if (is_first) first_ms_ = now;
  epoch_ = stats.epoch;
  for (const auto& [key, counts] : stats.revisions) {
    // What a gateway counted before this server looked has no place in time.
    const auto known = series_.find(key);
    if (known == series_.end() && is_first) {
      series_[key].last = counts;
      continue;
    }
    Series& series = series_[key];
    const gateway::RevisionCounts before = is_new_epoch ? gateway::RevisionCounts{} : series.last;
    series.last = counts;
    const std::int64_t requests = counts.requests - before.requests;
    if (requests <= 0) continue;
    if (series.buckets.empty() || series.buckets.back().start_ms != bucket_start(now))
      series.buckets.push_back({bucket_start(now), 0, 0, {}});
    Bucket& bucket = series.buckets.back();
    bucket.requests += requests;
    bucket.errors += counts.errors - before.errors;
    LatencyCounts sums{};
    for (const auto& [at, count] : bucket.latency) sums[at] = count;
    bucket.latency.clear();
    for (std::size_t i = 0; i < kLatencyBuckets; ++i) {
      sums[i] += std::max<std::int64_t>(0, counts.latency[i] - before.latency[i]);
      if (sums[i] > 0)
        bucket.latency.emplace_back(static_cast<std::uint16_t>(i),
                                    static_cast<std::uint32_t>(sums[i]));
    }
  }
  for (auto& [key, series] : series_)
    while (!series.buckets.empty() && series.buckets.front().start_ms < now - kHistoryMs)
      series.buckets.pop_front();
  std::erase_if(series_, [&](const auto& entry) {
    return entry.second.buckets.empty() && !stats.revisions.contains(entry.first);
  });
}

std::vector<RevisionTraffic> TrafficHistory::read(const std::string& service, std::int64_t range_ms,
                                                  UnixMs now) const {
  const std::lock_guard guard(mutex_);
  std::vector<RevisionTraffic> result;
  if (first_ms_ == 0) return result;
  const UnixMs from =
      std::max(bucket_start(now - std::min(range_ms, kHistoryMs)), bucket_start(first_ms_));
  for (const auto& [key, series] : series_) {
    if (key.first != service) continue;
    RevisionTraffic traffic{.revision = key.second, .points = {}, .totals = {.at_ms = from}};
    LatencyCounts total{};
    std::map<UnixMs, const Bucket*> by_start;
    for (const Bucket& bucket : series.buckets) {
      if (bucket.start_ms < from) continue;
      by_start[bucket.start_ms] = &bucket;
      traffic.totals.requests += bucket.requests;
      traffic.totals.errors += bucket.errors;
      for (const auto& [at, count] : bucket.latency) total[at] += count;
    }
    put_percentiles(traffic.totals, total);
    for (UnixMs start = from; start + kBucketMs <= now; start += kBucketMs) {
      TrafficPoint point{.at_ms = start};
      if (const auto found = by_start.find(start); found != by_start.end()) {
        point.requests = found->second->requests;
        point.errors = found->second->errors;
        LatencyCounts latency{};
        for (const auto& [at, count] : found->second->latency) latency[at] = count;
        put_percentiles(point, latency);
      }
      traffic.points.push_back(point);
    }
    result.push_back(std::move(traffic));
  }
  return result;
}

}  // namespace takt::services
