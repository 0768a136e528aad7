// SPDX-License-Identifier: Apache-2.0
// Wakes somebody when an exit.json appears in one of the watched attempt folders.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "takt/base/error.h"

namespace takt::jobs {

/// One inotify descriptor and one thread. A lost notice costs time only: the folder is the truth.
class ExitNotices {
 public:
  static Result<std::unique_ptr<ExitNotices>> open();
  virtual ~ExitNotices() = default;
  /// Called on the notices' thread; replaces the one before.
  virtual void on_notice(std::function<void()> wake) = 0;
  /// Watches until the folder's exit.json came or the folder is gone. Again is harmless.
  virtual void watch(const std::filesystem::path& folder) = 0;
};

}  // namespace takt::jobs
