// SPDX-License-Identifier: Apache-2.0
// Runs batches: merges the rows of several requests and deals out the rows of the answers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "takt/base/clock.h"
#include "takt/serve/engine.h"
#include "takt/serve/job_queue.h"
#include "takt/serve/metrics.h"

namespace takt::serve {

/// Any thread; several at once. Calls `done` of each job exactly once.
class BatchRunner {
 public:
  BatchRunner(Engine& engine, Clock& clock, ServeMetrics& metrics)
      : engine_(engine), clock_(clock), metrics_(metrics) {}

  /// A run of several that fails is repeated one by one, so that nobody fails for another's values.
  void run(std::vector<InferJob> batch);
  /// Answers those that are past their deadline or whose clients are gone.
  void refuse_dead(std::vector<InferJob> dead);

 private:
  void run_one(InferJob job);
  Result<std::vector<Tensor>> run_merged(std::span<const InferJob> batch, std::int64_t rows);

  Engine& engine_;
  Clock& clock_;
  ServeMetrics& metrics_;
};

}  // namespace takt::serve
