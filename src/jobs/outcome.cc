// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/outcome.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "takt/base/units.h"

namespace takt::jobs {
namespace {

constexpr std::int64_t kBackOffMsMax = 10 * 60'000;

std::string exit_reason(int code) {
  std::string text = "exit code " + std::to_string(code);
  const std::string meaning = exit_code_meaning(code);
  return meaning.empty() ? text : text + " (" + meaning + ")";
}

}  // namespace

std::int64_t memory_cap_of(const JobSpec& spec) {
  return spec.limit_memory_bytes > 0 ? spec.limit_memory_bytes : spec.resources.memory_bytes;
}

std::int64_t back_off_ms(const JobSpec& spec, int retries_used) {
  const int doublings = std::clamp(retries_used - 1, 0, 20);
  return std::min(spec.retry_backoff_ms << doublings,
                  std::max(kBackOffMsMax, spec.retry_backoff_ms));
}

Outcome classify(const AttemptExit& exit, const JobSpec& spec) {
  if (!exit.launch_error.empty()) return {FailureClass::kLaunch, exit.launch_error, false};
  const bool is_success = exit.code == 0 && !exit.timeout;
  if (is_success && is_endless(spec.kind))
    return {FailureClass::kExitCode,
            "it ended with exit code 0, but it should serve until it is stopped"};
  if (is_success) return {};
  // A kill for memory explains the end, also when it hit a child and the main process only gave up.
  if (exit.oom)
    return {FailureClass::kOutOfMemory,
            "killed for memory: it needed more than its " + format_bytes(memory_cap_of(spec))};
  if (exit.timeout)
    return {FailureClass::kTimeout,
            "did not end within its timeout of " + format_duration_ms(spec.timeout_ms)};
  if (exit.signal != 0)
    return {FailureClass::kSignal, "ended by signal " + std::to_string(exit.signal) + " (" +
                                       signal_name(exit.signal) + ")"};
  return {FailureClass::kExitCode, exit_reason(exit.code)};
}

Outcome lost_outcome() {
  return {
      FailureClass::kLost,
      "its supervisor ended without a word: the machine was restarted, or takt-shim was killed"};
}

Outcome never_started_outcome() {
  return {FailureClass::kLost, "the server stopped before the attempt was started"};
}

Outcome halted_outcome() {
  return {FailureClass::kLost, "ended with everything else of the data folder (takt stop --all)"};
}

Outcome launch_outcome(const Error& error) {
  const bool is_final = error.code == Code::kInvalid || error.code == Code::kNotFound;
  return {FailureClass::kLaunch, error.text(), !is_final};
}

std::string exit_code_meaning(int code) {
  switch (code) {
    case 2:
      return "often wrong arguments";
    case 75:
      return "asks to be run again";
    case 126:
      return "the command could not be executed";
    case 127:
      return "the command was not found";
    case 130:
      return "interrupted, as by Ctrl-C";
    case 137:
      return "a process of it was killed (SIGKILL)";
    case 139:
      return "a process of it crashed (SIGSEGV)";
    case 143:
      return "a process of it was asked to end (SIGTERM)";
    default:
      break;
  }
  return code > 128 && code < 160 ? "a process of it ended by " + signal_name(code - 128) : "";
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? "unknown" : std::string("SIG") + name;
}

std::string next_step(FailureClass failure, const JobSpec& spec) {
  switch (failure) {
    case FailureClass::kOutOfMemory:
      return "raise resources.memory above " + format_bytes(memory_cap_of(spec)) +
             ", or let it hold less at once";
    case FailureClass::kTimeout:
      return "raise timeout above " + format_duration_ms(spec.timeout_ms) +
             ", or write checkpoints to TAKT_CHECKPOINT_DIR and allow retries";
    case FailureClass::kLaunch:
      return "correct the command, the code or the environment and submit again";
    case FailureClass::kLost:
      return "submit it again";
    case FailureClass::kExitCode:
    case FailureClass::kSignal:
      return "read the end of the log, correct the code and submit again";
    case FailureClass::kNone:
    case FailureClass::kCancelled:
      break;
  }
  return {};
}

}  // namespace takt::jobs
