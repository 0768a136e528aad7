// SPDX-License-Identifier: Apache-2.0
// What two runs were made of and what they gave, held against each other: code, environment, data,
// parameters, settings, metrics.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/access/access.h"
#include "takt/base/value.h"
#include "takt/store/blobs.h"
#include "takt/track/run.h"
#include "takt/track/track_service.h"

namespace takt::track {

/// A named text that differs; nullopt: the side has none.
struct WordChange {
  std::string name;
  std::optional<std::string> before, after;
};
struct FileChange {
  std::string path;
  std::string change;  // added, removed, changed
  std::string diff;    // unified; "" when `note` says why there is none
  std::string note;
  int added = 0, removed = 0;
};
struct CodeChange {
  std::string before, after;  // digests of the snapshots, "" when none was recorded
  std::vector<FileChange> files;
  std::int64_t left_out = 0;  // changed files beyond the limit
  bool is_same() const { return before == after; }
};
struct PackageChange {
  std::string before, after;  // digests of the locks
  std::vector<WordChange> packages;
  std::int64_t same = 0;
  bool is_same() const { return before == after; }
};
/// What a data version holds.
struct DataCounts {
  std::int64_t files = 0, rows = -1, bytes = 0;  // rows -1: no table
};
struct DataChange {
  std::string name;  // of the input, or of the dataset that the script logged
  std::optional<std::string> before, after;  // dataset/NAME@N, NAME@DIGEST
  std::optional<DataCounts> before_counts, after_counts;
};
struct MetricChange {
  std::string name;
  std::optional<double> before, after;
  bool is_within = false;  // the tolerance
};
enum class DiffVerdict { kEqual, kWithin, kDifferent };
std::string_view diff_verdict_name(DiffVerdict verdict);

struct RunDiff {
  Run before, after;
  CodeChange code;
  PackageChange environment;
  std::vector<DataChange> data;
  std::int64_t same_data = 0;
  std::vector<WordChange> params;
  std::int64_t same_params = 0;
  std::vector<WordChange> settings;  // seed, command
  std::vector<MetricChange> metrics;
  std::int64_t same_metrics = 0;
  DiffVerdict verdict = DiffVerdict::kEqual;  // of the metrics
  /// The first of code, environment, data, params, settings that differs, in words; "" when all of
  /// what was recorded is the same.
  std::string first_difference;
};

struct DiffOptions {
  double tolerance = 0;              // relative to the larger of both values
  std::vector<std::string> metrics;  // compare these alone; empty: all but system/…
};
Result<RunDiff> diff_runs(TrackService& track, store::BlobStore& blobs, const access::CanRead& by,
                          const RunId& before, const RunId& after, const DiffOptions& options);

/// The parts that need no store: params, settings, metrics and the verdict. Pure.
void compare_records(RunDiff& diff, const DiffOptions& options);
/// name==version lines of two locks. Pure.
PackageChange compare_locks(std::string_view before, std::string_view after);

Value to_value(const RunDiff& diff, const DiffOptions& options);

}  // namespace takt::track
