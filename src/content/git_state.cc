// SPDX-License-Identifier: Apache-2.0
// git_state of snapshot.h.
#include "takt/base/process.h"
#include "takt/content/snapshot.h"

namespace takt::content {
namespace {

constexpr std::int64_t kGitTimeoutMs = 30'000;

// Standard output of a git command without its last line end; empty when it fails.
std::string ask_git(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  ProcessSpec spec;
  // Options that a repository's configuration could use to start programs or to change the output.
  spec.command = {"git", "--no-optional-locks", "-c", "core.fsmonitor=false",
                  "-C",  folder.string()};
  spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
  spec.environment = {"GIT_TERMINAL_PROMPT=0", "LC_ALL=C"};
  Result<Completed> completed = run(std::move(spec), kGitTimeoutMs);
  if (!completed || completed->exit_code != 0) return {};
  return std::move(completed->output);
}

std::string trim_line_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// https://user:token@host/x -> https://host/x; scp-like forms (git@host:x) hold no secret.
std::string without_credentials(std::string url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const std::size_t host = scheme + 3;
  const std::size_t path = std::min(url.find('/', host), url.size());
  const std::size_t at = url.rfind('@', path);
  if (at == std::string::npos || at < host || at >= path) return url;
  return url.erase(host, at + 1 - host);
}

}  // namespace

GitState git_state(const std::filesystem::path& folder) {
  GitState state;
  state.commit = trim_line_end(ask_git(folder, {"rev-parse", "--verify", "HEAD"}));
  if (state.commit.empty()) return {};
  state.remote =
      without_credentials(trim_line_end(ask_git(folder, {"config", "--get", "remote.origin.url"})));
  state.diff = ask_git(folder, {"diff", "HEAD", "--no-color", "--no-ext-diff", "--no-textconv",
                                "--binary", "--", "."});
  return state;
}

}  // namespace takt::content
