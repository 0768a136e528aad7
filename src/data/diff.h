// SPDX-License-Identifier: Apache-2.0
// What changed between two versions: files by digest, rows of changed tables as multisets.
#pragma once

#include <string>
#include <vector>

#include "takt/content/manifest.h"
#include "takt/data/dataset_service.h"

namespace takt::data {

struct TableDiff {
  static constexpr std::size_t kRowsShown = 50;
  static constexpr std::size_t kRowShown = 2000;  // bytes
  std::string path;
  std::int64_t added = 0, removed = 0;
  std::vector<std::string> added_rows,
      removed_rows;  // at most kRowsShown, in file order, long ones cut
};
struct DatasetDiff {
  DatasetVersionId from, to;
  content::ManifestDiff files;
  std::vector<TableDiff> tables;
};

/// Tables over 64 MiB are compared as files only.
Result<DatasetDiff> diff_versions(DatasetService& datasets, const access::CanRead& by,
                                  const DatasetVersion& from, const DatasetVersion& to);

/// Rows of `after` that `before` lacks and the reverse, each counted as often as it stands. Pure.
TableDiff diff_rows(std::string_view before, std::string_view after);

}  // namespace takt::data
