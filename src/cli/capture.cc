// SPDX-License-Identifier: Apache-2.0
#include "takt/cli/capture.h"

#include <unistd.h>

#include <cstdlib>

#include "takt/base/process.h"
#include "takt/cli/upload.h"
#include "takt/content/snapshot.h"

namespace takt::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kInterpreterTimeoutMs = 60'000;

/// Asks the interpreter itself, so that nothing needs to be installed in it.
constexpr const char* kLockScript =
    "import importlib.metadata as m, platform, sys\n"
    "print('python==' + platform.python_version())\n"
    "print('platform==' + sys.platform + '-' + platform.machine())\n"
    "seen = {d.metadata['Name'].lower(): d.version for d in m.distributions() if "
    "d.metadata['Name']}\n"
    "print('\\n'.join(n + '==' + v for n, v in sorted(seen.items())))\n";

std::string find_in_path(const std::string& word) {
  if (word.find('/') != std::string::npos) return fs::absolute(word).lexically_normal().string();
  std::string folders;
  if (const char* venv = std::getenv("VIRTUAL_ENV"); venv != nullptr && *venv != '\0')
    folders = std::string(venv) + "/bin:";
  if (const char* path = std::getenv("PATH"); path != nullptr) folders += path;
  std::size_t start = 0;
  while (start <= folders.size()) {
    const auto end = std::min(folders.find(':', start), folders.size());
    const fs::path candidate = fs::path(folders.substr(start, end - start)) / word;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
    start = end + 1;
  }
  return "";
}

std::string first_word(const Value& command) {
  if (command.is_array() && !command.as_array().empty() && command.as_array()[0].is_string())
    return command.as_array()[0].as_string();
  if (!command.is_string()) return "";
  return command.as_string().substr(0, command.as_string().find(' '));
}

/// The interpreter a job's spec asks for: its own, else the command's first word.
std::string wanted_python(const Value& spec) {
  if (const std::string own = spec["environment"].text_or("python", ""); !own.empty()) return own;
  const std::string word = first_word(spec["command"]);
  return is_python(word) ? word : "";
}

}  // namespace

bool is_python(const std::string& word) {
  const std::string name = fs::path(word).filename().string();
  return name == "python" || name.starts_with("python3");
}

Result<Digest> capture_code(Session& session, const fs::path& folder) {
  TAKT_ASSIGN(const auto files, content::walk(folder, {.use_ignore_file = true}));
  TAKT_ASSIGN(const Uploaded uploaded, upload_files(session, files, "code"));
  return uploaded.tree;
}

Result<CapturedEnvironment> capture_environment(Session& session, const std::string& word) {
  CapturedEnvironment environment;
  environment.python = find_in_path(word);
  const auto hint =
      "activate its virtual environment, or name it: environment: {python: /path/to/python}";
  if (environment.python.empty())
    return fail(Code::kNotFound, "no interpreter '" + word + "' in PATH", hint);
  ProcessSpec spec;
  spec.command = {environment.python, "-c", kLockScript};
  TAKT_ASSIGN(const Completed done, run(spec, kInterpreterTimeoutMs));
  if (done.exit_code != 0)
    return fail(Code::kInvalid,
                environment.python + " cannot list its packages: " + done.errors.substr(0, 300),
                hint);
  TAKT_ASSIGN(environment.lock, upload_bytes(session, done.output));
  return environment;
}

Status complete_job_spec(Session& session, Value& spec, const fs::path& folder) {
  const std::string code = spec.text_or("code", ".");
  const bool is_snapshot = is_digest(code);
  if (!is_snapshot) {
    const fs::path code_folder = folder / code;
    TAKT_ASSIGN(const Digest tree, capture_code(session, code_folder));
    spec["code"] = tree.value;
    const content::GitState git = content::git_state(code_folder);
    if (!git.commit.empty()) {
      if (spec["env"].is_null()) spec["env"] = Object{};
      spec["env"]["TAKT_GIT_COMMIT"] = git.commit;
      if (!git.remote.empty()) spec["env"]["TAKT_GIT_REMOTE"] = git.remote;
      if (!git.diff.empty()) {
        TAKT_ASSIGN(const Digest diff, upload_bytes(session, git.diff));
        spec["env"]["TAKT_GIT_DIFF"] = diff.value;
      }
    }
  }
  const std::string python = wanted_python(spec);
  if (python.empty()) return {};
  TAKT_ASSIGN(const CapturedEnvironment environment, capture_environment(session, python));
  spec["environment"] = Object{{"python", environment.python}, {"lock", environment.lock.value}};
  return {};
}

Result<std::optional<Digest>> complete_pipeline(Session& session, Value& definition) {
  std::optional<Digest> lock;
  const bool has_nodes = definition["spec"].is_object() && definition["spec"]["nodes"].is_array();
  if (!has_nodes) return lock;  // the server names what is wrong
  std::map<std::string, CapturedEnvironment> known;
  for (Value& node : definition["spec"]["nodes"].as_array()) {
    if (!node.is_object() || !node["job"].is_object()) continue;
    const std::string python = wanted_python(node["job"]);
    if (python.empty()) continue;
    if (!known.contains(python)) {
      TAKT_ASSIGN(known[python], capture_environment(session, python));
    }
    node["job"]["environment"] =
        Object{{"python", known[python].python}, {"lock", known[python].lock.value}};
    lock = known[python].lock;
  }
  return lock;
}

}  // namespace takt::cli
