// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/executors/isolation.h"

#include <unistd.h>

#include <array>
#include <sstream>

#include "takt/base/file.h"
#include "takt/base/process.h"

namespace takt::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kIsolationNames{"namespace", "bubblewrap", "none"};
constexpr std::int64_t kProbeTimeoutMs = 10'000;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// A folder that holds a Python and its library. Only such ones are shown for a user's word.
bool is_python_prefix(const fs::path& prefix) {
  if (prefix.relative_path().empty()) return false;
  if (is_there(prefix / "pyvenv.cfg")) return true;
  std::error_code error;
  for (fs::directory_iterator at(prefix / "lib", error); !error && at != fs::directory_iterator();
       at.increment(error))
    if (at->path().filename().string().starts_with("python3") && is_there(at->path() / "os.py"))
      return true;
  return false;
}

// `home = /usr/bin` of a virtual environment: where its real interpreter lies.
fs::path venv_home(const fs::path& prefix) {
  const auto text = read_file(prefix / "pyvenv.cfg", 1 << 16);
  if (!text) return {};
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (!line.starts_with("home") || equals == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(' ', equals + 1);
    return begin == std::string::npos ? fs::path() : fs::path(line.substr(begin));
  }
  return {};
}

void add_python(const std::string& python, std::vector<std::string>& read_only) {
  if (python.empty()) return;
  const auto add = [&read_only](const fs::path& prefix) {
    if (is_python_prefix(prefix) && prefix != "/usr") read_only.push_back(prefix.string());
  };
  const fs::path prefix = fs::path(python).lexically_normal().parent_path().parent_path();
  add(prefix);
  const fs::path home = venv_home(prefix);
  if (!home.empty()) add(home.lexically_normal().parent_path());
  // The interpreter behind the links, whose library the prefix above may not hold.
  std::error_code error;
  const fs::path real = fs::canonical(python, error);
  if (!error) add(real.parent_path().parent_path());
}

// The command of a replica is takt's own program, with the inference library that the server names
// or that lies beside it (src/serve/engines looks in the same places).
void add_own_program(const Launch& launch, std::vector<std::string>& read_only) {
  const auto add = [&read_only](const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (!error) read_only.push_back(real.string());
  };
  if (launch.command[0].starts_with('/')) {
    const fs::path bin = fs::path(launch.command[0]).parent_path();
    add(bin);
    add(bin / "../lib/takt");
    add(bin / "../../ort");
  }
  const auto runtime = launch.environment.find("TAKT_ONNXRUNTIME");
  if (runtime == launch.environment.end()) return;
  add(fs::path(runtime->second).parent_path());
  std::error_code error;
  const fs::path real = fs::canonical(runtime->second, error);
  if (!error) add(real.parent_path());
}

}  // namespace

std::string_view isolation_name(IsolationKind kind) {
  return kIsolationNames.at(static_cast<std::size_t>(kind));
}

IsolationProbe probe_isolation(const fs::path& shim, const fs::path& data_dir) {
  std::string reason;
  if (::geteuid() == 0) {
    const auto tried =
        run({.command = {shim.string(), "--probe", data_dir.string()}}, kProbeTimeoutMs);
    if (tried && tried->exit_code == 0) return {IsolationKind::kNamespace, ""};
    reason = tried ? tried->errors : tried.error().text();
  }
  const auto wrapped = run({.command = {"bwrap", "--dev-bind", "/", "/", "true"}}, kProbeTimeoutMs);
  if (wrapped && wrapped->exit_code == 0) return {IsolationKind::kBubblewrap, ""};
  reason += wrapped ? wrapped->errors : wrapped.error().text();
  while (reason.ends_with('\n')) reason.pop_back();
  return {IsolationKind::kNone,
          "jobs can read the server's files: neither own mounts nor bubblewrap work here (" +
              reason +
              "); run the server as root, or install bubblewrap and allow user namespaces"};
}

VisibleFolders visible_folders(const Launch& launch) {
  const AttemptFolder& folder = launch.folder;
  VisibleFolders visible;
  for (const fs::path& path : {folder.work(), folder.outputs(), folder.home(), folder.tmp(),
                               folder.ports(), folder.checkpoint()})
    visible.writable.push_back(path.string());
  visible.read_only = {folder.inputs().string(), folder.params().string()};
  add_python(launch.python, visible.read_only);
  if (is_endless(launch.kind)) add_own_program(launch, visible.read_only);
  return visible;
}

std::vector<std::string> wrap_in_bubblewrap(const Launch& launch, const fs::path& data_dir) {
  const VisibleFolders visible = visible_folders(launch);
  std::vector<std::string> words{"bwrap", "--dev-bind", "/", "/", "--tmpfs", data_dir.string()};
  for (const std::string& path : visible.writable)
    words.insert(words.end(), {"--bind", path, path});
  for (const std::string& path : visible.read_only)
    words.insert(words.end(), {"--ro-bind", path, path});
  words.insert(words.end(),
               {"--remount-ro", data_dir.string(), "--chdir", launch.folder.work().string(), "--"});
  words.insert(words.end(), launch.command.begin(), launch.command.end());
  return words;
}

}  // namespace takt::jobs
