// SPDX-License-Identifier: Apache-2.0
// MLflow 3's logged models: files with parameters, tags and metrics, made by a run, not yet
// registered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/track/run.h"

namespace takt::track {

struct LoggedModel {
  std::string id;  // m-<32 hex>
  ExperimentId experiment;
  std::string name;
  std::string model_type;
  RunId run;
  std::string artifact_uri;
  std::string status;  // LOGGED_MODEL_PENDING, LOGGED_MODEL_READY, LOGGED_MODEL_UPLOAD_FAILED
  std::string status_message;
  UserId creator;
  bool is_deleted = false;
  UnixMs created_ms = 0, updated_ms = 0;
  Words params;
  Words tags;
  struct Measured {
    std::string key;
    RunId run;
    std::string dataset_name, dataset_digest;
    Point point;
  };
  std::vector<Measured> metrics;
};

bool is_logged_model_id(std::string_view text);

}  // namespace takt::track
