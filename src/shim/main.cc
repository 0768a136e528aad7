// SPDX-License-Identifier: Apache-2.0
// takt-shim ATTEMPT_FOLDER: starts one attempt and outlives whoever asked for it.
// takt-shim --probe FOLDER: can own mounts hide FOLDER here? 0: yes; 1: no, and why.
//
//   caller --spawn--> first process --fork--> session leader --fork--> the shim
// The first process ends with 0 when the shim holds shim.lock and has made the mark `started`
// (the attempt is on its way: what becomes of it stands in exit.json), or with 1 and a line on
// standard error when it refused. Killing the caller at any moment changes nothing after that.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "takt/base/file.h"
#include "takt/shim/attempt.h"
#include "takt/shim/isolate.h"
#include "takt/shim/supervise.h"

namespace takt::shim {
namespace {

constexpr char kAccepted = '+';

// Only one shim ever gets past this for an attempt: the mark is made at most once.
Status claim(const AttemptSpec& spec, const std::string& folder, Fd& lock) {
  TAKT_ASSIGN(lock, lock_file(folder + "/shim.lock"));
  const std::string path = folder + "/started";
  const Fd mark(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!mark && errno == EEXIST)
    return fail(Code::kConflict, "attempt " + folder + " was started or given up already");
  if (!mark) return fail(errno_error("creating " + path, errno));
  // Not synced: after a power cut nothing of the attempt runs, whether the mark is there or not.
  return write_all(mark.get(), spec.token + "\n");
}

void leave_callers_cgroup(const AttemptSpec& spec) {
  if (spec.cgroup_shim.empty()) return;
  const std::string path = spec.cgroup_shim + "/cgroup.procs";
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file) (void)write_all(file.get(), "0");
}

// The detached process.
int run_attempt(const std::string& folder, Fd answer) {
  Fd lock;
  AttemptSpec spec;
  const Status claimed = [&]() -> Status {
    TAKT_ASSIGN(const std::string text, read_file(folder + "/spec.json"));
    TAKT_ASSIGN(spec, parse_attempt_spec(text));
    return claim(spec, folder, lock);
  }();
  if (!claimed) {
    (void)write_all(answer.get(), claimed.error().text());
    return 1;
  }
  (void)write_all(answer.get(), std::string_view(&kAccepted, 1));
  answer.reset();
  leave_callers_cgroup(spec);
  return supervise(spec, folder) ? 0 : 1;
}

// Standard streams to /dev/null, and no descriptor of the caller but `keep`.
void detach_descriptors(int keep) {
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
  if (keep > 3) ::close_range(3, static_cast<unsigned>(keep) - 1, 0);
  ::close_range(static_cast<unsigned>(keep) + 1, ~0U, 0);
}

[[noreturn]] void be_session_leader(const std::string& folder, Fd answer) {
  ::setsid();
  const pid_t pid = ::fork();
  if (pid != 0) ::_exit(pid < 0 ? 1 : 0);
  detach_descriptors(answer.get());
  ::umask(022);
  ::_exit(run_attempt(folder, std::move(answer)));
}

int launch(const std::string& folder) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 1;
  Fd read_end(ends[0]), write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return 1;
  if (pid == 0) be_session_leader(folder, std::move(write_end));
  write_end.reset();
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  char buffer[2048];
  std::string answer;
  for (;;) {
    const ssize_t got = ::read(read_end.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  if (answer.size() == 1 && answer[0] == kAccepted) return 0;
  (void)write_all(2, (answer.empty() ? "the shim ended before it answered" : answer) + "\n");
  return 1;
}

int probe_mounts(const std::string& folder) {
  AttemptSpec spec;
  spec.hidden.push_back(folder);
  const Status isolated = isolate_mounts(spec);
  if (isolated) return 0;
  (void)write_all(2, isolated.error().text() + "\n");
  return 1;
}

}  // namespace
}  // namespace takt::shim

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--probe") return takt::shim::probe_mounts(argv[2]);
  if (argc != 2 || argv[1][0] != '/') {
    (void)takt::write_all(2, "usage: takt-shim /ABSOLUTE/ATTEMPT/FOLDER\n");
    return 2;
  }
  if (::chdir(argv[1]) != 0) {
    (void)takt::write_all(2, std::string("no attempt folder ") + argv[1] + "\n");
    return 1;
  }
  ::_exit(takt::shim::launch(argv[1]));  // nothing to tidy: not even a leak check
}
