// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/commit_fault.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>

#include "takt/base/log.h"

namespace takt::store::internal {
namespace {

constexpr const char* kFaultVariable = "TAKT_FAULT_COMMIT";

[[noreturn]] void die_here() {
  while (true) ::kill(::getpid(), SIGKILL);
}

}  // namespace

Result<CommitFault> CommitFault::from_environment() {
  CommitFault fault;
  const char* variable = std::getenv(kFaultVariable);
  if (variable == nullptr || *variable == '\0') return fault;
  const std::string text = variable;
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  fault.mode_ = kind == "before"  ? Mode::kBefore
                : kind == "after" ? Mode::kAfter
                : text == "count" ? Mode::kCount
                                  : Mode::kOff;
  bool is_number = fault.mode_ == Mode::kCount;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, fault.at_);
    is_number = error == std::errc() && stop == end && fault.at_ > 0;
  }
  if (fault.mode_ == Mode::kOff || !is_number)
    return fail(Code::kInvalid, std::string(kFaultVariable) + ": '" + text + "' is not a fault",
                "unset it; tests use before:N, after:N or count");
  log_warn("fault injection is on, which is for tests only", {{kFaultVariable, text}});
  return fault;
}

void CommitFault::before_commit() {
  if (mode_ == Mode::kOff) return;
  ++commits_;
  if (mode_ == Mode::kBefore && commits_ == at_) die_here();
}

void CommitFault::after_commit() {
  if (mode_ == Mode::kOff) return;
  if (mode_ == Mode::kAfter && commits_ == at_) die_here();
  log_info("a commit appended events", {{"commits", commits_}});
}

}  // namespace takt::store::internal
