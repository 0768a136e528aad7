// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/inputs.h"

#include <algorithm>

#include "takt/base/digest.h"
#include "takt/pipelines/spec.h"

namespace takt::pipelines {
namespace {

using actions::PortKind;

/// The kind that a written reference has: the port's, else by its prefix, else a dataset.
PortKind kind_of_reference(const actions::StepPorts& ports, std::string_view input,
                           std::string_view reference) {
  for (const actions::Port& port : ports.inputs)
    if (port.name == input) return port.kind;
  return reference.starts_with("model/") ? PortKind::kModelVersion : PortKind::kDataset;
}

/// A reference is a text, or an object with `ref`, as in a job's spec.
Result<std::string> reference_text(const Value& filled, const std::string& field) {
  if (filled.is_string()) return filled.as_string();
  if (filled.is_object() && filled["ref"].is_string()) return filled["ref"].as_string();
  return fail(Code::kInvalid,
              "an input must be a reference, not a " + std::string(filled.type_name()),
              "write NAME@N or ${nodes.NODE.outputs.OUTPUT}", field);
}

}  // namespace

Result<PortValues> resolve_bindings(const PipelineSpec& spec,
                                    const std::map<std::string, Value>& params,
                                    const ProjectId& project, const actions::Registry& registry) {
  PortValues bindings;
  for (const NodeSpec& node : spec.nodes) {
    TAKT_ASSIGN(const auto definition, step_definition(node, params));
    const actions::StepRunner* runner = registry.find_runner(node.action);
    if (runner == nullptr) return fail(Code::kInvalid, "there is no action '" + node.action + "'");
    TAKT_ASSIGN(const auto ports,
                runner->describe(definition).transform_error(while_("node " + node.name)));
    for (const auto& [input, written] : node.inputs) {
      if (output_reference(written)) continue;
      const std::string field = "nodes." + node.name + ".inputs." + input;
      TAKT_ASSIGN(const Value filled, fill_params(written, params, field));
      TAKT_ASSIGN(const std::string reference, reference_text(filled, field));
      TAKT_ASSIGN(bindings[node.name + "." + input],
                  registry.resolve(project, kind_of_reference(ports, input, reference), reference)
                      .transform_error([&](Error error) {
                        return error.field.empty() ? std::move(error).with_field(field) : error;
                      }));
    }
  }
  return bindings;
}

Result<PortValues> gather_inputs(
    const NodeSpec& node, const PortValues& bindings,
    const std::function<const PortValues*(std::string_view node)>& outputs_of) {
  PortValues inputs;
  for (const auto& [input, written] : node.inputs) {
    const auto reference = output_reference(written);
    if (!reference) {
      const auto bound = bindings.find(node.name + "." + input);
      if (bound == bindings.end())
        return fail(Code::kInternal, "input " + input + " was never bound");
      inputs[input] = bound->second;
      continue;
    }
    const PortValues* outputs = outputs_of(reference->node);
    if (outputs == nullptr || !outputs->contains(reference->output))
      return fail(Code::kInvalid,
                  "node " + reference->node + " gave no output '" + reference->output + "'");
    inputs[input] = outputs->at(reference->output);
  }
  return inputs;
}

Digest cache_key(const std::string& action, const actions::StepDefinition& definition,
                 const PortValues& inputs, const Digest& code, const Digest& environment) {
  Object parts{{"action", action}, {"with", definition.with}};
  Object input_digests;
  for (const auto& [name, value] : inputs)
    input_digests[name] =
        Object{{"kind", actions::port_kind_name(value.kind)}, {"digest", value.digest.value}};
  parts["inputs"] = std::move(input_digests);
  Object outputs;
  for (const auto& [name, port] : definition.outputs_declared)
    outputs[name] = actions::port_kind_name(port.kind);
  parts["outputs"] = std::move(outputs);
  if (action == "job") {
    parts["code"] = code.value;
    parts["environment"] = environment.value;
  }
  return sha256(dump_json(Value(std::move(parts))));
}

Value to_value(const PortValues& values) {
  Object object;
  for (const auto& [name, value] : values) object[name] = actions::to_value(value);
  return object;
}

Result<PortValues> port_values_from(const Value& value) {
  PortValues values;
  if (!value.is_object()) return fail(Code::kInternal, "stored port values are no object");
  for (const auto& [name, one] : value.as_object()) {
    TAKT_ASSIGN(values[name], actions::port_value_from(one));
  }
  return values;
}

}  // namespace takt::pipelines
