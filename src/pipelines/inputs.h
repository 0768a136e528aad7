// SPDX-License-Identifier: Apache-2.0
// Where a node's inputs come from, and the key under which its result is known.
#pragma once

#include <functional>
#include <string_view>

#include "takt/pipelines/pipeline.h"

namespace takt::pipelines {

/// Resolves the references that inputs of `spec` hold (not those to other nodes), with the run's
/// parameters: "node.input" -> value. So a run's meaning is fixed when it is made.
Result<PortValues> resolve_bindings(const PipelineSpec& spec,
                                    const std::map<std::string, Value>& params,
                                    const ProjectId& project, const actions::Registry& registry);

/// A ready node's inputs, from bindings and the outputs of the nodes it needs.
Result<PortValues> gather_inputs(
    const NodeSpec& node, const PortValues& bindings,
    const std::function<const PortValues*(std::string_view node)>& outputs_of);

/// SHA-256 over action, options (parameters filled in), input digests, declared outputs and, for
/// jobs, code and environment: digests only, never times.
Digest cache_key(const std::string& action, const actions::StepDefinition& definition,
                 const PortValues& inputs, const Digest& code, const Digest& environment);

Value to_value(const PortValues& values);
Result<PortValues> port_values_from(const Value& value);

}  // namespace takt::pipelines
