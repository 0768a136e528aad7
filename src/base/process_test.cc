// SPDX-License-Identifier: Apache-2.0
#include "takt/base/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "takt/base/clock.h"
#include "takt/base/testing/temp_dir.h"

namespace takt {
namespace {

Result<Completed> run_shell(const std::string& script, std::int64_t timeout_ms = 20'000) {
  return run(ProcessSpec{.command = {"sh", "-c", script}}, timeout_ms);
}

TEST(ProcessTest, CapturesBothStreamsAndTheExitCode) {
  const Completed done = run_shell("echo out; echo err >&2; exit 7").value();
  EXPECT_EQ(done.exit_code, 7);
  EXPECT_EQ(done.output, "out\n");
  EXPECT_EQ(done.errors, "err\n");
}

TEST(ProcessTest, KilledProgramsAreNamedBySignal) {
  EXPECT_EQ(run_shell("kill -9 $$")->exit_code, 137);
}

TEST(ProcessTest, LargeOutputDoesNotBlock) {
  const Completed done =
      run_shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2").value();
  EXPECT_EQ(done.output.size(), 3'000'000u);
  EXPECT_EQ(done.errors.size(), 3'000'000u);
}

TEST(ProcessTest, OutputIsCutAtTheLimit) {
  EXPECT_EQ(run_shell("head -c 20000000 /dev/zero")->output.size(), 16u << 20);
}

TEST(ProcessTest, TimeoutKillsTheWholeGroup) {
  testing::TempDir dir;
  const std::string pid_file = (dir.path() / "pid").string();
  const Result<Completed> done =
      run_shell("sleep 1000 & echo $! > " + pid_file + "; echo; wait", 300);
  EXPECT_EQ(done.error().code, Code::kTimeout);
  EXPECT_EQ(done.error().message, "sh did not end within 300 ms and was killed");
  const pid_t child = static_cast<pid_t>(std::stol(read_file(pid_file).value()));
  // The orphan is reaped by init in its own time; a zombie is dead enough.
  for (int i = 0; i < 2000 && ::kill(child, 0) == 0; ++i) {
    if (read_file("/proc/" + std::to_string(child) + "/stat").value_or(") Z").contains(") Z"))
      break;
    system_clock().sleep_ms(5);
  }
  const std::string stat =
      read_file("/proc/" + std::to_string(child) + "/stat").value_or("(sleep) Z");
  EXPECT_TRUE(stat.contains(") Z")) << stat;
}

TEST(ProcessTest, AGrandchildThatKeepsTheStreamsDoesNotHoldUs) {
  const Mono start = system_clock().mono();
  const Completed done = run_shell("sleep 30 & echo $!").value();
  EXPECT_LT(system_clock().mono() - start, 20'000'000);
  ::kill(static_cast<pid_t>(std::stol(done.output)), SIGKILL);
}

TEST(ProcessTest, FolderAndEnvironment) {
  testing::TempDir dir;
  ProcessSpec spec;
  spec.command = {"sh", "-c", "pwd; echo $TAKT_TEST_A$TAKT_TEST_B"};
  spec.folder = dir.path();
  spec.environment = {"TAKT_TEST_A=1", "TAKT_TEST_B=2"};
  EXPECT_EQ(run(spec, 20'000)->output, std::filesystem::canonical(dir.path()).string() + "\n12\n");
  spec.command = {"/usr/bin/env"};
  spec.inherit_environment = false;
  EXPECT_EQ(run(spec, 20'000)->output, "TAKT_TEST_A=1\nTAKT_TEST_B=2\n");
}

TEST(ProcessTest, InheritedVariablesAreOverridden) {
  ASSERT_EQ(::setenv("TAKT_TEST_C", "parent", 1), 0);
  ProcessSpec spec;
  spec.command = {"sh", "-c", "env | grep -c ^TAKT_TEST_C=; echo $TAKT_TEST_C"};
  EXPECT_EQ(run(spec, 20'000)->output, "1\nparent\n");
  spec.environment = {"TAKT_TEST_C=child"};
  EXPECT_EQ(run(spec, 20'000)->output, "1\nchild\n");
}

TEST(ProcessTest, ChildrenInheritNoDescriptorsAndNoSignalState) {
  const Fd leaked(::open("/dev/null", O_RDONLY));  // without O_CLOEXEC
  ASSERT_TRUE(leaked);
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGPIPE, &ignore, &before), 0);
  const Completed done =
      run_shell("ls /proc/self/fd | wc -l; grep -E 'SigIgn|SigBlk' /proc/self/status").value();
  ::sigaction(SIGPIPE, &before, nullptr);
  EXPECT_EQ(done.output, "4\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(ProcessTest, StandardInput) {
  testing::TempDir dir;
  ASSERT_TRUE(write_file_durably(dir.path() / "in", "hello"));
  const Fd input(::open((dir.path() / "in").c_str(), O_RDONLY | O_CLOEXEC));
  ProcessSpec spec;
  spec.command = {"cat"};
  EXPECT_EQ(run(spec, 20'000)->output, "") << "nothing to read by default";
  spec.stdin_fd = input.get();
  EXPECT_EQ(run(spec, 20'000)->output, "hello");
}

TEST(ProcessTest, SaysWhatCouldNotBeStarted) {
  EXPECT_EQ(spawn(ProcessSpec{}).error().message, "the command is empty");
  Result<pid_t> pid = spawn(ProcessSpec{.command = {"/no/such/program"}});
  EXPECT_EQ(pid.error().code, Code::kNotFound);
  EXPECT_EQ(pid.error().message, "starting /no/such/program: No such file or directory");
  pid = spawn(ProcessSpec{.command = {"true"}, .folder = "/no/such/folder"});
  EXPECT_EQ(pid.error().message, "starting true: no such folder: /no/such/folder");
  pid = spawn(ProcessSpec{.command = {"/etc/passwd"}});
  EXPECT_EQ(pid.error().code, Code::kDenied);
}

TEST(ProcessTest, NewSession) {
  ProcessSpec spec;
  spec.command = {"sleep", "1000"};
  spec.new_session = true;
  const pid_t pid = spawn(spec).value();
  EXPECT_EQ(::getsid(pid), pid);
  EXPECT_GT(process_start_time(pid).value(), process_start_time(::getpid()).value() - 1);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(process_start_time(pid).error().code, Code::kNotFound);
}

TEST(ProcessTest, KnowsItself) {
  EXPECT_EQ(own_executable().filename(), "base_test");
  EXPECT_EQ(boot_id().size(), 36u);
}

}  // namespace
}  // namespace takt
