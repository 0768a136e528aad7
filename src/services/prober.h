// SPDX-License-Identifier: Apache-2.0
// Asks replicas whether they are ready, on a thread of its own, so that one that hangs holds up
// nobody's decisions.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "takt/base/clock.h"
#include "takt/services/plan.h"

namespace takt::services {

/// One GET of /v2/health/ready.
using Probe = std::function<bool(const std::string& http_endpoint)>;
Probe http_probe();

/// Thread-safe; calls `on_change` from its own thread when an answer differs from the one before.
class Prober {
 public:
  Prober(Probe probe, Clock& clock, std::function<void()> on_change);
  ~Prober();
  void start();
  void stop();
  /// The endpoints to ask from now on; others are forgotten.
  void watch(const std::vector<std::string>& endpoints);
  Health health(const std::string& endpoint) const;
  /// One round over all that are due: what the thread does each time. For tests.
  void step();

 private:
  struct Target {
    Health health = Health::kUnknown;
    int misses = 0;
    Mono due;
  };
  void run();
  void note(const std::string& endpoint, bool is_ready);

  const Probe probe_;
  Clock& clock_;
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;  // guards the four below
  std::condition_variable wake_;
  std::map<std::string, Target> targets_;
  bool is_stopping_ = false;
  bool is_fresh_ = false;
  std::thread thread_;
};

}  // namespace takt::services
