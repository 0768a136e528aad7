// SPDX-License-Identifier: Apache-2.0
// Fault injection for tests: kill -9 of this process at the N-th commit that appends events.
#pragma once

#include "takt/base/error.h"

namespace takt::store::internal {

/// Without the variable it does nothing, and costs a test of a byte per commit.
class CommitFault {
 public:
  CommitFault() = default;
  /// TAKT_FAULT_COMMIT: `before:N`, `after:N`, or `count`; kInvalid if it is anything else.
  static Result<CommitFault> from_environment();

  /// Whether each closure gets a transaction of its own, so that N names one closure's events.
  bool is_set() const { return mode_ != Mode::kOff; }
  /// Around the COMMIT of a transaction that appended events, on the writer thread.
  void before_commit();
  void after_commit();

 private:
  enum class Mode : unsigned char { kOff, kCount, kBefore, kAfter };
  Mode mode_ = Mode::kOff;
  long at_ = 0;
  long commits_ = 0;
};

}  // namespace takt::store::internal
