// SPDX-License-Identifier: Apache-2.0
// The blobs' rows against their files.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "takt/base/file.h"
#include "takt/store/check.h"
#include "takt/store/internal/connection.h"

namespace takt::store::internal {

/// Used once, in the order of its functions. What a running server adds or removes meanwhile is no
/// problem: what seems wrong is looked up a second time.
class BlobCheck {
 public:
  BlobCheck(Connection& connection, const CheckOptions& options, CheckReport& report)
      : connection_(connection), options_(options), report_(report) {}

  /// Inside a snapshot.
  Status load();
  Status check_grants();
  void check_content();
  void check_orphans();

 private:
  struct BlobRow {
    std::string digest;
    std::int64_t pack = 0, offset = 0, stored_bytes = 0, raw_bytes = 0;
  };
  struct PackRow {
    std::string digest;
    std::int64_t stored_bytes = 0;
  };
  struct OpenPack {
    std::int64_t id = 0;
    Fd fd;
  };

  bool is_still_there(const BlobRow& blob);
  bool is_known_file(std::string_view sql, const std::string& digest);
  bool is_to_read(std::size_t index) const;
  /// Why the blob is not what it should be; "" when it is.
  std::string fault_of(const BlobRow& blob, bool is_to_read);
  std::string fault_of_packed(const BlobRow& blob, bool is_to_read);
  std::string fault_of_loose(const BlobRow& blob, bool is_to_read);
  std::string open_pack(std::int64_t id);
  void check_file(const std::filesystem::path& path, const std::string& digest,
                  std::string_view sql, const std::unordered_set<std::string>& known);

  Connection& connection_;
  const CheckOptions& options_;
  CheckReport& report_;
  std::vector<BlobRow> blobs_;
  std::map<std::int64_t, PackRow> packs_;
  OpenPack open_;
};

}  // namespace takt::store::internal
