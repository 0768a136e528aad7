// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/executors/cgroups.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sstream>

#include "takt/base/clock.h"
#include "takt/base/file.h"

namespace takt::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCpuPeriodUs = 100'000;
constexpr std::string_view kServerLeaf = "server";
constexpr std::string_view kPidsMax = "16384";
constexpr int kRemoveTriesMax = 100;
constexpr std::int64_t kRemovePauseMs = 10;

// Where hierarchies are mounted and where this process is in them.
struct CgroupView {
  fs::path v2, v1_memory, v1_cpu;  // this process's own folders
};

bool is_folder(const fs::path& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string read_text(const fs::path& path) {
  return read_file(path, 1 << 20).value_or(std::string());
}

bool write_text(const fs::path& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool has_word(std::string_view list, std::string_view word, char separator) {
  while (!list.empty()) {
    const std::size_t end = list.find(separator);
    if (list.substr(0, end) == word) return true;
    if (end == std::string_view::npos) return false;
    list.remove_prefix(end + 1);
  }
  return false;
}

// The own path in a hierarchy from /proc/self/cgroup lines "4:memory:/a" and "0::/a".
std::string own_path(std::string_view controller) {
  std::istringstream lines(read_text("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : has_word(names, controller, ','))
      return line.substr(second + 1);
  }
  return "/";
}

// In a container the path may be of another namespace: then the mount itself is our root.
fs::path own_folder(const fs::path& mount, std::string_view controller) {
  fs::path folder = mount;
  folder += own_path(controller);
  if (folder.string().ends_with('/')) folder = folder.parent_path();
  return is_folder(folder) ? folder : mount;
}

CgroupView find_view() {
  CgroupView view;
  std::istringstream lines(read_text("/proc/self/mounts"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device, mount, type, options;
    words >> device >> mount >> type >> options;
    if (type == "cgroup2" && view.v2.empty()) view.v2 = own_folder(mount, "");
    if (type != "cgroup") continue;
    if (has_word(options, "memory", ',')) view.v1_memory = own_folder(mount, "memory");
    if (has_word(options, "cpu", ',')) view.v1_cpu = own_folder(mount, "cpu");
  }
  // A service manager may have put us into our own leaf already (DelegateSubgroup=server).
  if (view.v2.filename() == kServerLeaf) view.v2 = view.v2.parent_path();
  return view;
}

bool make_cgroup(const fs::path& path) {
  return ::mkdir(path.c_str(), 0755) == 0 || (errno == EEXIST && is_folder(path));
}

// Controllers can be given to children only when no process sits in `folder` itself.
void enable_controllers(const fs::path& folder) {
  const auto enable = [&folder] {
    bool all = true;
    const std::string available = read_text(folder / "cgroup.controllers");
    for (const std::string_view controller : {"memory", "cpu", "pids"}) {
      std::string flat = available;
      std::ranges::replace(flat, '\n', ' ');
      if (has_word(flat, controller, ' '))
        all &= write_text(folder / "cgroup.subtree_control", "+" + std::string(controller));
    }
    return all;
  };
  if (enable()) return;
  const fs::path server = folder / kServerLeaf;
  if (make_cgroup(server) && write_text(server / "cgroup.procs", "0")) enable();
}

bool has_controller(const fs::path& folder, std::string_view controller) {
  std::string flat = read_text(folder / "cgroup.controllers");
  std::ranges::replace(flat, '\n', ' ');
  return has_word(flat, controller, ' ');
}

std::int64_t number_of(const fs::path& path) {
  const std::string text = read_text(path);
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void set_v2_limits(const fs::path& leaf, const CgroupLimits& limits, bool cpu, bool pids) {
  if (limits.memory_bytes_max > 0) {
    write_text(leaf / "memory.max", std::to_string(limits.memory_bytes_max));
    write_text(leaf / "memory.swap.max", "0");
    write_text(leaf / "memory.oom.group", "1");
  }
  if (pids) write_text(leaf / "pids.max", kPidsMax);
  if (!cpu) return;
  const std::int64_t weight =
      std::clamp<std::int64_t>(limits.cpu_weight_millicores / 10, 1, 10'000);
  write_text(leaf / "cpu.weight", std::to_string(weight));
  if (limits.cpu_millicores_max > 0)
    write_text(leaf / "cpu.max", std::to_string(limits.cpu_millicores_max * kCpuPeriodUs / 1000) +
                                     " " + std::to_string(kCpuPeriodUs));
}

Status cannot_make(const fs::path& path) {
  return fail(errno_error("making the cgroup " + path.string(), errno));
}

}  // namespace

Cgroups Cgroups::probe(std::string_view name) {
  Cgroups found;
  const CgroupView view = find_view();
  const std::string folder = "takt-" + std::string(name);
  if (!view.v2.empty() && make_cgroup(view.v2 / folder) &&
      ::access((view.v2 / folder / "cgroup.kill").c_str(), W_OK) == 0) {
    found.v2_ = view.v2 / folder;
    make_cgroup(found.v2_ / "shims");
    if (has_controller(view.v2, "memory")) {
      enable_controllers(view.v2);
      enable_controllers(found.v2_);
    }
    const fs::path trial = found.v2_ / "shims";
    found.v2_memory_ = ::access((trial / "memory.max").c_str(), W_OK) == 0;
    found.v2_cpu_ = ::access((trial / "cpu.max").c_str(), W_OK) == 0;
    found.v2_pids_ = ::access((trial / "pids.max").c_str(), W_OK) == 0;
  }
  if (!found.v2_memory_ && !view.v1_memory.empty() && make_cgroup(view.v1_memory / folder) &&
      ::access((view.v1_memory / folder / "memory.limit_in_bytes").c_str(), W_OK) == 0)
    found.v1_memory_ = view.v1_memory / folder;
  if (!found.v2_cpu_ && !view.v1_cpu.empty() && make_cgroup(view.v1_cpu / folder) &&
      ::access((view.v1_cpu / folder / "cpu.shares").c_str(), W_OK) == 0)
    found.v1_cpu_ = view.v1_cpu / folder;
  return found;
}

std::vector<fs::path> Cgroups::leaves(std::string_view leaf) const {
  std::vector<fs::path> all;
  for (const fs::path& parent : {v2_, v1_memory_, v1_cpu_})
    if (!parent.empty()) all.push_back(parent / leaf);
  return all;
}

// They may be gone: another server of the same data folder (in tests) removed them at its end.
void Cgroups::make_parents() const {
  for (const fs::path& parent : {v2_, v1_memory_, v1_cpu_})
    if (!parent.empty()) make_cgroup(parent);
  if (v2_.empty()) return;
  make_cgroup(v2_ / "shims");
  if (v2_memory_) enable_controllers(v2_);
}

void Cgroups::release() const {
  if (!v2_.empty()) ::rmdir((v2_ / "shims").c_str());
  for (const fs::path& parent : {v2_, v1_memory_, v1_cpu_})
    if (!parent.empty()) ::rmdir(parent.c_str());
}

Result<AttemptCgroups> Cgroups::make(std::string_view leaf, const CgroupLimits& limits) const {
  make_parents();
  AttemptCgroups made;
  for (const fs::path& path : leaves(leaf)) {
    if (!make_cgroup(path)) return fail(cannot_make(path).error());
    made.enter.push_back(path.string());
  }
  if (!v2_.empty()) {
    made.kill = (v2_ / leaf).string();
    made.shim = (v2_ / "shims").string();
    if (v2_memory_) made.memory = made.kill;
    set_v2_limits(v2_ / leaf, limits, v2_cpu_, v2_pids_);
  }
  if (!v1_memory_.empty()) {
    const fs::path group = v1_memory_ / leaf;
    made.memory = group.string();
    if (limits.memory_bytes_max > 0) {
      write_text(group / "memory.limit_in_bytes", std::to_string(limits.memory_bytes_max));
      write_text(group / "memory.memsw.limit_in_bytes", std::to_string(limits.memory_bytes_max));
    }
  }
  if (!v1_cpu_.empty()) {
    const fs::path group = v1_cpu_ / leaf;
    write_text(group / "cpu.shares", std::to_string(std::max<std::int64_t>(
                                         2, limits.cpu_weight_millicores * 1024 / 1000)));
    if (limits.cpu_millicores_max > 0) {
      write_text(group / "cpu.cfs_period_us", std::to_string(kCpuPeriodUs));
      write_text(group / "cpu.cfs_quota_us",
                 std::to_string(limits.cpu_millicores_max * kCpuPeriodUs / 1000));
    }
  }
  return made;
}

void Cgroups::remove(std::string_view leaf) const {
  for (const fs::path& path : leaves(leaf)) {
    // A killed process leaves its cgroup a moment later: nothing of this attempt may run on beside
    // the next one.
    for (int tries = 0; tries < kRemoveTriesMax; ++tries) {
      if (::rmdir(path.c_str()) == 0 || (errno != EBUSY && errno != ENOTEMPTY)) break;
      if (!write_text(path / "cgroup.kill", "1")) {
        std::istringstream pids(read_text(path / "cgroup.procs"));
        for (pid_t pid = 0; pids >> pid;) ::kill(pid, SIGKILL);
      }
      system_clock().sleep_ms(kRemovePauseMs);
    }
  }
}

std::string_view Cgroups::memory_cap() const {
  if (v2_memory_) return "cgroup-v2";
  return v1_memory_.empty() ? "none" : "cgroup-v1";
}

OwnLimits own_cgroup_limits() {
  OwnLimits limits;
  const CgroupView view = find_view();
  const auto lower = [](std::int64_t& into, std::int64_t value) {
    if (value > 0 && (into == 0 || value < into)) into = value;
  };
  // A limit of a folder above binds as well.
  const auto above = [](fs::path at, const auto& look) {
    for (int steps = 0; steps < 32 && at.has_relative_path() && is_folder(at);
         ++steps, at = at.parent_path())
      look(at);
  };
  above(view.v2, [&](const fs::path& at) {
    lower(limits.memory_bytes, number_of(at / "memory.max"));
    std::istringstream cpu(read_text(at / "cpu.max"));
    std::int64_t quota = 0, period = 0;
    if (cpu >> quota >> period && period > 0) lower(limits.cpu_millicores, quota * 1000 / period);
  });
  above(view.v1_memory, [&](const fs::path& at) {
    const std::int64_t bytes = number_of(at / "memory.limit_in_bytes");
    if (bytes < (std::int64_t{1} << 60)) lower(limits.memory_bytes, bytes);
  });
  above(view.v1_cpu, [&](const fs::path& at) {
    const std::int64_t quota = number_of(at / "cpu.cfs_quota_us");
    const std::int64_t period = number_of(at / "cpu.cfs_period_us");
    if (quota > 0 && period > 0) lower(limits.cpu_millicores, quota * 1000 / period);
  });
  return limits;
}

}  // namespace takt::jobs
