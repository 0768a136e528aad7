// SPDX-License-Identifier: Apache-2.0
#include "takt/shim/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <map>

#include "takt/base/file.h"

namespace takt::shim {
namespace {

constexpr std::size_t kSmallFileBytes = 1 << 20;
constexpr int kPauseMs = 2;

struct ProcessEntry {
  pid_t parent = 0;
  bool is_zombie = false;
};

// Fields 3 and 4 of /proc/PID/stat, behind the command name, which may hold anything.
bool read_process(pid_t pid, ProcessEntry& entry) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat", kSmallFileBytes);
  if (!stat) return false;
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= stat->size()) return false;
  entry.is_zombie = (*stat)[name_end + 2] == 'Z';
  const char* begin = stat->data() + name_end + 4;
  return std::from_chars(begin, stat->data() + stat->size(), entry.parent).ec == std::errc();
}

std::map<pid_t, ProcessEntry> all_processes() {
  std::map<pid_t, ProcessEntry> all;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return all;
  while (const dirent* found = ::readdir(proc)) {
    const std::string_view name(found->d_name);
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr !=
        name.data() + name.size())
      continue;
    ProcessEntry entry;
    if (read_process(pid, entry)) all.emplace(pid, entry);
  }
  ::closedir(proc);
  return all;
}

bool write_word(const std::string& path, std::string_view word) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), word.data(), word.size()) == static_cast<ssize_t>(word.size());
}

// The number after `key` in a file of "key number" lines.
std::int64_t number_in(const std::string& path, std::string_view key, std::int64_t absent) {
  const auto text = read_file(path, kSmallFileBytes);
  if (!text) return absent;
  std::size_t at = 0;
  while (at < text->size()) {
    std::size_t end = text->find('\n', at);
    if (end == std::string::npos) end = text->size();
    const std::string_view line(text->data() + at, end - at);
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') {
      std::int64_t number = absent;
      std::from_chars(line.data() + key.size() + 1, line.data() + line.size(), number);
      return number;
    }
    at = end + 1;
  }
  return absent;
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

bool is_populated(const std::vector<std::string>& cgroups) {
  for (const std::string& cgroup : cgroups) {
    // v2 counts nested groups; v1 has no such file, so its members are asked.
    const std::int64_t populated = number_in(cgroup + "/cgroup.events", "populated", -1);
    if (populated > 0) return true;
    if (populated < 0 && !cgroup_members(cgroup).empty()) return true;
  }
  return false;
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
  const std::map<pid_t, ProcessEntry> all = all_processes();
  std::vector<pid_t> found;
  for (const auto& [pid, entry] : all) {
    if (entry.is_zombie) continue;
    pid_t at = entry.parent;
    for (int steps = 0; at > 1 && at != root && steps < 10'000; ++steps) {
      const auto parent = all.find(at);
      if (parent == all.end()) break;
      at = parent->second.parent;
    }
    if (at == root) found.push_back(pid);
  }
  return found;
}

std::vector<pid_t> cgroup_members(const std::string& cgroup) {
  std::vector<pid_t> members;
  const auto text = read_file(cgroup + "/cgroup.procs", kSmallFileBytes);
  if (!text) return members;
  const char* at = text->data();
  const char* const end = at + text->size();
  while (at < end) {
    pid_t pid = 0;
    const auto [next, error] = std::from_chars(at, end, pid);
    if (error == std::errc() && pid > 0) members.push_back(pid);
    at = next + 1;
  }
  return members;
}

bool kill_tree(const std::vector<std::string>& cgroups, const std::string& cgroup_kill,
               const std::function<void()>& reap, std::int64_t patience_ms) {
  const pid_t self = ::getpid();
  for (std::int64_t waited = 0;; waited += kPauseMs) {
    reap();
    if (!has_children() && !is_populated(cgroups)) return true;
    if (waited >= patience_ms) return false;
    const bool killed = !cgroup_kill.empty() && write_word(cgroup_kill + "/cgroup.kill", "1");
    if (!killed) {
      for (const std::string& cgroup : cgroups)
        for (const pid_t pid : cgroup_members(cgroup))
          if (pid != self) ::kill(pid, SIGKILL);
    }
    // Only without cgroups, or when a child left before it entered them, is there more to walk.
    if (!killed || waited > 50) {
      for (const pid_t pid : descendants(self)) ::kill(pid, SIGKILL);
    }
    ::poll(nullptr, 0, kPauseMs);
  }
}

std::int64_t oom_kills(const std::string& cgroup_memory) {
  if (cgroup_memory.empty()) return 0;
  const std::int64_t v2 = number_in(cgroup_memory + "/memory.events", "oom_kill", -1);
  return v2 >= 0 ? v2 : number_in(cgroup_memory + "/memory.oom_control", "oom_kill", 0);
}

std::int64_t cgroup_cpu_ms(const std::string& cgroup) {
  if (cgroup.empty()) return -1;
  const std::int64_t us = number_in(cgroup + "/cpu.stat", "usage_usec", -1);
  return us < 0 ? -1 : us / 1000;
}

}  // namespace takt::shim
