// SPDX-License-Identifier: Apache-2.0
#include "takt/shim/command.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "takt/base/file.h"
#include "takt/shim/isolate.h"

namespace takt::shim {
namespace {

Status enter_cgroups(const AttemptSpec& spec) {
  for (const std::string& cgroup : spec.cgroups) {
    const std::string path = cgroup + "/cgroup.procs";
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || ::write(file.get(), "0", 1) != 1)
      return fail(errno_error("entering the cgroup " + cgroup, errno));
  }
  return {};
}

Status open_streams(const std::string& log_path) {
  const int null = ::open("/dev/null", O_RDONLY);
  // Both streams are the file itself: nobody's death can break a pipe or lose a byte.
  const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (null < 0 || log < 0) return fail(errno_error("opening " + log_path, errno));
  if (::dup2(null, 0) < 0 || ::dup2(log, 1) < 0 || ::dup2(log, 2) < 0)
    return fail(errno_error("setting up the log", errno));
  return {};
}

void set_limits(const AttemptSpec& spec) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const Fd score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (score) (void)write_all(score.get(), std::to_string(spec.oom_score_adj));
  ::umask(022);
}

void reset_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Status become(const AttemptSpec& spec, const std::string& log_path) {
  ::setsid();
  TAKT_RETURN_IF_ERROR(enter_cgroups(spec));
  set_limits(spec);
  TAKT_RETURN_IF_ERROR(open_streams(log_path));
  if (spec.own_mounts) TAKT_RETURN_IF_ERROR(isolate_mounts(spec));
  TAKT_RETURN_IF_ERROR(drop_user(spec));
  if (::chdir(spec.folder.c_str()) != 0)
    return fail(errno_error("entering the folder " + spec.folder, errno));
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  reset_signals();
  std::vector<char*> command, environment;
  for (const std::string& word : spec.command) command.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& pair : spec.environment)
    environment.push_back(const_cast<char*>(pair.c_str()));
  command.push_back(nullptr);
  environment.push_back(nullptr);
  environ = environment.data();  // execvp looks the program up in the command's own PATH
  ::execvp(command[0], command.data());
  return fail(Code::kInvalid, describe_exec_failure(spec.command[0], errno));
}

}  // namespace

std::string describe_exec_failure(const std::string& program, int error_number) {
  std::string text = "cannot run '" + program + "': " + std::strerror(error_number);
  if (error_number == ENOENT)
    text += "; it is neither in the code folder nor in PATH, or its interpreter line is wrong";
  if (error_number == EACCES)
    text +=
        "; it is not executable, or lies in a folder that the job's user may not enter: put it "
        "into the code folder";
  return text;
}

Result<pid_t> start_command(const AttemptSpec& spec, const std::string& log_path) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errno_error("making a pipe", errno));
  Fd read_end(ends[0]), write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(errno_error("forking", errno));
  if (pid == 0) {
    const Status status = become(spec, log_path);
    (void)write_all(write_end.get(), status.error().text());
    ::_exit(127);
  }
  write_end.reset();
  std::string problem;
  char buffer[1024];
  for (;;) {
    const ssize_t got = ::read(read_end.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // end of file: exec closed it
    problem.append(buffer, static_cast<std::size_t>(got));
  }
  if (problem.empty()) return pid;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return fail(Code::kInvalid, std::move(problem));
}

}  // namespace takt::shim
