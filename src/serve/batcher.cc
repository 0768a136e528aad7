// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/batcher.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace takt::serve {
namespace {

// Batches that one leader runs before it leaves the rest to the batcher's threads: a thread of the
// front end must come back to its own work.
constexpr int kLeaderRunsMax = 16;

}  // namespace

Batcher::Batcher(std::shared_ptr<Engine> engine, BatcherOptions options, Clock& clock,
                 ServeMetrics& metrics)
    : engine_(std::move(engine)),
      options_(options),
      clock_(clock),
      runner_(*engine_, clock, metrics),
      slow_(options.is_batchable),
      quick_(options.is_batchable) {
  for (int i = 0; i < std::max(options_.threads, 1); ++i) threads_.emplace_back([this] { work(); });
}

Batcher::~Batcher() { stop(); }

Status Batcher::check_room() const {
  if (is_stopping_) {
    return fail(Code::kUnavailable, "the server is shutting down", "send the request again");
  }
  const std::size_t waiting = slow_.size() + quick_.size();
  if (waiting < options_.queue_requests_max) return {};
  return fail(Code::kExhausted,
              std::to_string(waiting) + " requests are waiting, the most that are allowed",
              "send the request again later");
}

Status Batcher::submit(InferJob job, const RunLater& run_later) {
  job.arrived = clock_.mono();
  std::condition_variable* wakes = nullptr;
  bool leads = false;
  {
    const std::lock_guard lock(mutex_);
    TAKT_RETURN_IF_ERROR(check_room());
    if (job.rows <= options_.quick_rows_max) {
      quick_.push(std::move(job));
      leads = !std::exchange(is_led_, true);
    } else {
      slow_.push(std::move(job));
      // A thread that waits for company is only worth waking when the batch may be full.
      const bool is_full = slow_.rows() >= options_.limits.rows_max;
      wakes = idle_count_ > 0 ? &idle_ : delaying_count_ > 0 && is_full ? &delaying_ : nullptr;
    }
  }
  if (wakes != nullptr) wakes->notify_one();  // unlocked: the woken thread needs the lock at once
  if (!leads) return {};
  if (run_later) {
    run_later([this] { lead(); });
  } else {
    lead();
  }
  return {};
}

void Batcher::lead() {
  for (int runs = 0; runs < kLeaderRunsMax; ++runs) {
    Taken taken = take_quick();
    if (taken.dead.empty() && taken.batch.empty()) return;
    runner_.refuse_dead(std::move(taken.dead));
    if (!taken.batch.empty()) runner_.run(std::move(taken.batch));
  }
  const std::lock_guard lock(mutex_);
  for (InferJob& job : quick_.take(quick_.size())) slow_.push(std::move(job));
  is_led_ = false;
  idle_.notify_one();
}

Batcher::Taken Batcher::take_quick() {
  const std::lock_guard lock(mutex_);
  const Mono now = clock_.mono();
  Taken taken{.dead = quick_.take_dead(now), .batch = {}};
  if (quick_.empty()) {
    if (taken.dead.empty()) is_led_ = false;
    return taken;
  }
  const BatchLimits limits{.rows_max = options_.limits.rows_max, .delay_us = 0};
  taken.batch = quick_.take(quick_.plan(limits, now).take);
  return taken;
}

void Batcher::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    // A leader that was to come later may not come any more.
    for (InferJob& job : quick_.take(quick_.size())) slow_.push(std::move(job));
    idle_.notify_all();
    delaying_.notify_all();
  }
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

std::size_t Batcher::queued() const {
  const std::lock_guard lock(mutex_);
  return slow_.size() + quick_.size();
}

Batcher::Taken Batcher::take_slow() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (slow_.empty()) {
      if (is_stopping_) return {};
      ++idle_count_;
      idle_.wait(lock, [this] { return !slow_.empty() || is_stopping_; });
      --idle_count_;
      continue;
    }
    const Mono now = clock_.mono();
    if (auto dead = slow_.take_dead(now); !dead.empty())
      return {.dead = std::move(dead), .batch = {}};
    BatchLimits limits = options_.limits;
    if (!options_.is_batchable || is_stopping_) limits.delay_us = 0;
    const BatchPlan plan = slow_.plan(limits, now);
    if (plan.take == 0) {
      ++delaying_count_;
      delaying_.wait_for(lock, std::chrono::microseconds(plan.wait_us));
      --delaying_count_;
      continue;
    }
    Taken taken{.dead = {}, .batch = slow_.take(plan.take)};
    if (!slow_.empty() && idle_count_ > 0) idle_.notify_one();
    return taken;
  }
}

void Batcher::work() {
  while (true) {
    Taken taken = take_slow();
    if (taken.dead.empty() && taken.batch.empty()) return;
    runner_.refuse_dead(std::move(taken.dead));
    if (!taken.batch.empty()) runner_.run(std::move(taken.batch));
  }
}

}  // namespace takt::serve
