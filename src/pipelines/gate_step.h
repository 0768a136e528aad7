// SPDX-License-Identifier: Apache-2.0
// The action `gate`: go on only when every condition on the metrics holds.
#pragma once

#include "takt/actions/step.h"

namespace takt::pipelines {

/// `with: {conditions: ["accuracy >= 0.96"]}`; input `metrics` (JSON); output `verdict` (report).
class GateStep final : public actions::StepRunner {
 public:
  std::string_view action() const override { return "gate"; }
  Result<actions::StepPorts> describe(const actions::StepDefinition& definition) const override;
  Status start(const actions::StepRequest&) override { return {}; }
  Result<actions::StepProgress> poll(const actions::StepRequest& request) override;
  Status cancel(const actions::StepRequest&) override { return {}; }
};

/// `NAME OP NUMBER`, with OP one of < <= > >= == !=; NAME may be dotted.
struct Condition {
  std::string metric;
  std::string op;
  double bound = 0;
  std::string text;
};
Result<Condition> parse_condition(std::string_view text);
/// The metric's value; kInvalid names the metrics there are.
Result<double> metric_value(const Value& metrics, const std::string& name);
bool holds(const Condition& condition, double value);

}  // namespace takt::pipelines
