// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/batch_runner.h"

#include <algorithm>
#include <string>
#include <utility>

namespace takt::serve {
namespace {

/// All inputs' rows one behind the other, in the order of the batch.
std::vector<Tensor> merge_inputs(std::span<const InferJob> batch, std::int64_t rows,
                                 std::vector<std::string>& buffers) {
  std::vector<Tensor> merged = batch.front().inputs;
  buffers.resize(merged.size());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    std::string& buffer = buffers[i];
    buffer.clear();
    for (const InferJob& job : batch) buffer += job.inputs[i].bytes;
    merged[i].shape[0] = rows;
    merged[i].bytes = buffer;
    merged[i].owner = nullptr;
  }
  return merged;
}

bool have_rows(const std::vector<Tensor>& outputs, std::int64_t rows) {
  return std::ranges::all_of(outputs, [&](const Tensor& output) {
    return !output.shape.empty() && output.shape[0] == rows;
  });
}

}  // namespace

void BatchRunner::run(std::vector<InferJob> batch) {
  if (batch.size() == 1) return run_one(std::move(batch.front()));
  std::int64_t rows = 0;
  for (const InferJob& job : batch) rows += job.rows;
  auto outputs = run_merged(batch, rows);
  if (!outputs) {
    for (InferJob& job : batch) run_one(std::move(job));
    return;
  }
  std::int64_t first = 0;
  for (InferJob& job : batch) {
    std::vector<Tensor> part;
    part.reserve(outputs->size());
    for (const Tensor& output : *outputs) part.push_back(slice_rows(output, first, job.rows));
    first += job.rows;
    job.done(std::move(part));
  }
}

Result<std::vector<Tensor>> BatchRunner::run_merged(std::span<const InferJob> batch,
                                                    std::int64_t rows) {
  static thread_local std::vector<std::string> buffers;  // grow to the largest batch once
  const std::vector<Tensor> inputs = merge_inputs(batch, rows, buffers);
  const Mono start = clock_.mono();
  auto outputs = engine_.run(inputs);
  metrics_.count_run(rows, clock_.mono() - start);
  for (const InferJob& job : batch) metrics_.queue_seconds.observe_us(start - job.arrived);
  if (outputs && !have_rows(*outputs, rows)) {
    return fail(Code::kInternal, "the model's outputs do not have one row per input row");
  }
  return outputs;
}

void BatchRunner::run_one(InferJob job) {
  const Mono start = clock_.mono();
  auto outputs = engine_.run(job.inputs);
  metrics_.count_run(job.rows, clock_.mono() - start);
  metrics_.queue_seconds.observe_us(start - job.arrived);
  job.done(std::move(outputs));
}

void BatchRunner::refuse_dead(std::vector<InferJob> dead) {
  for (InferJob& job : dead) {
    const std::int64_t waited_ms = (clock_.mono() - job.arrived) / 1000;
    job.done(fail(Code::kTimeout,
                  "request timeout expired after " + std::to_string(waited_ms) + " ms in the queue",
                  "allow more time (parameter 'timeout', microseconds) or add replicas"));
  }
}

}  // namespace takt::serve
