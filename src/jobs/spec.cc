// SPDX-License-Identifier: Apache-2.0
// parse_job_spec and to_value of job.h: the `spec` of a Job document.
#include <algorithm>
#include <functional>

#include "takt/base/units.h"
#include "takt/jobs/job.h"

namespace takt::jobs {
namespace {

constexpr std::size_t kNamesMax = 1000;    // inputs, outputs, params, env of one job
constexpr std::size_t kWordsMax = 10'000;  // of a command
constexpr std::int64_t kGpusMax = 64;
constexpr std::int64_t kRetriesMax = 100;
constexpr std::int64_t kDurationMsMax = 3650ll * 24 * 3'600'000;  // times are added to it

using actions::PortKind;

// An amount written as text or as a number ("500m", 2), by the parser of its unit.
void read_amount(Fields& fields, std::string_view key,
                 Result<std::int64_t> (*parse)(std::string_view), std::int64_t min,
                 std::int64_t& into, std::int64_t max = INT64_MAX) {
  if (!fields.has(key)) {
    fields.amount(key, "");
    return;
  }
  const std::string text = fields.amount(key, "");
  const Result<std::int64_t> value = parse(text);
  if (!value)
    fields.reject(key, value.error().message, value.error().hint);
  else if (*value < min)
    fields.reject(key, "must be at least " + std::to_string(min) + ", got " + text);
  else if (*value > max)
    fields.reject(key, "must be at most " + format_duration_ms(max) + ", got " + text);
  else
    into = *value;
}

void check_key(Fields& fields, std::string_view key, std::string_view what,
               const std::string& name) {
  if (const Status good = check_name(what, name); !good)
    fields.reject(std::string(key) + "." + name, good.error().message, good.error().hint);
}

void read_command(Fields& fields, JobSpec& spec) {
  if (!fields.has("command")) {
    fields.any("command");
    fields.reject("command", "required",
                  "write command: [python, train.py] or one text for the shell");
    return;
  }
  const Value& command = fields.any("command");
  spec.command = command.is_string() ? std::vector<std::string>{"sh", "-c", command.as_string()}
                                     : fields.texts("command");
  if (spec.command.size() > kWordsMax)
    fields.reject("command", "has " + std::to_string(spec.command.size()) + " words, at most " +
                                 std::to_string(kWordsMax) + " are allowed");
  if (spec.command.empty() || spec.command[0].empty())
    fields.reject("command", "must name a program");
  for (const std::string& word : spec.command)
    if (word.find('\0') != std::string::npos) fields.reject("command", "holds a NUL character");
}

void read_digest(Fields& fields, std::string_view key, std::string hint, Digest& into) {
  const std::string text = fields.text(key, "");
  if (text.empty()) return;
  if (!is_digest(text))
    fields.reject(key, "must be a digest (64 hex digits), got '" + text + "'", std::move(hint));
  else
    into.value = text;
}

void read_input(Fields& fields, const std::string& name, const Value& value, JobSpec& spec) {
  const std::string key = "inputs." + name;
  if (value.is_string()) {
    spec.inputs.push_back({name, PortKind::kDataset, value.as_string()});
    return;
  }
  if (!value.is_object() || !value["ref"].is_string() || value.as_object().size() != 1) {
    fields.reject(key, "must be a dataset's name (digits-train@3) or {ref: kind/name}");
    return;
  }
  const Result<Ref> ref = parse_ref(value["ref"].as_string());
  if (!ref) {
    fields.reject(key + ".ref", ref.error().message, ref.error().hint);
    return;
  }
  static const std::map<std::string, PortKind, std::less<>> kKinds{
      {"dataset", PortKind::kDataset},
      {"model", PortKind::kModelVersion},
      {"artifact", PortKind::kArtifact}};
  const auto kind = kKinds.find(ref->kind);
  if (kind == kKinds.end()) {
    fields.reject(key + ".ref", "a job cannot take a " + ref->kind + " as input",
                  "use dataset/NAME@N, model/NAME@N or artifact/DIGEST");
    return;
  }
  spec.inputs.push_back({name, kind->second, ref->path});
}

void read_output(Fields& fields, const std::string& name, const Value& value, JobSpec& spec) {
  const std::string key = "outputs." + name;
  JobOutput output{.name = name};
  std::string kind_name;
  if (value.is_string()) {
    kind_name = value.as_string();
  } else {
    Fields inner(value, key);
    kind_name = inner.text("kind");
    output.dataset = inner.text("name", "");
    if (const Status good = inner.done(); !good) {
      const std::string& path = good.error().field;
      fields.reject(path, good.error().message.substr(path.size() + 2), good.error().hint);
      return;
    }
  }
  const Result<PortKind> kind = actions::parse_port_kind(kind_name);
  const bool is_known = kind && (*kind == PortKind::kDataset || *kind == PortKind::kModel ||
                                 *kind == PortKind::kArtifact || *kind == PortKind::kJson);
  if (!is_known) {
    fields.reject(key + ".kind", "'" + kind_name + "' is not a kind of output",
                  "one of dataset, model, artifact, json");
    return;
  }
  output.kind = *kind;
  if (output.kind == PortKind::kDataset && output.dataset.empty()) output.dataset = name;
  if (output.kind != PortKind::kDataset && !output.dataset.empty())
    fields.reject(key + ".name", "only a dataset has a name");
  if (!output.dataset.empty()) {
    if (const Status good = check_name("dataset name", output.dataset); !good)
      fields.reject(key + ".name", good.error().message, good.error().hint);
  }
  spec.outputs.push_back(std::move(output));
}

// The object at `key`, its fields read by `read`; errors come out under the whole path.
void read_object(Fields& fields, std::string_view key, const std::function<void(Fields&)>& read) {
  const Value& value = fields.any(key);
  if (value.is_null()) return;
  Fields inner(value, std::string(key));
  read(inner);
  if (const Status good = inner.done(); !good) {
    const std::string& path = good.error().field;
    fields.reject(path, good.error().message.substr(path.size() + 2), good.error().hint);
  }
}

void read_environment(Fields& fields, JobSpec& spec) {
  read_object(fields, "environment", [&](Fields& inner) {
    spec.python = inner.text("python", "");
    read_digest(inner, "lock", "takt submit records and uploads the lock", spec.environment);
    if (!spec.python.empty() && !spec.python.starts_with('/'))
      inner.reject("python", "must be an absolute path, got '" + spec.python + "'");
  });
}

void read_resources(Fields& fields, JobSpec& spec) {
  read_object(fields, "resources", [&](Fields& inner) {
    read_amount(inner, "cpu", &parse_cpu, 1, spec.resources.cpu_millicores);
    read_amount(inner, "memory", &parse_bytes, 1 << 20, spec.resources.memory_bytes);
    spec.resources.gpus = inner.integer("gpus", 0, 0, kGpusMax);
  });
  read_object(fields, "limits", [&](Fields& inner) {
    read_amount(inner, "cpu", &parse_cpu, 10, spec.limit_cpu_millicores);
    read_amount(inner, "memory", &parse_bytes, 1 << 20, spec.limit_memory_bytes);
  });
  if (spec.limit_memory_bytes > 0 && spec.limit_memory_bytes < spec.resources.memory_bytes)
    fields.reject("limits.memory", format_bytes(spec.limit_memory_bytes) + " is below the " +
                                       format_bytes(spec.resources.memory_bytes) +
                                       " of resources.memory");
  if (spec.limit_cpu_millicores > 0 && spec.limit_cpu_millicores < spec.resources.cpu_millicores)
    fields.reject("limits.cpu", format_cpu(spec.limit_cpu_millicores) + " is below the " +
                                    format_cpu(spec.resources.cpu_millicores) +
                                    " of resources.cpu");
}

bool is_variable_name(std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, is_word);
}

void read_maps(Fields& fields, JobSpec& spec) {
  for (const auto& [name, value] : fields.object("params")) {
    check_key(fields, "params", "parameter name", name);
    if (value.is_object() || value.is_array() || value.is_null())
      fields.reject("params." + name, "must be text, a number or a boolean");
    spec.params.emplace(name, value);
  }
  for (const auto& [name, value] : fields.object("inputs")) {
    check_key(fields, "inputs", "input name", name);
    read_input(fields, name, value, spec);
  }
  for (const auto& [name, value] : fields.object("outputs")) {
    check_key(fields, "outputs", "output name", name);
    read_output(fields, name, value, spec);
  }
  for (const auto& [name, value] : fields.object("env")) {
    if (!is_variable_name(name))
      fields.reject("env." + name, "is not a variable name", "use letters, digits and _");
    else if (value.is_string())
      spec.env.emplace(name, value.as_string());
    else if (value.is_number() || value.is_bool())
      spec.env.emplace(name, dump_json(value));
    else
      fields.reject("env." + name, "must be text");
  }
  for (const std::size_t size :
       {spec.params.size(), spec.inputs.size(), spec.outputs.size(), spec.env.size()})
    if (size > kNamesMax)
      fields.reject("", "more than " + std::to_string(kNamesMax) +
                            " parameters, inputs, outputs or variables");
}

void read_scalars(Fields& fields, JobSpec& spec) {
  spec.ports = fields.texts("ports");
  for (const std::string& port : spec.ports)
    if (const Status good = check_name("port name", port); !good)
      fields.reject("ports", good.error().message, good.error().hint);
  read_amount(fields, "timeout", &parse_duration_ms, 1, spec.timeout_ms, kDurationMsMax);
  read_object(fields, "retries", [&](Fields& inner) {
    spec.retries_max = static_cast<int>(inner.integer("max", 0, 0, kRetriesMax));
    read_amount(inner, "backoff", &parse_duration_ms, 0, spec.retry_backoff_ms, kDurationMsMax);
  });
  spec.priority = static_cast<int>(fields.integer("priority", 5, 1, 9));
  spec.seed = fields.integer("seed", 0, INT64_MIN, INT64_MAX);
  spec.experiment = fields.text("experiment", "");
}

Value input_value(const JobInput& input) {
  if (input.kind == PortKind::kDataset) return Value(input.reference);
  const std::string kind = input.kind == PortKind::kModelVersion ? "model" : "artifact";
  return Value(Object{{"ref", kind + "/" + input.reference}});
}

Value output_value(const JobOutput& output) {
  Object value{{"kind", actions::port_kind_name(output.kind)}};
  if (!output.dataset.empty()) value["name"] = output.dataset;
  return Value(std::move(value));
}

void put_maps(const JobSpec& spec, Value& out) {
  for (const auto& [name, value] : spec.params) out["params"][name] = value;
  for (const JobInput& input : spec.inputs) out["inputs"][input.name] = input_value(input);
  for (const JobOutput& output : spec.outputs) out["outputs"][output.name] = output_value(output);
  for (const auto& [name, value] : spec.env) out["env"][name] = value;
}

std::string duration_text(std::int64_t ms) { return std::to_string(ms) + "ms"; }

}  // namespace

