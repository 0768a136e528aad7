// SPDX-License-Identifier: Apache-2.0
#include "takt/gateway/stats.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace takt::gateway {
namespace {

constexpr std::int64_t kStatsFormat = 1;
constexpr unsigned kFirstOctave = 4;  // 16 us
constexpr unsigned kStepsLog2 = 3;    // eight buckets in an octave
constexpr unsigned kMetricOctaves[] = {6,  7,  8,  9,  10, 11, 12, 13, 14,
                                       15, 16, 17, 18, 19, 20, 21, 22, 23};

std::string text_of(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

Value to_value(const RevisionKey& key, const RevisionCounts& counts) {
  Array latency;
  for (std::size_t i = 0; i < kLatencyBuckets; ++i)
    if (counts.latency[i] > 0)
      latency.push_back(Array{static_cast<std::int64_t>(i), counts.latency[i]});
  return Object{{"service", key.first},
                {"revision", key.second},
                {"requests", counts.requests},
                {"errors", counts.errors},
                {"duration_us_sum", counts.duration_us_sum},
                {"latency", std::move(latency)}};
}

RevisionCounts counts_of(const Value& value) {
  RevisionCounts counts;
  counts.requests = value.int_or("requests", 0);
  counts.errors = value.int_or("errors", 0);
  counts.duration_us_sum = value.int_or("duration_us_sum", 0);
  if (!value["latency"].is_array()) return counts;
  for (const Value& pair : value["latency"].as_array()) {
    if (!pair.is_array() || pair.as_array().size() != 2) continue;
    const Value& bucket = pair.as_array()[0];
    const Value& count = pair.as_array()[1];
    if (bucket.is_int() && count.is_int() && bucket.as_int() >= 0 &&
        bucket.as_int() < static_cast<std::int64_t>(kLatencyBuckets))
      counts.latency[static_cast<std::size_t>(bucket.as_int())] = count.as_int();
  }
  return counts;
}

void put_histogram(std::string& out, const std::string& labels, const RevisionCounts& counts) {
  for (const unsigned octave : kMetricOctaves) {
    const double end_us = std::ldexp(1.0, static_cast<int>(octave));
    std::int64_t below = 0;
    for (std::size_t i = 0; i + 1 < kLatencyBuckets && bucket_end_us(i) <= end_us; ++i)
      below += counts.latency[i];
    out += "takt_gateway_request_seconds_bucket{" + labels + ",le=\"" + text_of(end_us / 1e6) +
           "\"} " + std::to_string(below) + "\n";
  }
  std::int64_t all = 0;
  for (const std::int64_t count : counts.latency) all += count;
  out += "takt_gateway_request_seconds_bucket{" + labels + ",le=\"+Inf\"} " + std::to_string(all) +
         "\ntakt_gateway_request_seconds_sum{" + labels + "} " +
         text_of(static_cast<double>(counts.duration_us_sum) / 1e6) +
         "\ntakt_gateway_request_seconds_count{" + labels + "} " + std::to_string(all) + "\n";
}

}  // namespace

std::size_t latency_bucket(std::int64_t duration_us) {
  if (duration_us < (1 << kFirstOctave)) return 0;
  const auto value = static_cast<std::uint64_t>(duration_us);
  const auto octave = static_cast<unsigned>(std::bit_width(value)) - 1;
  const std::uint64_t step = (value >> (octave - kStepsLog2)) & ((1U << kStepsLog2) - 1);
  const std::size_t bucket = 1 + ((octave - kFirstOctave) << kStepsLog2) + step;
  return std::min(bucket, kLatencyBuckets - 1);
}

double bucket_end_us(std::size_t bucket) {
  if (bucket == 0) return 1 << kFirstOctave;
  const std::size_t at = std::min(bucket, kLatencyBuckets - 2);
  const std::size_t octave = kFirstOctave + ((at - 1) >> kStepsLog2);
  const double steps = static_cast<double>((at - 1) & ((1U << kStepsLog2) - 1)) + 1;
  return std::ldexp(1.0 + steps / (1U << kStepsLog2), static_cast<int>(octave));
}

std::optional<double> percentile_ms(const LatencyCounts& counts, double share) {
  std::int64_t total = 0;
  for (const std::int64_t count : counts) total += count;
  if (total == 0) return std::nullopt;
  const double wanted = share * static_cast<double>(total);
  double seen = 0;
  for (std::size_t i = 0; i < kLatencyBuckets; ++i) {
    if (counts[i] == 0) continue;
    const auto here = static_cast<double>(counts[i]);
    if (seen + here < wanted) {
      seen += here;
      continue;
    }
    const double start = i == 0 ? 0 : bucket_end_us(i - 1);
    const double end = bucket_end_us(i);
    return (start + (end - start) * (wanted - seen) / here) / 1000;
  }
  return bucket_end_us(kLatencyBuckets - 1) / 1000;
}

void RevisionCounters::record(std::int64_t duration_us, bool is_error) {
  requests_.fetch_add(1, std::memory_order_relaxed);
  if (is_error) errors_.fetch_add(1, std::memory_order_relaxed);
  duration_us_sum_.fetch_add(duration_us, std::memory_order_relaxed);
  latency_[latency_bucket(duration_us)].fetch_add(1, std::memory_order_relaxed);
}

RevisionCounts RevisionCounters::load() const {
  RevisionCounts counts;
  counts.requests = requests_.load(std::memory_order_relaxed);
  counts.errors = errors_.load(std::memory_order_relaxed);
  counts.duration_us_sum = duration_us_sum_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < kLatencyBuckets; ++i)
    counts.latency[i] = latency_[i].load(std::memory_order_relaxed);
  return counts;
}

