// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/metrics.h"

#include <charconv>

namespace takt::serve {
namespace {

// Microseconds, about three per decade from 50 us to 30 s: a batch of one on a tiny model is ~100
// us.
constexpr std::array<std::int64_t, 19> kDurationBounds{
    50,     100,    200,    300,     500,     1'000,   2'000,     3'000,     5'000,     10'000,
    20'000, 30'000, 50'000, 100'000, 200'000, 500'000, 1'000'000, 5'000'000, 30'000'000};
constexpr std::array<std::int64_t, 10> kRowBounds{1, 2, 4, 8, 16, 32, 64, 128, 256, 1024};
constexpr double kMicrosecond = 1e-6;

std::string decimal(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

void append_help(std::string& out, std::string_view name, std::string_view type,
                 std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help);
  out.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void append_sample(std::string& out, std::string_view name, std::string_view labels,
                   std::string_view value) {
  out.append(name).append("{").append(labels).append("} ").append(value).append("\n");
}

std::string label_value(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n')
      escaped += "\\n";
    else
      escaped += c;
  }
  return escaped;
}

std::string_view outcome_name(std::size_t outcome) {
  return outcome == 0 ? "ok" : code_names(static_cast<Code>(outcome - 1)).name;
}

}  // namespace

Histogram::Histogram(std::span<const std::int64_t> bounds) : bounds_(bounds) {
  TAKT_CHECK(bounds.size() <= kBoundsMax, "histogram has too many bounds");
}

void Histogram::observe(std::int64_t value) {
  std::size_t bucket = 0;
  while (bucket < bounds_.size() && value > bounds_[bucket]) ++bucket;
  counts_[bucket].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::int64_t Histogram::count() const {
  std::int64_t total = 0;
  for (const auto& count : counts_) total += count.load(std::memory_order_relaxed);
  return total;
}

void Histogram::render(std::string& out, std::string_view name, std::string_view labels,
                       double unit) const {
  const std::string base(name);
  std::int64_t total = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    const std::string bound =
        i < bounds_.size() ? decimal(static_cast<double>(bounds_[i]) * unit) : "+Inf";
    append_sample(out, base + "_bucket", std::string(labels) + ",le=\"" + bound + "\"",
                  std::to_string(total));
  }
  append_sample(out, base + "_sum", labels, decimal(static_cast<double>(sum()) * unit));
  append_sample(out, base + "_count", labels, std::to_string(total));
}

ServeMetrics::ServeMetrics()
    : request_seconds(kDurationBounds),
      queue_seconds(kDurationBounds),
      compute_seconds(kDurationBounds),
      batch_rows(kRowBounds) {}

void ServeMetrics::count_request(Protocol protocol, const Error* error, std::int64_t duration_us) {
  const std::size_t outcome = error == nullptr ? 0 : static_cast<std::size_t>(error->code) + 1;
  requests[static_cast<std::size_t>(protocol)][outcome].fetch_add(1, std::memory_order_relaxed);
  request_seconds.observe_us(duration_us);
}

void ServeMetrics::count_run(std::int64_t rows, std::int64_t duration_us) {
  batch_rows.observe(rows);
  compute_seconds.observe_us(duration_us);
}

std::string ServeMetrics::render(std::string_view model, std::string_view version,
                                 std::size_t queued, bool is_ready) const {
  const std::string labels =
      "model=\"" + label_value(model) + "\",version=\"" + label_value(version) + "\"";
  std::string out;
  append_help(out, "takt_serve_requests_total", "counter",
              "Inference requests answered, by protocol and outcome");
  for (std::size_t protocol = 0; protocol < requests.size(); ++protocol)
    for (std::size_t outcome = 0; outcome < kOutcomes; ++outcome) {
      const std::int64_t count = requests[protocol][outcome].load(std::memory_order_relaxed);
      if (count == 0 && outcome > 0) continue;
      append_sample(out, "takt_serve_requests_total",
                    labels + ",protocol=\"" + (protocol == 0 ? "http" : "grpc") + "\",outcome=\"" +
                        std::string(outcome_name(outcome)) + "\"",
                    std::to_string(count));
    }
  append_help(out, "takt_serve_request_seconds", "histogram",
              "Time from the whole request to its answer");
  request_seconds.render(out, "takt_serve_request_seconds", labels, kMicrosecond);
  append_help(out, "takt_serve_queue_seconds", "histogram", "Time a request waits for its run");
  queue_seconds.render(out, "takt_serve_queue_seconds", labels, kMicrosecond);
  append_help(out, "takt_serve_compute_seconds", "histogram", "Time of one run of the model");
  compute_seconds.render(out, "takt_serve_compute_seconds", labels, kMicrosecond);
  append_help(out, "takt_serve_batch_rows", "histogram", "Rows of one run of the model");
  batch_rows.render(out, "takt_serve_batch_rows", labels, 1);
  append_help(out, "takt_serve_queue_requests", "gauge", "Requests that wait for a run now");
  append_sample(out, "takt_serve_queue_requests", labels, std::to_string(queued));
  append_help(out, "takt_serve_ready", "gauge", "1 when the model is loaded and warm");
  append_sample(out, "takt_serve_ready", labels, is_ready ? "1" : "0");
  return out;
}

}  // namespace takt::serve
