// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/executors/local.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "takt/base/digest.h"
#include "takt/base/lock.h"
#include "takt/base/process.h"
#include "takt/base/safe_path.h"
#include "takt/base/value.h"
#include "takt/jobs/executors/cgroups.h"
#include "takt/jobs/executors/exit_notices.h"
#include "takt/jobs/executors/isolation.h"
#include "takt/jobs/executors/job_users.h"

namespace takt::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kShimAnswerMs = 20'000;
constexpr std::int64_t kTimeoutGraceMs = 5'000;
constexpr std::size_t kEndpointBytesMax = 256;
constexpr std::string_view kGivenUp = "given up\n";

std::string leaf_name(const Lease& lease) {
  return std::to_string(lease.job.value) + "-" + std::to_string(lease.attempt);
}

Value texts_value(const std::vector<std::string>& texts) {
  Array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return Value(std::move(list));
}

// Gives a folder and everything in it to the job's user, links themselves and not what they name.
Status give_to(const fs::path& folder, uid_t uid) {
  const auto give = [uid](const fs::path& path) -> Status {
    if (::lchown(path.c_str(), uid, uid) != 0)
      return fail(errno_error("giving " + path.string() + " to the job's user", errno));
    return {};
  };
  TAKT_RETURN_IF_ERROR(give(folder));
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error))
    TAKT_RETURN_IF_ERROR(give(at->path()));
  if (error) return fail(errno_error("walking " + folder.string(), error.value()));
  return {};
}

