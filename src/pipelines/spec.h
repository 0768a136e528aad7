// SPDX-License-Identifier: Apache-2.0
// From a Pipeline document to a checked definition, and its expressions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "takt/pipelines/pipeline.h"

namespace takt::pipelines {

/// Unknown fields, wrong types, unknown actions, nodes, outputs and parameters, ports that do not
/// fit, and cycles are kInvalid with the field's path.
Result<PipelineSpec> parse_pipeline(const Value& document, const actions::Registry& registry);

/// `${nodes.NODE.outputs.OUTPUT}` as a whole value.
struct OutputReference {
  std::string node, output;
};
std::optional<OutputReference> output_reference(const Value& value);

/// Replaces ${params.NAME} everywhere in `value`: a whole text by the parameter's own type, inside
/// a longer text by its text.
Result<Value> fill_params(const Value& value, const std::map<std::string, Value>& params,
                          std::string_view path);

/// The definition's defaults with a caller's values over them; an unknown name is kInvalid.
Result<std::map<std::string, Value>> merge_params(const PipelineSpec& spec, const Object& given);

/// The step as its runner sees it, parameters filled in.
Result<actions::StepDefinition> step_definition(const NodeSpec& node,
                                                const std::map<std::string, Value>& params);

}  // namespace takt::pipelines
