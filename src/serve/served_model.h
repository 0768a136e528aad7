// SPDX-License-Identifier: Apache-2.0
// The one model of an inference server: its engine, its batcher, its state.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "takt/base/clock.h"
#include "takt/serve/batcher.h"
#include "takt/serve/infer_request.h"
#include "takt/serve/metrics.h"

namespace takt::serve {

/// kLoading -> kReady -> kStopping; kLoading -> kStopping. Requests are taken in kReady only.
enum class ModelState { kLoading, kReady, kStopping };

struct ServedModelOptions {
  std::string name;
  std::string version = "1";
  std::int64_t batch_rows_max = 64;  // max_batch_size; 0: no batching, rows unlimited
  std::int64_t batch_delay_us = 0;   // max_delay_us
  std::size_t queue_requests_max = 1024;
  int instances = 1;  // runs at the same time
};

/// The answer's outputs, in the order asked for.
using InferDone = std::move_only_function<void(Result<std::vector<InferOutput>>)>;

/// What a front end knows of a request besides its tensors.
struct InferContext {
  Protocol protocol = Protocol::kHttp;
  Mono arrived;
  std::optional<Mono> deadline;
  std::function<bool()> is_cancelled;  // any thread; may be empty
  RunLater run_later;                  // of the thread that calls infer(); may be empty
};

class ServedModel {
 public:
  ServedModel(ServedModelOptions options, Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  /// Probes and warms the engine up, then takes requests. Called once; slow.
  Status start(
      std::shared_ptr<Engine> engine,
      const std::function<bool()>& is_stopped = [] { return false; });
  /// Takes no more requests; those in the queue are answered.
  void stop();

  const std::string& name() const { return options_.name; }
  const std::string& version() const { return options_.version; }
  ModelState state() const { return state_.load(std::memory_order_acquire); }
  bool is_ready() const { return state() == ModelState::kReady; }
  /// kNotFound unless `name` and `version` ("" and "-1" are any) are this model's.
  Status check_name(std::string_view name, std::string_view version) const;
  /// kUnavailable while it is not ready. The info lives as long as this object.
  Result<const ModelInfo*> info() const;

  /// Calls `done` once: at once with an error, else from the batcher's thread. Any thread.
  void infer(InferRequest request, const InferContext& context, InferDone done);
  /// Counts a request that did not get as far as infer().
  void count_refused(const InferContext& context, const Error& error);
  std::string render_metrics() const;

 private:
  const ServedModelOptions options_;
  Clock& clock_;
  ServeMetrics metrics_;
  std::atomic<ModelState> state_{ModelState::kLoading};
  // Written before state_ becomes kReady, constant after.
  std::shared_ptr<Engine> engine_;
  RowLimits row_limits_;
  std::unique_ptr<Batcher> batcher_;
};

}  // namespace takt::serve