std::string render_stats(const StatsFile& stats) {
  Array revisions;
  for (const auto& [key, counts] : stats.revisions) revisions.push_back(to_value(key, counts));
  return dump_json(Object{{"format", kStatsFormat},
                          {"epoch", stats.epoch},
                          {"pid", stats.pid},
                          {"updated_ms", stats.updated_ms},
                          {"http", stats.http},
                          {"grpc", stats.grpc},
                          {"snapshot_version", stats.snapshot_version},
                          {"problem", stats.problem},
                          {"revisions", std::move(revisions)}}) +
         "\n";
}

Result<StatsFile> parse_stats(std::string_view text) {
  TAKT_ASSIGN(const Value json, parse_json(text).transform_error(while_("stats")));
  if (json.int_or("format", 0) != kStatsFormat || !json["revisions"].is_array())
    return fail(Code::kInvalid, "stats: format must be " + std::to_string(kStatsFormat));
  StatsFile stats;
  stats.epoch = json.text_or("epoch", "");
  stats.pid = json.int_or("pid", 0);
  stats.updated_ms = json.int_or("updated_ms", 0);
  stats.http = json.text_or("http", "");
  stats.grpc = json.text_or("grpc", "");
  stats.snapshot_version = json.int_or("snapshot_version", 0);
  stats.problem = json.text_or("problem", "");
  for (const Value& value : json["revisions"].as_array())
    stats.revisions[{value.text_or("service", ""), value.int_or("revision", 0)}] = counts_of(value);
  return stats;
}

std::string render_metrics(const StatsFile& stats) {
  std::string requests, errors, seconds;
  for (const auto& [key, counts] : stats.revisions) {
    const std::string labels =
        "service=\"" + key.first + "\",revision=\"" + std::to_string(key.second) + "\"";
    requests +=
        "takt_gateway_requests_total{" + labels + "} " + std::to_string(counts.requests) + "\n";
    errors += "takt_gateway_errors_total{" + labels + "} " + std::to_string(counts.errors) + "\n";
    put_histogram(seconds, labels, counts);
  }
  return "# HELP takt_gateway_requests_total Requests sent to a revision.\n"
         "# TYPE takt_gateway_requests_total counter\n" +
         requests +
         "# HELP takt_gateway_errors_total Of these, answered with 500 or above or not at all.\n"
         "# TYPE takt_gateway_errors_total counter\n" +
         errors +
         "# HELP takt_gateway_request_seconds From the whole request to the whole answer.\n"
         "# TYPE takt_gateway_request_seconds histogram\n" +
         seconds +
         "# HELP takt_gateway_snapshot_version The routes in use.\n"
         "# TYPE takt_gateway_snapshot_version gauge\n"
         "takt_gateway_snapshot_version " +
         std::to_string(stats.snapshot_version) + "\n";
}

}  // namespace takt::gateway
