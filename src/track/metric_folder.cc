// SPDX-License-Identifier: Apache-2.0
#include "takt/track/metric_folder.h"

#include <chrono>

#include "takt/base/log.h"
#include "takt/track/metric_fold_store.h"

namespace takt::track {
namespace {

// Runs that end and jobs' own metrics wake nobody; nor does another server.
constexpr auto kIdleInterval = std::chrono::seconds(20);

}  // namespace

void MetricFolder::start() {
  thread_ = std::thread([this] { run(); });
}

void MetricFolder::wake() {
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  wake_.notify_all();
}

void MetricFolder::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<bool> MetricFolder::step() {
  bool has_more = false;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(has_more, has_folds(reader));
    return {};
  }));
  if (!has_more) return false;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(has_more, fold_some(tx));
    return {};
  }));
  return has_more;
}

/// False when the thread is to end.
bool MetricFolder::wait() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, kIdleInterval, [this] { return is_woken_ || is_stopping_; });
  is_woken_ = false;
  return !is_stopping_;
}

void MetricFolder::run() {
  while (wait()) {
    const auto more = step();
    if (!more) log_error("metric points are not folded", {{"error", more.error().text()}});
    if (more.value_or(false)) wake();
  }
}

}  // namespace takt::track
