// SPDX-License-Identifier: Apache-2.0
// The folder that services share with the gateway: writes its routes, reads its counts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "takt/gateway/snapshot.h"
#include "takt/gateway/stats.h"

namespace takt::services {

/// Used by the controller's thread only.
class Publisher {
 public:
  /// Takes up the version of the snapshot that lies there.
  explicit Publisher(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Makes the folder and, when asked, the service token.
  Status open(bool with_token);
  /// Durably, when it differs from the one before.
  Status write(std::vector<gateway::ServiceEntry> services);
  std::int64_t version() const { return last_.version; }
  /// What the gateway wrote last; nothing when there is none.
  std::optional<gateway::StatsFile> read_stats() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  /// The service token, made on first use.
  Result<std::string> keep_token() const;

  const std::filesystem::path folder_;
  gateway::Snapshot last_;
  bool has_new_tokens_ = false;  // the snapshot on disk has others
};

}  // namespace takt::services
