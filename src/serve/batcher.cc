// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/batcher.h"

#include <algorithm>
#include <chrono>
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

bool same_row_shape(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

std::unexpected<Error> stopping_error() {
  return fail(Code::kUnavailable, "the server is shutting down", "send the request again");
}

}  // namespace

Batcher::Batcher(std::shared_ptr<Engine> engine, BatcherOptions options, Clock& clock,
                 ServeMetrics& metrics)
    : engine_(std::move(engine)), options_(options), clock_(clock), metrics_(metrics) {
  for (int i = 0; i < std::max(options_.threads, 1); ++i)
    threads_.emplace_back([this] { run_loop(); });
}

Batcher::~Batcher() { stop(); }

Status Batcher::submit(InferJob job) {
  job.arrived = clock_.mono();
  if (job.rows > options_.inline_rows_max) return enqueue(std::move(job));
  if (is_stopping_.load()) return stopping_error();
  run_one(std::move(job));
  return {};
}

Status Batcher::enqueue(InferJob job) {
  // Waking is done unlocked: the woken thread needs the lock at once.
  std::condition_variable* wakes = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_.load()) return stopping_error();
    if (queue_.size() >= options_.queue_requests_max) {
      return fail(
          Code::kExhausted,
          std::to_string(queue_.size()) + " requests are waiting, the most that are allowed",
          "send the request again later");
    }
    queued_rows_ += job.rows;
    queue_.push_back(std::move(job));
    // A thread that waits for company is only worth waking when the batch may be full.
    if (idle_count_ > 0) {
      wakes = &idle_;
    } else if (delaying_count_ > 0 && queued_rows_ >= options_.limits.rows_max) {
      wakes = &delaying_;
    }
  }
  if (wakes != nullptr) wakes->notify_one();
  return {};
}

void Batcher::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    idle_.notify_all();
    delaying_.notify_all();
  }
  for (std::jthread& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::size_t Batcher::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

bool Batcher::joins(const InferJob& job, const InferJob& first) const {
  if (!options_.is_batchable) return false;
  for (std::size_t i = 0; i < first.inputs.size(); ++i)
    if (!same_row_shape(job.inputs[i].shape, first.inputs[i].shape)) return false;
  return true;
}

BatchPlan Batcher::plan(Mono now) {
  view_.clear();
  std::int64_t rows = 0;
  for (const InferJob& job : queue_) {
    const bool joins_first = !view_.empty() && joins(job, queue_.front());
    rows += job.rows;
    view_.push_back({job.rows, joins_first, job.arrived});
    if (view_.size() > 1 && (!joins_first || rows > options_.limits.rows_max))
      break;  // decides already
  }
  BatchLimits limits = options_.limits;
  if (!options_.is_batchable || is_stopping_) limits.delay_us = 0;
  return plan_batch(view_, limits, now);
}

void Batcher::drop_dead(std::vector<InferJob>& dead) {
  const Mono now = clock_.mono();
  std::erase_if(queue_, [&](InferJob& job) {
    const bool is_dead =
        (job.deadline && *job.deadline <= now) || (job.is_cancelled && job.is_cancelled());
    if (!is_dead) return false;
    queued_rows_ -= job.rows;
    dead.push_back(std::move(job));
    return true;
  });
}

/// The next batch to run; or requests that are past their deadline, marked by rows = 0; or none at
/// the end.
std::vector<InferJob> Batcher::take_batch() {
  std::unique_lock lock(mutex_);
  std::vector<InferJob> batch;
  while (true) {
    if (queue_.empty()) {
      if (is_stopping_) return batch;
      ++idle_count_;
      idle_.wait(lock, [&] { return !queue_.empty() || is_stopping_; });
      --idle_count_;
      continue;
    }
    drop_dead(batch);
    if (!batch.empty()) {
      for (InferJob& job : batch) job.rows = 0;
      return batch;
    }
    const BatchPlan decision = plan(clock_.mono());
    if (decision.take == 0) {
      ++delaying_count_;
      delaying_.wait_for(lock, std::chrono::microseconds(decision.wait_us));
      --delaying_count_;
      continue;
    }
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(decision.take);
    batch.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
    queue_.erase(queue_.begin(), end);
    for (const InferJob& job : batch) queued_rows_ -= job.rows;
    if (!queue_.empty() && idle_count_ > 0) idle_.notify_one();
    return batch;
  }
}

void Batcher::run_loop() {
  while (true) {
    std::vector<InferJob> batch = take_batch();
    if (batch.empty()) return;
    if (batch.front().rows > 0) {
      run_batch(std::move(batch));
      continue;
    }
    for (InferJob& job : batch) {
      const std::int64_t waited_ms = (clock_.mono() - job.arrived) / 1000;
      finish(std::move(job),
             fail(Code::kTimeout,
                  "request timeout expired after " + std::to_string(waited_ms) + " ms in the queue",
                  "allow more time (parameter 'timeout', microseconds) or add replicas"));
    }
  }
}

void Batcher::run_batch(std::vector<InferJob> batch) {
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
    finish(std::move(job), std::move(part));
  }
}

Result<std::vector<Tensor>> Batcher::run_merged(std::span<const InferJob> batch,
                                                std::int64_t rows) {
  static thread_local std::vector<std::string> buffers;  // grow to the largest batch once
  const std::vector<Tensor> inputs = merge_inputs(batch, rows, buffers);
  const Mono start = clock_.mono();
  auto outputs = engine_->run(inputs);
  metrics_.count_run(rows, clock_.mono() - start);
  for (const InferJob& job : batch) metrics_.queue_seconds.observe_us(start - job.arrived);
  if (outputs && !have_rows(*outputs, rows))
    return fail(Code::kInternal, "the model's outputs do not have one row per input row");
  return outputs;
}

void Batcher::run_one(InferJob job) {
  const Mono start = clock_.mono();
  auto outputs = engine_->run(job.inputs);
  metrics_.count_run(job.rows, clock_.mono() - start);
  metrics_.queue_seconds.observe_us(start - job.arrived);
  finish(std::move(job), std::move(outputs));
}

void Batcher::finish(InferJob job, Result<std::vector<Tensor>> outputs) {
  job.done(std::move(outputs));
}

}  // namespace takt::serve
