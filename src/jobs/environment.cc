// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/environment.h"

#include <unistd.h>

namespace takt::jobs {
namespace {

constexpr std::string_view kSystemPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

using actions::PortKind;

bool is_file_kind(PortKind kind) { return kind == PortKind::kJson || kind == PortKind::kReport; }

std::string time_zone() {
  const char* zone = ::getenv("TZ");
  return zone == nullptr ? "UTC" : zone;
}

std::string expand(const std::string& word, const std::map<std::string, std::string>& environment) {
  std::string out;
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = word.find("${", at);
    const std::size_t end = begin == std::string::npos ? begin : word.find('}', begin);
    if (end == std::string::npos) return out + word.substr(at);
    const auto variable = environment.find(word.substr(begin + 2, end - begin - 2));
    out += word.substr(at, begin - at);
    if (variable != environment.end())
      out += variable->second;
    else
      out += word.substr(begin, end + 1 - begin);
    at = end + 1;
  }
}

void put_ports(const Job& job, const AttemptFolder& folder,
               std::map<std::string, std::string>& env) {
  for (const auto& [name, port] : job.inputs)
    env["TAKT_INPUT_" + variable_name(name)] = input_path(folder, name, port.kind).string();
  for (const JobOutput& output : job.spec.outputs)
    env["TAKT_OUTPUT_" + variable_name(output.name)] =
        output_path(folder, output.name, output.kind).string();
}

}  // namespace

std::string variable_name(std::string_view name) {
  std::string variable(name);
  for (char& c : variable) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    if (c == '-' || c == '.') c = '_';
  }
  return variable;
}

std::filesystem::path input_path(const AttemptFolder& folder, const std::string& name,
                                 PortKind kind) {
  return folder.inputs() / (is_file_kind(kind) ? name + ".json" : name);
}

std::filesystem::path output_path(const AttemptFolder& folder, const std::string& name,
                                  PortKind kind) {
  return folder.outputs() / (is_file_kind(kind) ? name + ".json" : name);
}

std::map<std::string, std::string> build_environment(const Job& job, const Attempt& attempt,
                                                     const AttemptFolder& folder,
                                                     const EnvironmentFacts& facts) {
  const JobSpec& spec = job.spec;
  std::map<std::string, std::string> env;
  std::string path(kSystemPath);
  if (!spec.python.empty())
    path = std::filesystem::path(spec.python).parent_path().string() + ":" + path;
  env["PATH"] = path;
  env["LANG"] = "C.UTF-8";
  env["TZ"] = time_zone();
  env["USER"] = env["LOGNAME"] = "takt-job";
  env["PYTHONUNBUFFERED"] = "1";  // the log is watched live
  if (spec.resources.gpus == 0) env["CUDA_VISIBLE_DEVICES"] = "";
  for (const auto& [name, value] : spec.env) env[name] = value;
  // From here on the platform's word counts.
  env["HOME"] = folder.home().string();
  env["TMPDIR"] = folder.tmp().string();
  for (const auto& [name, value] : spec.params)
    env["TAKT_PARAM_" + variable_name(name)] =
        value.is_string() ? value.as_string() : dump_json(value);
  put_ports(job, folder, env);
  env["TAKT_PARAMS"] = folder.params().string();
  env["TAKT_CHECKPOINT_DIR"] = folder.checkpoint().string();
  env["TAKT_SEED"] = std::to_string(spec.seed);
  env["TAKT_JOB_ID"] = std::to_string(job.id.value);
  env["TAKT_ATTEMPT"] = std::to_string(attempt.number);
  env["TAKT_PROJECT"] = job.project.value;
  env["TAKT_URL"] = facts.server_url;
  env["TAKT_PORTS_DIR"] = folder.ports().string();
  if (!facts.token.empty()) {
    env["TAKT_TOKEN"] = facts.token;
    env["MLFLOW_TRACKING_URI"] = facts.server_url;
    env["MLFLOW_TRACKING_TOKEN"] = facts.token;
  }
  if (!job.run.empty()) env["TAKT_RUN_ID"] = env["MLFLOW_RUN_ID"] = job.run.value;
  return env;
}

std::vector<std::string> build_command(const JobSpec& spec,
                                       const std::map<std::string, std::string>& environment) {
  std::vector<std::string> command = spec.command;
  if (!spec.python.empty() && (command[0] == "python" || command[0] == "python3"))
    command[0] = spec.python;
  if (is_endless(spec.kind))
    for (std::string& word : command) word = expand(word, environment);
  return command;
}

}  // namespace takt::jobs
