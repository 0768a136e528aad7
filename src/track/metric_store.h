// SPDX-License-Identifier: Apache-2.0
// The tables of metrics: new points in a head of rows, older ones in chunks, and the latest of each
// series with its counts. A point is in the head or in one chunk, never in both.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "takt/store/database.h"
#include "takt/track/metric_chunk.h"
#include "takt/track/run.h"

namespace takt::track {

/// What metric_latest says of one metric of one run.
struct Series {
  std::int64_t number = 0;  // by which head and chunks name it; 0: not stored yet
  Point latest;
  std::int64_t points = 0;      // in all
  std::int64_t folded = 0;      // of them in chunks
  std::int64_t folded_ms = -1;  // the greatest time of those
  std::int64_t in_head() const { return points - folded; }
};

/// Adds the points that the run does not have yet (the same point again changes nothing). True when
/// a head is full now, so that somebody should fold (metric_fold_store.h).
Result<bool> store_points(store::Tx& tx, const RunId& run, std::span<const Metric> metrics);
Result<std::optional<Series>> find_series(store::Reader& reader, const RunId& run,
                                          std::string_view key);
/// For good: points and latest of all its metrics.
Status remove_points(store::Tx& tx, const RunId& run);

/// Gives the points of one series in the order of their places.
class PointReader {
 public:
  /// Behind the point, or from the beginning.
  PointReader(store::Reader& reader, const Series& series, const std::optional<Point>& after)
      : reader_(reader), series_(series), head_{.after = after}, chunks_{.after = after} {}
  /// Appends up to `limit` points; fewer only at the end.
  Status read(std::size_t limit, std::vector<Point>& points);

 private:
  /// Points that come next from one of the two tables.
  struct Source {
    std::optional<Point> after;  // the last that was fetched
    std::vector<Point> points;
    std::size_t at = 0;
    bool is_done = false;
  };
  Status fill_head(std::size_t limit);
  Status fill_chunks(std::size_t limit);

  store::Reader& reader_;
  const Series series_;
  Source head_, chunks_;
};

/// Orders points of one series: step, then time, then value; not-a-number is the least. Pure.
bool is_later(const Point& a, const Point& b);
/// Its four columns: time, step, not-a-number, value.
void bind_point(const Point& point, store::Params& params);
Point point_from_row(const store::Row& row, std::size_t first);

}  // namespace takt::track
