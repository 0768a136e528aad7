// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/spec.h"

#include <algorithm>
#include <set>

#include "takt/base/units.h"
#include "takt/pipelines/graph.h"

namespace takt::pipelines {
namespace {

constexpr std::size_t kNodesMax = 1000;
constexpr std::int64_t kRetriesMax = 20;
constexpr std::int64_t kRetryBackoffMsMax = 24 * 3'600'000;
constexpr std::string_view kOpen = "${";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

void add_need(NodeSpec& node, const std::string& name) {
  if (std::ranges::find(node.needs, name) == node.needs.end()) node.needs.push_back(name);
}

Status read_outputs(NodeSpec& node, const Value& outputs, const std::string& path) {
  if (outputs.is_null()) return {};
  if (!outputs.is_object()) return fail(Code::kInvalid, "outputs must be an object", "", path);
  for (const auto& [name, written] : outputs.as_object()) {
    Fields fields(written, path + "." + name);
    const std::string kind_text = fields.text("kind");
    fields.text("name", "");
    TAKT_RETURN_IF_ERROR(fields.done());
    TAKT_ASSIGN(const actions::PortKind kind,
                actions::parse_port_kind(kind_text).transform_error([&](Error error) {
                  return std::move(error).with_field(path + "." + name + ".kind");
                }));
    node.outputs[name] = {name, kind, true};
  }
  return {};
}

Status read_approval(NodeSpec& node, const Value& approve, const std::string& path) {
  if (approve.is_null()) return {};
  Fields fields(approve, path);
  const std::string by = fields.text("by", "anyone");
  node.question = fields.text("question", "");
  if (by != "anyone" && by != "not-submitter")
    fields.reject("by", "'" + by + "' is no rule of approval", "use anyone or not-submitter");
  node.approval = by == "anyone" ? ApprovalRule::kAnyone : ApprovalRule::kNotSubmitter;
  return fields.done();
}

Status read_retries(NodeSpec& node, const Value& retries, const std::string& path) {
  if (retries.is_null()) return {};
  Fields fields(retries, path);
  node.retries_max = static_cast<int>(fields.integer("max", 0, 0, kRetriesMax));
  const std::string backoff = fields.text("backoff", "1s");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(node.retry_backoff_ms, parse_duration_ms(backoff).transform_error([&](Error error) {
    return std::move(error).with_field(path + ".backoff");
  }));
  if (node.retry_backoff_ms <= kRetryBackoffMsMax) return {};
  return fail(Code::kInvalid, "a backoff must be at most 1 d, got " + backoff, "",
              path + ".backoff");
}

/// A job node's own fields belong to the job's spec: one description of a job, wherever it stands.
/// Its retries are the job's, so that they resume from the job's checkpoint.
Status merge_job(NodeSpec& node, const Value& job, const Value& params, const Value& outputs,
                 const Value& retries, const std::string& path) {
  if (!job.is_object()) return fail(Code::kInvalid, "job must be an object", "", path + ".job");
  node.action = "job";
  node.with = job;
  for (const auto& [field, value] :
       {std::pair{"params", &params}, {"outputs", &outputs}, {"retries", &retries}}) {
    if (value->is_null()) continue;
    if (node.with.has(field))
      return fail(Code::kInvalid,
                  std::string(field) + " is given twice, for the node and for its job", "keep one",
                  path + ".job." + field);
    node.with[field] = *value;
  }
  node.retries_max = 0;
  return {};
}

Result<NodeSpec> read_node(const Value& written, const std::string& path) {
  Fields fields(written, path);
  NodeSpec node;
  node.name = fields.text("name");
  node.action = fields.text("action", "");
  const Value& job = fields.any("job");
  const Value& with = fields.any("with");
  const Value& params = fields.any("params");
  const Value& outputs = fields.any("outputs");
  const Value& approve = fields.any("approve");
  const Value& retries = fields.any("retries");
  const std::vector<std::string> needs = fields.texts("needs");
  if (needs.size() > kNodesMax)
    fields.reject("needs", "names " + std::to_string(needs.size()) + " nodes, at most " +
                               std::to_string(kNodesMax) + " are allowed");
  else
    for (const std::string& need : needs) add_need(node, need);
  for (const auto& [name, value] : fields.object("inputs")) node.inputs[name] = value;
  if (job.is_null() == node.action.empty())
    fields.reject("action", "a node has either `action` or `job`");
  if (!job.is_null() && !with.is_null()) fields.reject("with", "belongs to actions, not to jobs");
  if (job.is_null() && !params.is_null())
    fields.reject("params", "belongs to jobs; actions take `with`");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_RETURN_IF_ERROR(check_name("node name", node.name).transform_error([&](Error error) {
    return std::move(error).with_field(path + ".name");
  }));
  TAKT_RETURN_IF_ERROR(read_outputs(node, outputs, path + ".outputs"));
  TAKT_RETURN_IF_ERROR(read_approval(node, approve, path + ".approve"));
  TAKT_RETURN_IF_ERROR(read_retries(node, retries, path + ".retries"));
  if (job.is_null()) {
    node.with = with.is_null() ? Value(Object{}) : with;
  } else {
    TAKT_RETURN_IF_ERROR(merge_job(node, job, params, outputs, retries, path));
  }
  return node;
}

/// Adds what inputs refer to to `needs`, and checks that each thing named exists.
Status link_inputs(PipelineSpec& spec, NodeSpec& node, const std::string& path) {
  std::vector<std::string> names;
  for (const NodeSpec& other : spec.nodes) names.push_back(other.name);
  const auto near_node = [&](std::string_view wanted) {
    const std::string near = nearest_name(wanted, names);
    return near.empty() ? std::string() : "did you mean '" + near + "'?";
  };
  for (std::size_t i = 0; i < node.needs.size(); ++i)
    if (spec.find(node.needs[i]) == nullptr)
      return fail(Code::kInvalid, "there is no node '" + node.needs[i] + "'",
                  near_node(node.needs[i]), path + ".needs[" + std::to_string(i) + "]");
  for (const auto& [input, value] : node.inputs) {
    const std::string field = path + ".inputs." + input;
    const auto reference = output_reference(value);
    if (!reference) {
      const bool mentions_nodes =
          value.is_string() && value.as_string().find("${nodes.") != std::string::npos;
      if (mentions_nodes)
        return fail(Code::kInvalid, "'" + value.as_string() + "' is no reference",
                    "write ${nodes.NODE.outputs.OUTPUT}, alone", field);
      continue;
    }
    if (spec.find(reference->node) == nullptr)
      return fail(Code::kInvalid, "there is no node '" + reference->node + "'",
                  near_node(reference->node), field);
    add_need(node, reference->node);
  }
  return {};
}

const actions::Port* find_port(const std::vector<actions::Port>& ports, std::string_view name) {
  const auto found = std::ranges::find(ports, name, &actions::Port::name);
  return found == ports.end() ? nullptr : &*found;
}

/// Where a field that a step names stands in the pipeline: a job's spec.timeout under its job.
std::string place_of(const NodeSpec& node, const std::string& field, const std::string& path) {
  if (field.empty()) return path;
  if (node.action != "job" || !field.starts_with("spec")) return path + "." + field;
  const std::string rest = field.substr(4);
  for (const char* own : {".outputs", ".params", ".retries"})
    if (rest.starts_with(own)) return path + rest;
  return path + ".job" + rest;
}

Result<actions::StepPorts> ports_of(const PipelineSpec& spec, const NodeSpec& node,
                                    const std::string& path, const actions::Registry& registry) {
  const actions::StepRunner* runner = registry.find_runner(node.action);
  if (runner == nullptr) {
    const std::string near = nearest_name(node.action, registry.action_names());
    std::string known;
    for (const auto& name : registry.action_names()) known += (known.empty() ? "" : ", ") + name;
    return fail(Code::kInvalid, "there is no action '" + node.action + "'",
                near.empty() ? "known actions: " + known : "did you mean '" + near + "'?",
                path + ".action");
  }
  TAKT_ASSIGN(const actions::StepDefinition definition,
              step_definition(node, spec.params).transform_error([&](Error error) {
                return error.field.empty() ? std::move(error).with_field(path) : error;
              }));
  return runner->describe(definition).transform_error([&](Error error) {
    const std::string said = error.field;
    error.field = place_of(node, said, path);
    if (!said.empty() && error.message.starts_with(said))
      error.message.replace(0, said.size(), error.field);
    return error;
  });
}

/// Every parameter that an input names is declared.
Status check_parameters(const PipelineSpec& spec) {
  for (std::size_t i = 0; i < spec.nodes.size(); ++i)
    for (const auto& [name, value] : spec.nodes[i].inputs)
      TAKT_RETURN_IF_ERROR(
          fill_params(value, spec.params, "spec.nodes[" + std::to_string(i) + "].inputs." + name));
  return {};
}

/// Every input has a port that takes what its source gives; required ones are there.
Status check_ports(const PipelineSpec& spec, const std::vector<actions::StepPorts>& ports) {
  for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
    const NodeSpec& node = spec.nodes[i];
    const std::string path = "spec.nodes[" + std::to_string(i) + "].inputs";
    for (const actions::Port& port : ports[i].inputs)
      if (port.required && !node.inputs.contains(port.name))
        return fail(Code::kInvalid, "node '" + node.name + "' needs the input '" + port.name + "'",
                    "", path);
    for (const auto& [name, value] : node.inputs) {
      const std::string field = path + "." + name;
      const actions::Port* port = find_port(ports[i].inputs, name);
      if (port == nullptr && !ports[i].inputs_open)
        return fail(Code::kInvalid, "action " + node.action + " has no input '" + name + "'", "",
                    field);
      const auto reference = output_reference(value);
      if (!reference) continue;
      const auto source = static_cast<std::size_t>(spec.find(reference->node) - spec.nodes.data());
      const actions::Port* given = find_port(ports[source].outputs, reference->output);
      if (given == nullptr)
        return fail(Code::kInvalid,
                    "node '" + reference->node + "' has no output '" + reference->output + "'", "",
                    field);
      if (port != nullptr && !actions::port_accepts(port->kind, given->kind))
        return fail(Code::kInvalid,
                    "input '" + name + "' takes a " +
                        std::string(actions::port_kind_name(port->kind)) + ", output '" +
                        reference->output + "' of '" + reference->node + "' is a " +
                        std::string(actions::port_kind_name(given->kind)),
                    "", field);
    }
  }
  return {};
}

Result<Value> fill_text(const std::string& text, const std::map<std::string, Value>& params,
                        std::string_view path) {
  std::string filled;
  std::size_t at = 0;
  while (true) {
    const auto open = text.find(kOpen, at);
    filled += text.substr(at, open - at);
    if (open == std::string::npos) return Value(std::move(filled));
    const auto close = text.find('}', open);
    if (close == std::string::npos)
      return fail(Code::kInvalid, "'" + text + "' has an open ${", "close it with }",
                  std::string(path));
    const std::string expression = text.substr(open + kOpen.size(), close - open - kOpen.size());
    at = close + 1;
    if (!expression.starts_with("params.")) {
      filled +=
          text.substr(open, close + 1 - open);  // of nodes: filled when their outputs are there
      continue;
    }
    const auto param = params.find(expression.substr(7));
    if (param == params.end()) {
      std::vector<std::string> names;
      for (const auto& [name, value] : params) names.push_back(name);
      const std::string near = nearest_name(expression.substr(7), names);
      return fail(Code::kInvalid, "there is no parameter '" + expression.substr(7) + "'",
                  near.empty() ? "declare it under spec.params" : "did you mean '" + near + "'?",
                  std::string(path));
    }
    if (open == 0 && close + 1 == text.size()) return param->second;
    filled += param->second.is_string() ? param->second.as_string() : dump_json(param->second);
  }
}

}  // namespace