// "127.0.0.1:8123", of this machine only: a job must not send the gateway elsewhere.
bool is_local_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const std::string_view host = text.substr(0, colon);
  if (host != "127.0.0.1" && host != "localhost" && host != "[::1]") return false;
  return text.size() - colon <= 6 &&
         std::ranges::all_of(text.substr(colon + 1), [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t count_gpus() {
  std::int64_t count = 0;
  while (::access(("/dev/nvidia" + std::to_string(count)).c_str(), F_OK) == 0) ++count;
  return count;
}

// Not synced: after a power cut no shim is there to read it, and the attempt counts as not started.
Status write_spec(const AttemptFolder& folder, std::string_view text) {
  const Fd file(::open(folder.spec().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return fail(errno_error("creating " + folder.spec().string(), errno));
  return write_all(file.get(), text);
}

Resources machine_capacity(const LocalExecutorOptions& options) {
  const OwnLimits limits = own_cgroup_limits();
  Resources total;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  total.cpu_millicores =
      ::sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) * 1000 : 1000;
  if (limits.cpu_millicores > 0)
    total.cpu_millicores = std::min(total.cpu_millicores, limits.cpu_millicores);
  struct sysinfo info{};
  ::sysinfo(&info);
  total.memory_bytes = static_cast<std::int64_t>(info.totalram) * info.mem_unit;
  if (limits.memory_bytes > 0)
    total.memory_bytes = std::min(total.memory_bytes, limits.memory_bytes);
  total.gpus = count_gpus();
  if (options.cpu_millicores > 0) total.cpu_millicores = options.cpu_millicores;
  if (options.memory_bytes > 0) total.memory_bytes = options.memory_bytes;
  if (options.gpus >= 0) total.gpus = options.gpus;
  return total;
}

class LocalExecutor final : public Executor {
 public:
  LocalExecutor(LocalExecutorOptions options, std::unique_ptr<ExitNotices> notices)
      : options_(std::move(options)),
        cgroups_(Cgroups::probe(sha256(options_.data_dir.string()).value.substr(0, 8))),
        isolation_(options_.isolate ? probe_isolation(options_.shim, options_.data_dir)
                                    : IsolationProbe{}),
        capacity_(machine_capacity(options_)),
        users_(options_.uid, options_.uid_count),
        notices_(std::move(notices)) {}

  ~LocalExecutor() override { cgroups_.release(); }

  Status start(const Launch& launch) override {
    const bool is_own = launch.kind == JobKind::kGateway;  // takt itself, with its own files
    const uid_t user = changes_user() ? users_.choose(launch.lease.job) : ::geteuid();
    if (changes_user() && !is_own) TAKT_RETURN_IF_ERROR(give_folders(launch, user));
    const CgroupLimits limits{launch.resources.cpu_millicores, launch.limit_cpu_millicores,
                              launch.limit_memory_bytes};
    TAKT_ASSIGN(const AttemptCgroups cgroups, cgroups_.make(leaf_name(launch.lease), limits));
    const std::string spec = dump_json(shim_spec(launch, cgroups, is_own, user));
    TAKT_RETURN_IF_ERROR(write_spec(launch.folder, spec));
    notices_->watch(launch.folder.root());
    const auto answer = run({.command = {options_.shim.string(), launch.folder.root().string()},
                             .inherit_environment = false,
                             .folder = "/"},
                            kShimAnswerMs);
    if (answer && answer->exit_code == 0) return {};
    // No answer in time is no refusal: the supervisor may have the attempt, and poll() tells.
    if (!answer && answer.error().code == Code::kTimeout) return fail(answer.error());
    cgroups_.remove(leaf_name(launch.lease));
    if (!answer) return fail(answer.error());
    std::string why = answer->errors;
    while (why.ends_with('\n')) why.pop_back();
    return fail(Code::kInternal, "the attempt's supervisor refused: " + why);
  }

  Result<AttemptStatus> poll(const Lease& lease) override {
    const AttemptFolder folder = folder_of(lease);
    // A record is written when nothing runs any more: it is final though the shim is still there.
    TAKT_ASSIGN(const auto ended, read_record(lease, folder));
    if (ended) return *ended;
    TAKT_ASSIGN(const bool is_held, is_lock_held(folder.lock()));
    if (is_held) {
      notices_->watch(folder.root());  // an attempt that a server before us started
      return AttemptStatus{AttemptPhase::kRunning, {}};
    }
    TAKT_ASSIGN(const auto late, read_record(lease, folder));  // written between the two looks
    if (late) return *late;
    const auto mark = read_file(folder.started(), 4096);
    if (!mark && mark.error().code == Code::kNotFound) return fence(lease, folder);
    if (!mark) return fail(mark.error());
    if (*mark == kGivenUp) return AttemptStatus{AttemptPhase::kNeverStarted, {}};
    return lost(lease);
  }

  std::map<std::string, std::string> endpoints(const Lease& lease,
                                               const std::vector<std::string>& ports) override {
    std::map<std::string, std::string> found;
    const auto root = SafeRoot::open(folder_of(lease).ports());
    if (!root) return found;
    for (const std::string& port : ports) {
      const auto path = root->resolve(port);
      const auto file = path ? path->open_read() : fail(path.error());
      char buffer[kEndpointBytesMax];
      const ssize_t got = file ? ::read(file->get(), buffer, sizeof buffer) : 0;
      if (got <= 0) continue;
      std::string text(buffer, static_cast<std::size_t>(got));
      while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
      if (is_local_endpoint(text)) found[port] = text;
    }
    return found;
  }

  Status stop(const Lease& lease, std::int64_t grace_ms) override {
    const AttemptFolder folder = folder_of(lease);
    const std::string wish = dump_json(Value(Object{{"grace_ms", grace_ms}})) + "\n";
    if (const auto told = read_file(folder.stop(), 4096); told && *told == wish) return {};
    return write_file_durably(folder.stop(), wish);
  }

  Resources capacity() override { return capacity_; }

  ExecutorFacts facts() override {
    ExecutorFacts facts{std::string(isolation_name(isolation_.kind)),
                        std::string(cgroups_.memory_cap()),
                        cgroups_.has_tree_kill() ? "cgroup" : "subreaper",
                        {}};
    if (!isolation_.warning.empty()) facts.warnings.push_back(isolation_.warning);
    if (facts.memory_cap == "none")
      facts.warnings.push_back(
          "the memory of jobs is counted but not capped: no memory cgroup may be written "
          "here; run as root, or as a service with Delegate=yes");
    return facts;
  }

  void on_change(std::function<void()> wake) override { notices_->on_notice(std::move(wake)); }

 private:
  bool changes_user() const {
    return ::geteuid() == 0 && isolation_.kind == IsolationKind::kNamespace;
  }
  AttemptFolder folder_of(const Lease& lease) const {
    return AttemptFolder(options_.data_dir, lease.job, lease.attempt);
  }

  Status give_folders(const Launch& launch, uid_t user) const {
    const AttemptFolder& folder = launch.folder;
    for (const fs::path& path : {folder.work(), folder.outputs(), folder.home(), folder.tmp(),
                                 folder.ports(), folder.checkpoint()})
      TAKT_RETURN_IF_ERROR(give_to(path, user));
    return {};
  }

  Value shim_spec(const Launch& launch, const AttemptCgroups& cgroups, bool is_own,
                  uid_t user) const {
    const IsolationKind kind = is_own ? IsolationKind::kNone : isolation_.kind;
    Value spec;
    spec["format"] = 1;
    spec["job"] = launch.lease.job.value;
    spec["attempt"] = launch.lease.attempt;
    spec["token"] = launch.lease.token;
    spec["command"] = texts_value(kind == IsolationKind::kBubblewrap
                                      ? wrap_in_bubblewrap(launch, options_.data_dir)
                                      : launch.command);
    spec["folder"] = launch.folder.work().string();
    std::vector<std::string> environment;
    for (const auto& [name, value] : launch.environment) environment.push_back(name + "=" + value);
    spec["environment"] = texts_value(environment);
    spec["timeout_ms"] = launch.timeout_ms;
    spec["grace_ms"] = kTimeoutGraceMs;
    spec["oom_score_adj"] = is_own ? 0 : 500;
    spec["isolation"]["kind"] = isolation_name(kind);
    if (kind == IsolationKind::kNamespace) put_view(launch, user, spec);
    spec["cgroups"] = Object{{"enter", texts_value(cgroups.enter)},
                             {"kill", cgroups.kill},
                             {"memory", cgroups.memory},
                             {"shim", cgroups.shim}};
    return spec;
  }

  void put_view(const Launch& launch, uid_t user, Value& spec) const {
    if (changes_user()) {
      const auto uid = static_cast<std::int64_t>(user);
      spec["user"] = Object{{"uid", uid}, {"gid", uid}};
    }
    spec["isolation"]["hidden"] = texts_value({options_.data_dir.string()});
    const VisibleFolders visible = visible_folders(launch);
    Array paths;
    for (const std::string& path : visible.writable)
      paths.emplace_back(Object{{"path", path}, {"read_only", false}});
    for (const std::string& path : visible.read_only)
      paths.emplace_back(Object{{"path", path}, {"read_only", true}});
    spec["isolation"]["visible"] = std::move(paths);
  }

  // Nothing when there is none. An error says nothing about the attempt.
  Result<std::optional<AttemptStatus>> read_record(const Lease& lease,
                                                   const AttemptFolder& folder) const {
    const auto record = read_file(folder.exit(), 1 << 20);
    if (!record && record.error().code == Code::kNotFound) return std::nullopt;
    if (!record) return fail(record.error());
    const auto exit = parse_exit_record(*record, lease.token);
    if (!exit) return lost(lease);
    return AttemptStatus{AttemptPhase::kEnded, *exit};
  }

  AttemptStatus lost(const Lease& lease) const {
    cgroups_.remove(leaf_name(lease));
    return {AttemptPhase::kLost, {}};
  }

  // No shim has claimed it: making the mark ourselves keeps a late one from ever doing so.
  Result<AttemptStatus> fence(const Lease& lease, const AttemptFolder& folder) const {
    const Fd mark(::open(folder.started().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!mark && errno == EEXIST)
      return AttemptStatus{AttemptPhase::kRunning, {}};  // asked again next time
    if (!mark && errno != ENOENT)
      return fail(errno_error("creating " + folder.started().string(), errno));
    if (mark) TAKT_RETURN_IF_ERROR(write_all(mark.get(), kGivenUp));
    cgroups_.remove(leaf_name(lease));
    return AttemptStatus{AttemptPhase::kNeverStarted, {}};
  }

  const LocalExecutorOptions options_;
  const Cgroups cgroups_;
  const IsolationProbe isolation_;
  const Resources capacity_;
  JobUsers users_;
  const std::unique_ptr<ExitNotices> notices_;
};

}  // namespace

Result<AttemptExit> parse_exit_record(std::string_view text, std::string_view token) {
  TAKT_ASSIGN(const Value json, parse_json(text).transform_error(while_("exit.json")));
  if (json.text_or("token", "") != token)
    return fail(Code::kConflict, "exit.json is of another lease");
  AttemptExit exit;
  exit.code = static_cast<int>(json.int_or("code", -1));
  exit.signal = static_cast<int>(json.int_or("signal", 0));
  exit.oom = json.bool_or("oom", false);
  exit.timeout = json.bool_or("timeout", false);
  exit.stopped = json.bool_or("stopped", false);
  exit.launch_error = json.text_or("launch_error", "");
  exit.started_ms = json.int_or("started_ms", 0);
  exit.ended_ms = json.int_or("ended_ms", 0);
  exit.cpu_ms = json.int_or("cpu_ms", 0);
  exit.memory_bytes_peak = json.int_or("memory_bytes_peak", 0);
  return exit;
}

Result<std::unique_ptr<Executor>> open_local_executor(LocalExecutorOptions options) {
  if (options.shim.empty()) options.shim = own_executable().parent_path() / "takt-shim";
  if (::access(options.shim.c_str(), X_OK) != 0)
    return fail(Code::kUnavailable, "cannot run " + options.shim.string(),
                "takt-shim must lie beside takt; build or install it");
  std::error_code error;
  options.data_dir = fs::canonical(options.data_dir, error);
  if (error) return fail(errno_error("opening the data folder", error.value()));
  TAKT_ASSIGN(std::unique_ptr<ExitNotices> notices, ExitNotices::open());
  return std::make_unique<LocalExecutor>(std::move(options), std::move(notices));
}

}  // namespace takt::jobs
