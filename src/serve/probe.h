// SPDX-License-Identifier: Apache-2.0
// What a model does with batches, found out by running it: nothing in the file tells reliably.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "takt/base/clock.h"
#include "takt/serve/engine.h"

namespace takt::serve {

struct ProbeOptions {
  std::int64_t rows_max = 64;          // 0: no batching wanted
  std::uint64_t seed = 1;              // of the values the model is tried with
  std::int64_t budget_us = 3'000'000;  // for timing the sizes between 1 and rows_max
  /// Asked between runs; true gives up (the process is told to stop).
  std::function<bool()> is_stopped = [] { return false; };
};

struct RunTime {
  std::int64_t rows = 0;
  std::int64_t best_us = 0;
};

struct BatchProfile {
  bool is_batchable = false;
  std::string reason;          // why not, for the log
  std::int64_t rows_best = 1;  // the fewest rows whose time per row is within 5 % of the best
  std::vector<RunTime> times;
  std::int64_t rows_quick = 0;  // up to so many rows run in kQuickRunUs; 0: unknown or not even one
  bool is_warm = false;         // the model ran at all with made-up values
};

/// Runs the model on made-up rows: one row twice, two rows together, and compares. Then runs and
/// times 1, 2, 4 ... rows_max rows of zeros, which also warms it up for each size.
BatchProfile probe_model(Engine& engine, const ProbeOptions& options, Clock& clock);

/// A run that takes no longer is cheaper done at once than handed to another thread.
inline constexpr std::int64_t kQuickRunUs = 50;
/// The most rows whose run, and that of every smaller size, is quick.
std::int64_t count_quick_rows(const std::vector<RunTime>& times);

/// The size to batch to: on a CPU many models lose from large batches (caches).
std::int64_t choose_rows(const std::vector<RunTime>& times);

}  // namespace takt::serve
