// SPDX-License-Identifier: Apache-2.0
// Where the dispatcher puts what takes as long as files do: laying out inputs, storing outputs.
#pragma once

#include <functional>
#include <memory>

namespace takt::jobs {

class Aside {
 public:
  virtual ~Aside() = default;
  /// Runs `task` some time later, on another thread. The queue is bounded by its caller: the
  /// dispatcher has at most one task per placed job.
  virtual void run(std::function<void()> task) = 0;
};

/// A few threads; tasks not begun at destruction are dropped (the next start finds them again, and
/// discard_leftovers what was to be discarded).
std::unique_ptr<Aside> make_thread_aside(int threads);

}  // namespace takt::jobs
