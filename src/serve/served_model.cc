// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/served_model.h"

#include <algorithm>
#include <utility>

#include "takt/base/log.h"
#include "takt/serve/probe.h"

namespace takt::serve {
namespace {

std::vector<InferOutput> pick_outputs(const ModelInfo& info, const BoundRequest& bound,
                                      std::vector<Tensor>& outputs) {
  std::vector<InferOutput> picked;
  picked.reserve(bound.outputs.size());
  for (std::size_t i = 0; i < bound.outputs.size(); ++i)
    picked.push_back({&info.outputs[bound.outputs[i]], std::move(outputs[bound.outputs[i]]),
                      bound.is_binary[i]});
  return picked;
}

void log_profile(const std::string& name, const BatchProfile& profile) {
  Array times;
  for (const RunTime& time : profile.times)
    times.push_back(Object{{"rows", time.rows}, {"best_us", time.best_us}});
  Object fields{{"model", name},
                {"batchable", profile.is_batchable},
                {"batch_rows", profile.rows_best},
                {"quick_rows", profile.rows_quick},
                {"times", std::move(times)}};
  if (!profile.is_batchable) fields["reason"] = profile.reason;
  log_info("model probed", std::move(fields));
  if (!profile.is_warm)
    log_warn("model could not be warmed up; its first request will be slow", {{"model", name}});
}

}  // namespace

Status ServedModel::start(std::shared_ptr<Engine> engine, const std::function<bool()>& is_stopped) {
  const BatchProfile profile =
      probe_model(*engine, {.rows_max = options_.batch_rows_max, .is_stopped = is_stopped}, clock_);
  if (is_stopped()) return fail(Code::kUnavailable, "stopped while the model was loading");
  log_profile(options_.name, profile);
  engine_ = std::move(engine);
  row_limits_ = {profile.is_batchable, options_.batch_rows_max};
  BatcherOptions options{
      .limits = {.rows_max = profile.rows_best, .delay_us = options_.batch_delay_us},
      .is_batchable = profile.is_batchable && profile.rows_best > 1,
      .queue_requests_max = options_.queue_requests_max,
      .threads = options_.instances,
      .quick_rows_max = profile.rows_quick,
  };
  batcher_ = std::make_unique<Batcher>(engine_, options, clock_, metrics_);
  state_.store(ModelState::kReady, std::memory_order_release);
  return {};
}

void ServedModel::stop() {
  const ModelState before = state_.exchange(ModelState::kStopping, std::memory_order_acq_rel);
  if (before == ModelState::kReady) batcher_->stop();
}

Status ServedModel::check_name(std::string_view name, std::string_view version) const {
  if (name != options_.name)
    return fail(Code::kNotFound,
                "model '" + std::string(name) + "' is not served here; '" + options_.name + "' is");
  if (!version.empty() && version != "-1" && version != options_.version)
    return fail(Code::kNotFound, "model '" + options_.name + "' has no version '" +
                                     std::string(version) + "' here; version '" + options_.version +
                                     "' is served");
  return {};
}

Result<const ModelInfo*> ServedModel::info() const {
  switch (state()) {
    case ModelState::kReady:
      return &engine_->info();
    case ModelState::kLoading:
      return fail(Code::kUnavailable, "model '" + options_.name + "' is still loading",
                  "ask again when it is ready");
    case ModelState::kStopping:
      break;
  }
  return fail(Code::kUnavailable, "the server is shutting down", "send the request again");
}

void ServedModel::count_refused(const InferContext& context, const Error& error) {
  metrics_.count_request(context.protocol, &error, clock_.mono() - context.arrived);
}

void ServedModel::infer(InferRequest request, const InferContext& context, InferDone done) {
  const auto refuse = [&](Error error) {
    count_refused(context, error);
    done(fail(std::move(error)));
  };
  const auto info = this->info();
  if (!info) return refuse(info.error());
  std::optional<Mono> deadline = context.deadline;
  if (request.timeout_us > 0) {
    const Mono asked = context.arrived + request.timeout_us;
    deadline = deadline ? std::min(*deadline, asked) : asked;
  }
  auto bound = bind_request(std::move(request), **info, row_limits_);
  if (!bound) return refuse(std::move(bound).error());
  // Shared, because a refused submit must still call `done`.
  auto shared_done = std::make_shared<InferDone>(std::move(done));
  InferJob job;
  job.inputs = std::move(bound->inputs);
  job.rows = bound->rows;
  job.deadline = deadline;
  job.is_cancelled = context.is_cancelled;
  job.done = [this, shared_done, bound = std::move(*bound), protocol = context.protocol,
              arrived = context.arrived](Result<std::vector<Tensor>> outputs) {
    metrics_.count_request(protocol, outputs ? nullptr : &outputs.error(), clock_.mono() - arrived);
    if (!outputs) return (*shared_done)(fail(std::move(outputs).error()));
    (*shared_done)(pick_outputs(engine_->info(), bound, *outputs));
  };
  if (Status submitted = batcher_->submit(std::move(job), context.run_later); !submitted) {
    count_refused(context, submitted.error());
    (*shared_done)(fail(std::move(submitted).error()));
  }
}

std::string ServedModel::render_metrics() const {
  const bool is_started = state() == ModelState::kReady;
  return metrics_.render(options_.name, options_.version, is_started ? batcher_->queued() : 0,
                         is_started);
}

}  // namespace takt::serve
