// SPDX-License-Identifier: Apache-2.0
#include "takt/services/prober.h"

#include <algorithm>
#include <chrono>

#include "takt/net/client.h"

namespace takt::services {
namespace {

constexpr std::int64_t kReadyPeriodMs = 1'000;
constexpr std::int64_t kStartingPeriodMs = 50;
constexpr std::int64_t kProbeConnectMs = 500;
constexpr std::int64_t kProbeTimeoutMs = 1'500;
constexpr int kMissesMax = 2;  // in a row, until a ready one counts as not ready

}  // namespace

Probe http_probe() {
  return [](const std::string& endpoint) {
    net::Client client({.base_url = "http://" + endpoint,
                        .connect_timeout_ms = kProbeConnectMs,
                        .timeout_ms = kProbeTimeoutMs});
    const auto answer = client.send(net::Method::kGet, "/v2/health/ready");
    return answer && answer->status == 200;
  };
}

Prober::Prober(Probe probe, Clock& clock, std::function<void()> on_change)
    : probe_(std::move(probe)), clock_(clock), on_change_(std::move(on_change)) {}

Prober::~Prober() { stop(); }

void Prober::start() {
  thread_ = std::thread([this] { run(); });
}

void Prober::stop() {
  {
    const std::lock_guard guard(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Prober::watch(const std::vector<std::string>& endpoints) {
  {
    const std::lock_guard guard(mutex_);
    std::erase_if(targets_, [&](const auto& entry) {
      return std::ranges::find(endpoints, entry.first) == endpoints.end();
    });
    for (const std::string& endpoint : endpoints)
      if (targets_.try_emplace(endpoint).second) is_fresh_ = true;
  }
  wake_.notify_all();
}

Health Prober::health(const std::string& endpoint) const {
  const std::lock_guard guard(mutex_);
  const auto found = targets_.find(endpoint);
  return found == targets_.end() ? Health::kUnknown : found->second.health;
}

void Prober::step() {
  std::vector<std::string> due;
  {
    const std::lock_guard guard(mutex_);
    is_fresh_ = false;
    for (const auto& [endpoint, target] : targets_)
      if (target.due <= clock_.mono()) due.push_back(endpoint);
  }
  for (const std::string& endpoint : due) note(endpoint, probe_(endpoint));
}

void Prober::note(const std::string& endpoint, bool is_ready) {
  bool has_changed = false;
  {
    const std::lock_guard guard(mutex_);
    const auto found = targets_.find(endpoint);
    if (found == targets_.end()) return;
    Target& target = found->second;
    target.misses = is_ready ? 0 : target.misses + 1;
    const bool is_let_off =
        !is_ready && target.health == Health::kReady && target.misses < kMissesMax;
    const Health now = is_ready || is_let_off ? Health::kReady : Health::kNotReady;
    has_changed = now != target.health;
    target.health = now;
    const bool is_settled = is_ready && target.misses == 0;
    target.due = clock_.mono() + (is_settled ? kReadyPeriodMs : kStartingPeriodMs) * 1000;
  }
  if (has_changed) on_change_();
}

void Prober::run() {
  for (;;) {
    step();
    std::unique_lock lock(mutex_);
    std::int64_t wait_ms = kReadyPeriodMs;
    for (const auto& [endpoint, target] : targets_)
      wait_ms = std::clamp<std::int64_t>((target.due - clock_.mono()) / 1000 + 1, 1, wait_ms);
    wake_.wait_for(lock, std::chrono::milliseconds(wait_ms),
                   [this] { return is_stopping_ || is_fresh_; });
    if (is_stopping_) return;
  }
}

}  // namespace takt::services
