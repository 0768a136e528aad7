// SPDX-License-Identifier: Apache-2.0
#include "takt/base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "takt/base/clock.h"

extern char** environ;

namespace takt {
namespace {

constexpr std::size_t kCapturedBytesMax = 16 << 20;
constexpr int kReadsPerLook = 64;  // more than a pipe holds

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// The parent's variables with those of `overrides` in place of theirs.
std::vector<std::string> inherited_environment(const std::vector<std::string>& overrides) {
  std::vector<std::string> variables;
  const auto name_of = [](std::string_view variable) {
    return variable.substr(0, variable.find('='));
  };
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    bool is_overridden = false;
    for (const std::string& own : overrides) {
      if (name_of(own) == name_of(*variable)) is_overridden = true;
    }
    if (!is_overridden) variables.emplace_back(*variable);
  }
  variables.insert(variables.end(), overrides.begin(), overrides.end());
  return variables;
}

// Frees what posix_spawn's two description objects hold.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

// The child's stream `target`; a source below 3 is moved up first, so that no dup2 hides another.
int add_stream(SpawnSettings& settings, int source, int target, std::vector<Fd>& moved) {
  if (source < 0) {
    return posix_spawn_file_actions_addopen(&settings.actions, target, "/dev/null",
                                            target == 0 ? O_RDONLY : O_WRONLY, 0);
  }
  if (source < 3) {
    moved.emplace_back(::fcntl(source, F_DUPFD_CLOEXEC, 3));
    source = moved.back().get();
    if (source < 0) return errno;
  }
  return posix_spawn_file_actions_adddup2(&settings.actions, source, target);
}

// A child begins with no signal blocked and none ignored, whatever the server does with its own.
int set_attributes(SpawnSettings& settings, bool new_session) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  const int flags =
      POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (new_session ? POSIX_SPAWN_SETSID : 0);
  return posix_spawnattr_setflags(&settings.attributes, static_cast<short>(flags));
}

// posix_spawn says only "no such file"; which one matters to the reader.
Error explain_failed_spawn(const ProcessSpec& spec, int error_number) {
  std::error_code ignored;
  if (!spec.folder.empty() && !std::filesystem::is_directory(spec.folder, ignored)) {
    return Error{Code::kNotFound,
                 "starting " + spec.command[0] + ": no such folder: " + spec.folder.string(),
                 {},
                 {}};
  }
  return errno_error("starting " + spec.command[0], error_number);
}

// One captured stream: its reading end and what came so far.
struct Capture {
  Fd reader;
  std::string* text;
};

// Reads what is there; closes at the end of the stream. What is over the limit is dropped. Bounded:
// a program that writes without end must not keep its deadline from being looked at.
void drain(Capture& capture) {
  std::array<char, 65536> chunk;
  for (int reads = 0; capture.reader && reads < kReadsPerLook; ++reads) {
    const ssize_t got = ::read(capture.reader.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      capture.reader.reset();
      return;
    }
    const std::size_t room = kCapturedBytesMax - capture.text->size();
    capture.text->append(chunk.data(), std::min(room, static_cast<std::size_t>(got)));
  }
}

Result<Fd> open_pipe(Capture& capture) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errno_error("creating a pipe", errno));
  capture.reader = Fd(ends[0]);
  Fd writer(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return writer;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Until the child has ended (true) or the deadline has passed (false). A grandchild that keeps the
// streams open does not hold us up.
bool collect_output(pid_t pid, std::array<Capture, 2>& captures, Deadline deadline) {
  const Clock& clock = system_clock();
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  for (;;) {
    std::array<pollfd, 3> waited{{{captures[0].reader.get(), POLLIN, 0},
                                  {captures[1].reader.get(), POLLIN, 0},
                                  {process.get(), POLLIN, 0}}};
    const std::int64_t left_ms = deadline.left_ms(clock);
    if (left_ms <= 0) return false;
    const int ready = ::poll(waited.data(), waited.size(),
                             static_cast<int>(std::min<std::int64_t>(left_ms + 1, 3'600'000)));
    if (ready < 0 && errno != EINTR) return false;
    const bool has_ended = ready > 0 && waited[2].revents != 0;
    for (Capture& capture : captures) drain(capture);
    if (has_ended) return true;
    // Without a pidfd (old kernels) the end of both streams stands for the end of the program.
    if (!process && !captures[0].reader && !captures[1].reader) return true;
  }
}

}  // namespace

Result<pid_t> spawn(const ProcessSpec& spec) {
  if (spec.command.empty() || spec.command[0].empty()) {
    return fail(Code::kInvalid, "the command is empty");
  }
  SpawnSettings settings;
  std::vector<Fd> moved;
  int error_number = add_stream(settings, spec.stdin_fd, 0, moved);
  if (error_number == 0) error_number = add_stream(settings, spec.stdout_fd, 1, moved);
  if (error_number == 0) error_number = add_stream(settings, spec.stderr_fd, 2, moved);
  if (error_number == 0) {
    error_number = posix_spawn_file_actions_addclosefrom_np(&settings.actions, 3);
  }
  if (error_number == 0 && !spec.folder.empty()) {
    error_number = posix_spawn_file_actions_addchdir_np(&settings.actions, spec.folder.c_str());
  }
  if (error_number == 0) error_number = set_attributes(settings, spec.new_session);
  if (error_number != 0) return fail(errno_error("preparing " + spec.command[0], error_number));

  const std::vector<std::string> environment =
      spec.inherit_environment ? inherited_environment(spec.environment) : spec.environment;
  pid_t pid = -1;
  error_number =
      ::posix_spawnp(&pid, spec.command[0].c_str(), &settings.actions, &settings.attributes,
                     pointers_to(spec.command).data(), pointers_to(environment).data());
  if (error_number != 0) return fail(explain_failed_spawn(spec, error_number));
  return pid;
}

Result<Completed> run(ProcessSpec spec, std::int64_t timeout_ms) {
  Completed completed;
  std::array<Capture, 2> captures{{{{}, &completed.output}, {{}, &completed.errors}}};
  TAKT_ASSIGN(Fd output_writer, open_pipe(captures[0]));
  TAKT_ASSIGN(Fd errors_writer, open_pipe(captures[1]));
  spec.stdout_fd = output_writer.get();
  spec.stderr_fd = errors_writer.get();
  spec.new_session = true;  // so that a timeout can end the whole group
  TAKT_ASSIGN(const pid_t pid, spawn(spec));
  output_writer.reset();
  errors_writer.reset();
  if (!collect_output(pid, captures, Deadline::after_ms(system_clock(), timeout_ms))) {
    ::kill(-pid, SIGKILL);
    wait_for(pid);
    return fail(Code::kTimeout, spec.command[0] + " did not end within " +
                                    std::to_string(timeout_ms) + " ms and was killed");
  }
  completed.exit_code = wait_for(pid);
  return completed;
}

Result<std::uint64_t> process_start_time(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  TAKT_ASSIGN(const std::string stat, read_file(path));
  // Field 2, the program's name, may hold spaces and brackets: count from the last bracket.
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  std::uint64_t ticks = 0;
  if (at == std::string::npos ||
      std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), ticks).ec != std::errc{}) {
    return fail(Code::kInternal, "unreadable " + path);
  }
  return ticks;
}

std::string boot_id() {
  std::string id = read_file("/proc/sys/kernel/random/boot_id").value_or("");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::filesystem::path own_executable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

}  // namespace takt
