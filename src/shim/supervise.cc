// SPDX-License-Identifier: Apache-2.0
#include "takt/shim/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

#include "takt/base/clock.h"
#include "takt/base/file.h"
#include "takt/base/process.h"
#include "takt/base/value.h"
#include "takt/shim/command.h"
#include "takt/shim/tree.h"

namespace takt::shim {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kKillPatienceMs = 30'000;
constexpr std::int64_t kPollMsMax = 60'000;
constexpr off_t kSpareBytes = 16 << 10;

std::int64_t mono_ms() { return system_clock().mono().us / 1000; }

// The state of one supervision: the main process, its timers and what is known of its end.
class Supervisor {
 public:
  Supervisor(const AttemptSpec& spec, const std::string& folder) : spec_(spec), folder_(folder) {
    record_.token = spec.token;
    record_.started_ms = system_clock().now_ms();
  }

  Status run() {
    take_spare();
    Status watching = watch();
    if (!watching) {
      record_.launch_error = watching.error().text();
      return finish();
    }
    Result<pid_t> started = start_command(spec_, folder_ + "/stdout.log");
    if (!started) {
      record_.launch_error = started.error().text();
      return finish();
    }
    main_ = *started;
    write_identity();
    if (spec_.timeout_ms > 0) timeout_at_ = mono_ms() + spec_.timeout_ms;
    read_stop();  // asked for before the watch stood
    while (!is_over_) step();
    return finish();
  }

 private:
  Status watch() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGPIPE})
      sigaddset(&blocked, number);
    ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    signals_ = Fd(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) return fail(errno_error("watching for exits", errno));
    notices_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!notices_ || ::inotify_add_watch(notices_.get(), folder_.c_str(), IN_MOVED_TO) < 0)
      return fail(errno_error("watching " + folder_, errno));
    return {};
  }

  // For people and `takt doctor`; the server itself trusts the lock and exit.json only.
  void write_identity() {
    Object json{{"boot_id", boot_id()},
                {"pid", static_cast<std::int64_t>(::getpid())},
                {"command_pid", static_cast<std::int64_t>(main_)}};
    if (const auto start = process_start_time(::getpid())) json["start_time"] = *start;
    if (const auto start = process_start_time(main_)) json["command_start_time"] = *start;
    const std::string path = folder_ + "/shim.json";
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file) (void)write_all(file.get(), dump_json(Value(std::move(json))) + "\n");
  }

  void step() {
    const std::int64_t next = std::min(timeout_at_, kill_at_);
    const std::int64_t left =
        next == kNever ? kPollMsMax : std::max<std::int64_t>(next - mono_ms(), 0);
    pollfd fds[2] = {{signals_.get(), POLLIN, 0}, {notices_.get(), POLLIN, 0}};
    ::poll(fds, 2, static_cast<int>(std::min(left, kPollMsMax)));
    drain(signals_.get());
    if (drain(notices_.get())) read_stop();
    reap();
    if (main_ended_) {
      is_over_ = true;
      return;
    }
    const std::int64_t now = mono_ms();
    if (now >= timeout_at_) {
      record_.timeout = true;
      timeout_at_ = kNever;
      ask_to_end(spec_.grace_ms);
    }
    if (now >= kill_at_) is_over_ = true;
  }

  static bool drain(int fd) {
    alignas(16) char buffer[4096];
    bool any = false;
    while (::read(fd, buffer, sizeof buffer) > 0) any = true;
    return any;
  }

  void read_stop() {
    const auto text = read_file(folder_ + "/stop", 4096);
    if (!text || *text == stop_) return;
    stop_ = *text;
    record_.stopped = true;
    ask_to_end(parse_stop_grace_ms(*text));
  }

  // TERM to the command's process group; under bubblewrap to all but bubblewrap, whose end would
  // otherwise be taken for the command's.
  void ask_to_end(std::int64_t grace_ms) {
    if (spec_.wrapped) {
      for (const pid_t pid : descendants(::getpid()))
        if (pid != main_) ::kill(pid, SIGTERM);
    } else {
      ::kill(-main_, SIGTERM);
    }
    kill_at_ = std::min(kill_at_, mono_ms() + grace_ms);
  }

  // SIGCHLD coalesces: everything that ended is reaped, orphans too.
  void reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) return;
      if (pid != main_) continue;
      main_ended_ = true;
      if (WIFSIGNALED(status)) record_.signal = WTERMSIG(status);
      if (WIFEXITED(status)) record_.code = WEXITSTATUS(status);
      if (spec_.wrapped && record_.code > 128 && record_.code < 128 + NSIG) {
        record_.signal = record_.code - 128;
        record_.code = -1;
      }
    }
  }

  // Room for the record, taken before the command can fill the disk.
  void take_spare() {
    const Fd spare(::open(spare_path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (spare) ::posix_fallocate(spare.get(), 0, kSpareBytes);
  }

  Status write_record(const std::string& text) {
    Status written = write_file_durably(record_path_, text);
    if (!written && write_spare(text)) return {};
    ::unlink(spare_path_.c_str());
    return written;
  }

  Status write_spare(const std::string& text) {
    const Fd spare(::open(spare_path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!spare) return fail(errno_error("opening " + spare_path_, errno));
    TAKT_RETURN_IF_ERROR(write_all(spare.get(), text));
    if (::ftruncate(spare.get(), static_cast<off_t>(text.size())) != 0 ||
        ::fsync(spare.get()) != 0 || ::rename(spare_path_.c_str(), record_path_.c_str()) != 0)
      return fail(errno_error("writing " + record_path_, errno));
    return sync_dir(folder_);
  }

  Status finish() {
    const bool is_gone =
        kill_tree(spec_.cgroups, spec_.cgroup_kill, [this] { reap(); }, kKillPatienceMs);
    if (!is_gone) record_.launch_error = "some of its processes could not be ended";
    record_.oom = oom_kills(spec_.cgroup_memory) > 0;
    record_.ended_ms = system_clock().now_ms();
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    const auto ms = [](const timeval& t) { return t.tv_sec * 1000 + t.tv_usec / 1000; };
    record_.cpu_ms = std::max<std::int64_t>(ms(usage.ru_utime) + ms(usage.ru_stime),
                                            cgroup_cpu_ms(spec_.cgroup_kill));
    record_.memory_bytes_peak = usage.ru_maxrss * 1024;
    // The log is synced before the record that says the attempt is over.
    const std::string log_path = folder_ + "/stdout.log";
    if (const Fd log(::open(log_path.c_str(), O_WRONLY | O_CLOEXEC)); log) ::fdatasync(log.get());
    Status written = write_record(render_exit_record(record_));
    for (const std::string& cgroup : spec_.cgroups) ::rmdir(cgroup.c_str());
    return written;
  }

  const AttemptSpec& spec_;
  const std::string& folder_;
  const std::string record_path_ = folder_ + "/exit.json";
  const std::string spare_path_ = folder_ + "/exit.spare";
  ExitRecord record_;
  Fd signals_, notices_;
  pid_t main_ = -1;
  bool main_ended_ = false;
  bool is_over_ = false;
  std::optional<std::string> stop_;  // as last read: a later one may ask for a nearer end
  std::int64_t timeout_at_ = kNever;
  std::int64_t kill_at_ = kNever;
};

}  // namespace

Status supervise(const AttemptSpec& spec, const std::string& folder) {
  return Supervisor(spec, folder).run();
}

}  // namespace takt::shim
