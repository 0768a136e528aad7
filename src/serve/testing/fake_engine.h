// SPDX-License-Identifier: Apache-2.0
// Engines for tests: what they compute is plain to see, and they can be held and made to fail.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "takt/serve/engine.h"

namespace takt::serve::testing {

/// Calls a function for each run, and remembers the rows of each.
class FakeEngine final : public Engine {
 public:
  using Run = std::function<Result<std::vector<Tensor>>(std::span<const Tensor>)>;
  FakeEngine(ModelInfo info, Run run) : info_(std::move(info)), run_(std::move(run)) {}

  const ModelInfo& info() const override { return info_; }
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override {
    {
      const std::lock_guard lock(mutex_);
      rows_.push_back(inputs.front().rows());
    }
    return run_(inputs);
  }
  /// Rows of the runs so far, in order.
  std::vector<std::int64_t> rows() const {
    const std::lock_guard lock(mutex_);
    return rows_;
  }

 private:
  const ModelInfo info_;
  const Run run_;
  mutable std::mutex mutex_;
  std::vector<std::int64_t> rows_;
};

/// Gives its inputs back.
inline Result<std::vector<Tensor>> echo(std::span<const Tensor> inputs) {
  std::vector<Tensor> outputs;
  for (const Tensor& input : inputs)
    outputs.push_back(Tensor::own(input.type, input.shape, std::string(input.bytes)));
  return outputs;
}

}  // namespace takt::serve::testing
