// SPDX-License-Identifier: Apache-2.0
// The pipeline action `register`: a model's files become the next version of a registered model.
#pragma once

#include "takt/access/access.h"
#include "takt/actions/step.h"
#include "takt/models/model_registry.h"

namespace takt::models {

/// with: {model: NAME, alias?, description?}; inputs `model` (a tree) and `metrics` (its top-level
/// numbers are kept with the version). The same files again give the version that holds them.
class RegisterStep final : public actions::StepRunner {
 public:
  RegisterStep(ModelRegistry& registry, access::Policy& policy)
      : registry_(registry), policy_(policy) {}
  std::string_view action() const override { return "register"; }
  Result<actions::StepPorts> describe(const actions::StepDefinition& definition) const override;
  /// Nothing: poll() does it, in one transaction.
  Status start(const actions::StepRequest& request) override;
  Result<actions::StepProgress> poll(const actions::StepRequest& request) override;
  Status cancel(const actions::StepRequest& request) override;

 private:
  /// The numbers of the port, and on which data version the run that made them measured.
  Status read_metrics(const actions::StepRequest& request, const actions::PortValue& port,
                      NewVersion& asked);
  Result<RunId> run_of(const ProjectId& project, const Ref& ref);
  /// runs:/RUN/FOLDER, the folder of the run's artifacts that is this tree.
  Result<std::string> source_of(const ProjectId& project, const RunId& run, const Digest& tree);
  ModelRegistry& registry_;
  access::Policy& policy_;
};

}  // namespace takt::models
