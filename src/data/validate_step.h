// SPDX-License-Identifier: Apache-2.0
// The pipeline action `validate`: rules over a dataset version, off the engine's thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "takt/access/access.h"
#include "takt/actions/step.h"
#include "takt/data/dataset_service.h"

namespace takt::data {

/// One worker thread validates; results are kept until polled. A restart validates again: the
/// verdict depends on the version and the rules only.
class ValidateStep final : public actions::StepRunner {
 public:
  ValidateStep(DatasetService& datasets, access::Policy& policy);
  ~ValidateStep() override;
  std::string_view action() const override { return "validate"; }
  Result<actions::StepPorts> describe(const actions::StepDefinition& definition) const override;
  Status start(const actions::StepRequest& request) override;
  Result<actions::StepProgress> poll(const actions::StepRequest& request) override;
  Status cancel(const actions::StepRequest& request) override;

 private:
  void run();
  Result<actions::StepProgress> validate(const actions::StepRequest& request);

  DatasetService& datasets_;
  access::Policy& policy_;
  std::mutex mutex_;  // guards the four below
  std::condition_variable wake_;
  std::deque<actions::StepRequest> queue_;
  std::map<std::string, Result<actions::StepProgress>> results_;  // by node and attempt
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace takt::data
