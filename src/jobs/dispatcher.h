// SPDX-License-Identifier: Apache-2.0
// The owner of the queue: places waiting jobs, watches attempts, writes down their ends.
//
// It keeps nothing that a restart would miss: rows say what is leased, the executor says what runs.
// So recovery is an ordinary pass, and watching comes before placing in every pass: a lease that
// nothing stands behind is ended before its resources or its job are used again.
#pragma once

#include <memory>
#include <string>

#include "takt/jobs/aside.h"
#include "takt/jobs/executor.h"
#include "takt/jobs/plan.h"
#include "takt/jobs/workspace.h"
#include "takt/store/database.h"

namespace takt::jobs {

struct DispatcherOptions {
  int lost_max = 3;             // lost attempts of a job that are repeated beside its retries
  std::int64_t tick_ms = 1000;  // how often attempts are looked at without a notice
  std::int64_t hold_after_ms = kHoldAfterMs;
  int queue_max = 10'000;  // waiting jobs that one pass looks at
};

struct DispatcherParts {
  store::Database& db;
  Executor& executor;
  Workspace& workspace;
  Aside& aside;
};

class Dispatcher {
 public:
  Dispatcher(DispatcherParts parts, DispatcherOptions options);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  /// Starts the owner thread. The first pass runs at once.
  void start();
  /// Ends the owner thread after its pass. Attempts go on without it.
  void stop();
  /// Any thread: rows may have changed. (What ended is noticed by the executor.)
  void wake();

  /// One pass; on the owner thread, or called by a test that started none. Returns the ms until a
  /// timer alone makes the next one worthwhile.
  std::int64_t pass();

  /// Why a job waits, or has ended and waits for its outputs to be stored, as of the last pass; ""
  /// when it is not known to. Any thread.
  std::string wait_reason(JobId job) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace takt::jobs