std::optional<OutputReference> output_reference(const Value& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.as_string();
  if (!text.starts_with("${nodes.") || !text.ends_with('}') || text.find('}') != text.size() - 1)
    return std::nullopt;
  const auto parts = split(std::string_view(text).substr(2, text.size() - 3), '.');
  if (parts.size() != 4 || parts[2] != "outputs") return std::nullopt;
  return OutputReference{parts[1], parts[3]};
}

Result<Value> fill_params(const Value& value, const std::map<std::string, Value>& params,
                          std::string_view path) {
  if (value.is_string()) return fill_text(value.as_string(), params, path);
  if (value.is_array()) {
    Array filled;
    for (const Value& item : value.as_array()) {
      TAKT_ASSIGN(Value one, fill_params(item, params, path));
      filled.push_back(std::move(one));
    }
    return Value(std::move(filled));
  }
  if (value.is_object()) {
    Object filled;
    for (const auto& [key, item] : value.as_object()) {
      TAKT_ASSIGN(filled[key], fill_params(item, params, std::string(path) + "." + key));
    }
    return Value(std::move(filled));
  }
  return value;
}

Result<std::map<std::string, Value>> merge_params(const PipelineSpec& spec, const Object& given) {
  std::map<std::string, Value> params = spec.params;
  std::vector<std::string> names;
  for (const auto& [name, value] : params) names.push_back(name);
  for (const auto& [name, value] : given) {
    if (!params.contains(name)) {
      const std::string near = nearest_name(name, names);
      return fail(Code::kInvalid, "pipeline '" + spec.name + "' has no parameter '" + name + "'",
                  near.empty() ? "see its spec.params" : "did you mean '" + near + "'?",
                  "params." + name);
    }
    params[name] = value;
  }
  return params;
}

