// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/gate_step.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "takt/base/digest.h"

namespace takt::pipelines {
namespace {

constexpr std::array<std::string_view, 6> kOperators = {"<=", ">=", "==", "!=", "<", ">"};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Result<std::vector<Condition>> parse_conditions(const Value& with) {
  Fields fields(with, "with");
  const std::vector<std::string> texts = fields.texts("conditions");
  if (texts.empty())
    fields.reject("conditions", "a gate needs at least one condition", "e.g. \"accuracy >= 0.9\"");
  TAKT_RETURN_IF_ERROR(fields.done());
  std::vector<Condition> conditions;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TAKT_ASSIGN(Condition condition, parse_condition(texts[i]).transform_error([&](Error error) {
      return std::move(error).with_field("with.conditions[" + std::to_string(i) + "]");
    }));
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

}  // namespace

Result<Condition> parse_condition(std::string_view text) {
  const auto malformed = [&] {
    return fail(Code::kInvalid, "'" + std::string(text) + "' is no condition",
                "write NAME OP NUMBER, with OP one of < <= > >= == !=");
  };
  for (const std::string_view op : kOperators) {
    const auto at = text.find(op);
    if (at == std::string_view::npos) continue;
    Condition condition;
    condition.text = std::string(text);
    condition.metric = std::string(trim(text.substr(0, at)));
    condition.op = std::string(op);
    const std::string_view number = trim(text.substr(at + op.size()));
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), condition.bound);
    const bool is_number = error == std::errc() && end == number.data() + number.size();
    if (condition.metric.empty() || condition.metric.find(' ') != std::string::npos || !is_number)
      return malformed();
    return condition;
  }
  return malformed();
}

Result<double> metric_value(const Value& metrics, const std::string& name) {
  const Value* at = &metrics;
  if (metrics.has(name)) {
    at = &metrics[name];
  } else {
    std::string_view rest = name;
    while (!rest.empty()) {
      const auto dot = rest.find('.');
      at = &(*at)[rest.substr(0, dot)];
      rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    }
  }
  if (at->is_number()) return at->as_number();
  std::string known;
  if (metrics.is_object())
    for (const auto& [key, value] : metrics.as_object())
      if (value.is_number()) known += (known.empty() ? "" : ", ") + key;
  return fail(Code::kInvalid, "the metrics hold no number '" + name + "'",
              known.empty() ? "they hold no numbers at all" : "they hold " + known);
}

bool holds(const Condition& condition, double value) {
  if (std::isnan(value)) return false;
  if (condition.op == "<") return value < condition.bound;
  if (condition.op == "<=") return value <= condition.bound;
  if (condition.op == ">") return value > condition.bound;
  if (condition.op == ">=") return value >= condition.bound;
  if (condition.op == "==") return value == condition.bound;
  return value != condition.bound;
}

Result<actions::StepPorts> GateStep::describe(const actions::StepDefinition& definition) const {
  TAKT_RETURN_IF_ERROR(parse_conditions(definition.with));
  actions::StepPorts ports;
  ports.inputs = {{"metrics", actions::PortKind::kJson, true}};
  ports.outputs = {{"verdict", actions::PortKind::kReport, true}};
  return ports;
}

Result<actions::StepProgress> GateStep::poll(const actions::StepRequest& request) {
  TAKT_ASSIGN(const auto conditions, parse_conditions(request.definition.with));
  const Value& metrics = request.inputs.at("metrics").json;
  Array verdicts;
  std::string failed, passed;
  for (const Condition& condition : conditions) {
    TAKT_ASSIGN(const double value, metric_value(metrics, condition.metric));
    const bool is_met = holds(condition, value);
    const std::string got = condition.text + " (got " + dump_json(Value(value)) + ")";
    std::string& list = is_met ? passed : failed;
    list += (list.empty() ? "" : "; ") + got;
    verdicts.push_back(Object{{"condition", condition.text}, {"value", value}, {"passed", is_met}});
  }
  actions::StepProgress progress;
  if (!failed.empty()) {
    progress.state = actions::StepState::kStopped;
    progress.reason = "the gate says no: " + failed;
    return progress;
  }
  const Value report(Object{{"passed", true}, {"conditions", std::move(verdicts)}});
  progress.state = actions::StepState::kDone;
  progress.reason = passed;
  progress.outputs["verdict"] = {actions::PortKind::kReport, request.node,
                                 sha256(dump_json(report)), report};
  return progress;
}

}  // namespace takt::pipelines