Result<JobSpec> parse_job_spec(std::string_view name, const Value& value) {
  JobSpec spec;
  spec.name = name;
  TAKT_RETURN_IF_ERROR(check_name("job name", name).transform_error([](Error error) {
    error.field = "name";
    return error;
  }));
  Fields fields(value, "spec");
  read_command(fields, spec);
  read_maps(fields, spec);
  read_digest(fields, "code", "takt submit uploads the folder and fills this in", spec.code);
  read_environment(fields, spec);
  read_resources(fields, spec);
  read_scalars(fields, spec);
  TAKT_RETURN_IF_ERROR(fields.done());
  return spec;
}

Value to_value(const JobSpec& spec) {
  Value out{Object{}};
  Array command;
  for (const std::string& word : spec.command) command.emplace_back(word);
  out["command"] = std::move(command);
  put_maps(spec, out);
  if (!spec.code.empty()) out["code"] = spec.code.value;
  if (!spec.python.empty()) out["environment"]["python"] = spec.python;
  if (!spec.environment.empty()) out["environment"]["lock"] = spec.environment.value;
  out["resources"] = Object{{"cpu", format_cpu(spec.resources.cpu_millicores)},
                            {"memory", std::to_string(spec.resources.memory_bytes)},
                            {"gpus", spec.resources.gpus}};
  if (spec.limit_cpu_millicores > 0) out["limits"]["cpu"] = format_cpu(spec.limit_cpu_millicores);
  if (spec.limit_memory_bytes > 0)
    out["limits"]["memory"] = std::to_string(spec.limit_memory_bytes);
  for (const std::string& port : spec.ports) out["ports"].push_back(port);
  if (spec.timeout_ms > 0) out["timeout"] = duration_text(spec.timeout_ms);
  out["retries"] =
      Object{{"max", spec.retries_max}, {"backoff", duration_text(spec.retry_backoff_ms)}};
  out["priority"] = spec.priority;
  out["seed"] = spec.seed;
  if (!spec.experiment.empty()) out["experiment"] = spec.experiment;
  return out;
}

}  // namespace takt::jobs