Result<actions::StepDefinition> step_definition(const NodeSpec& node,
                                                const std::map<std::string, Value>& params) {
  actions::StepDefinition definition;
  definition.name = node.name;
  TAKT_ASSIGN(definition.with,
              fill_params(node.with, params, node.action == "job" ? "job" : "with"));
  definition.outputs_declared = node.outputs;
  return definition;
}

Result<PipelineSpec> parse_pipeline(const Value& document, const actions::Registry& registry) {
  Fields top(document, "");
  const std::string kind = top.text("kind");
  PipelineSpec spec;
  spec.name = top.text("name");
  const Value& body = top.any("spec");
  if (kind != "Pipeline") top.reject("kind", "'" + kind + "' is not Pipeline");
  TAKT_RETURN_IF_ERROR(top.done());
  TAKT_RETURN_IF_ERROR(check_name("pipeline name", spec.name));
  Fields fields(body, "spec");
  const Value& trigger = fields.any("on");
  for (const auto& [name, value] : fields.object("params")) spec.params[name] = value;
  const Array& nodes = fields.array("nodes");
  if (nodes.empty()) fields.reject("nodes", "a pipeline needs at least one node");
  if (nodes.size() > kNodesMax)
    fields.reject("nodes",
                  std::to_string(nodes.size()) + " nodes, at most " + std::to_string(kNodesMax));
  TAKT_RETURN_IF_ERROR(fields.done());
  if (!trigger.is_null()) {
    Fields on(trigger, "spec.on");
    spec.on_dataset = on.text("dataset");
    TAKT_RETURN_IF_ERROR(on.done());
    if (!spec.params.contains("data"))
      return fail(Code::kInvalid, "`on: {dataset}` sets the parameter data, which is not declared",
                  "add `data: " + spec.on_dataset + "` to spec.params", "spec.params");
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string path = "spec.nodes[" + std::to_string(i) + "]";
    TAKT_ASSIGN(NodeSpec node, read_node(nodes[i], path));
    if (!seen.insert(node.name).second)
      return fail(Code::kInvalid, "two nodes are called '" + node.name + "'", "", path + ".name");
    spec.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < spec.nodes.size(); ++i)
    TAKT_RETURN_IF_ERROR(link_inputs(spec, spec.nodes[i], "spec.nodes[" + std::to_string(i) + "]"));
  TAKT_RETURN_IF_ERROR(check_parameters(spec));
  TAKT_RETURN_IF_ERROR(topological_order(spec));
  std::vector<actions::StepPorts> ports;
  for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
    TAKT_ASSIGN(auto step_ports,
                ports_of(spec, spec.nodes[i], "spec.nodes[" + std::to_string(i) + "]", registry));
    ports.push_back(std::move(step_ports));
  }
  TAKT_RETURN_IF_ERROR(check_ports(spec, ports));
  return spec;
}

}  // namespace takt::pipelines
