// SPDX-License-Identifier: Apache-2.0
// What one inference server counts, and its text for Prometheus. Counting is a relaxed add or two:
// it stands on the path of every request.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "takt/base/error.h"

namespace takt::serve {

/// Counts of observations at or below each bound, any thread.
class Histogram {
 public:
  static constexpr std::size_t kBoundsMax = 24;
  explicit Histogram(std::span<const std::int64_t> bounds);
  void observe(std::int64_t value);
  void observe_us(std::int64_t duration_us) { observe(duration_us); }
  std::int64_t count() const;
  std::int64_t sum() const { return sum_.load(std::memory_order_relaxed); }
  /// Prometheus lines; `unit` is what one counted unit is in the metric's (0.000001 for us in
  /// seconds).
  void render(std::string& out, std::string_view name, std::string_view labels, double unit) const;

 private:
  std::span<const std::int64_t> bounds_;
  std::array<std::atomic<std::int64_t>, kBoundsMax + 1>
      counts_{};  // each bucket alone; last: above all
  std::atomic<std::int64_t> sum_{0};
};

enum class Protocol { kHttp, kGrpc };

struct ServeMetrics {
  ServeMetrics();
  static constexpr std::size_t kOutcomes = 11;  // ok, then the error codes

  void count_request(Protocol protocol, const Error* error, std::int64_t duration_us);
  void count_run(std::int64_t rows, std::int64_t duration_us);
  /// All as Prometheus text, labelled with the model's name and version.
  std::string render(std::string_view model, std::string_view version, std::size_t queued,
                     bool is_ready) const;

  std::array<std::array<std::atomic<std::int64_t>, kOutcomes>, 2>
      requests{};  // by protocol, outcome
  Histogram request_seconds, queue_seconds, compute_seconds, batch_rows;
};

}  // namespace takt::serve
