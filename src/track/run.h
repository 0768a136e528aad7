// SPDX-License-Identifier: Apache-2.0
// Experiments, runs and what is logged to them, as plain structs.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/clock.h"
#include "takt/base/ids.h"

namespace takt::track {

using Words = std::map<std::string, std::string>;

struct Experiment {
  ExperimentId id;
  std::string name;
  std::string artifact_location;
  bool is_deleted = false;
  UnixMs created_ms = 0, updated_ms = 0;
  Words tags;
};

/// SCHEDULED and RUNNING are open; the others are final, but a client may resume a run.
enum class RunStatus { kRunning, kScheduled, kFinished, kFailed, kKilled };
/// "RUNNING", as MLflow and the store have it.
std::string_view run_status_name(RunStatus status);
Result<RunStatus> parse_run_status(std::string_view name);
inline bool is_final(RunStatus status) {
  return status != RunStatus::kRunning && status != RunStatus::kScheduled;
}

/// One point of a series. `value` may be not a number or infinite.
struct Point {
  UnixMs timestamp_ms = 0;
  std::int64_t step = 0;
  double value = 0;
};
struct Metric {
  std::string key;
  Point point;
  std::string model;  // logged model that it measures, and on which dataset; may be empty
  std::string dataset_name, dataset_digest;
};

struct RunInput {
  std::string name, digest, source_type, source, schema, profile;
  Words tags;
};
struct ModelLink {
  std::string model;  // m-<32 hex>
  std::int64_t step = 0;
};

struct Run {
  RunId id;
  ExperimentId experiment;
  std::string experiment_name;
  std::string name;
  UserId user;
  RunStatus status = RunStatus::kRunning;
  bool is_deleted = false;
  UnixMs start_ms = 0;
  UnixMs end_ms = -1;  // -1: has no end yet
  std::string artifact_uri;
  Words params;
  Words tags;
  std::map<std::string, Point> metrics;  // the latest of each
  std::vector<RunInput> inputs;
  std::vector<ModelLink> model_inputs, model_outputs;
};

/// "" when absent.
inline std::string word_of(const Words& words, std::string_view key) {
  const auto found = words.find(std::string(key));
  return found == words.end() ? std::string() : found->second;
}

inline constexpr std::string_view kRunNameTag = "mlflow.runName";
inline constexpr std::string_view kParentRunTag = "mlflow.parentRunId";
inline constexpr std::string_view kJobTag = "takt.job";

}  // namespace takt::track
