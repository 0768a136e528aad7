// SPDX-License-Identifier: Apache-2.0
// Where things of an attempt lie on disk. docs/formats/attempt.md says who writes what.
#pragma once

#include <filesystem>
#include <string>

#include "takt/base/ids.h"

namespace takt::jobs {

class AttemptFolder {
 public:
  AttemptFolder() = default;
  AttemptFolder(const std::filesystem::path& data_dir, JobId job, int attempt)
      : job_root_(data_dir / "jobs" / std::to_string(job.value)),
        root_(job_root_ / "attempts" / std::to_string(attempt)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path checkpoint() const {
    return job_root_ / "checkpoint";
  }  // of the job, not the attempt
  std::filesystem::path work() const { return root_ / "work"; }
  std::filesystem::path inputs() const { return root_ / "inputs"; }
  std::filesystem::path outputs() const { return root_ / "outputs"; }
  std::filesystem::path home() const { return root_ / "home"; }
  std::filesystem::path tmp() const { return root_ / "tmp"; }
  std::filesystem::path ports() const { return root_ / "ports"; }
  std::filesystem::path params() const { return root_ / "params.json"; }
  std::filesystem::path log() const { return root_ / "stdout.log"; }
  std::filesystem::path spec() const { return root_ / "spec.json"; }
  std::filesystem::path lock() const { return root_ / "shim.lock"; }
  std::filesystem::path started() const { return root_ / "started"; }
  std::filesystem::path exit() const { return root_ / "exit.json"; }
  std::filesystem::path stop() const { return root_ / "stop"; }

 private:
  std::filesystem::path job_root_, root_;
};

}  // namespace takt::jobs
