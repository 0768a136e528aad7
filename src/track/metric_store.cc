// SPDX-License-Identifier: Apache-2.0
#include "takt/track/metric_store.h"

#include <map>
#include <tuple>

#include "takt/track/sql.h"

namespace takt::track {
namespace {

struct SeriesChange {
  std::int64_t added = 0;
  Point latest;
};

}  // namespace

bool is_later(const Point& a, const Point& b) {
  const auto key = [](const Point& point) {
    return std::tuple(point.step, point.timestamp_ms, 1 - nan_flag(point.value),
                      stored_value(point.value));
  };
  return key(a) > key(b);
}

Status store_points(store::Tx& tx, const RunId& run, std::span<const Metric> metrics) {
  std::map<std::string_view, SeriesChange> changes;
  for (const Metric& metric : metrics) {
    const Point& point = metric.point;
    TAKT_ASSIGN(const auto added,
                tx.exec(sql::kInsertPoint, {run.value, metric.key, point.timestamp_ms, point.step,
                                            nan_flag(point.value), stored_value(point.value)}));
    if (added == 0) continue;
    SeriesChange& change = changes[metric.key];
    if (change.added++ == 0 || is_later(point, change.latest)) change.latest = point;
  }
  for (const auto& [key, change] : changes) {
    const Point& point = change.latest;
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kUpsertLatest,
                                 {run.value, std::string(key), point.timestamp_ms, point.step,
                                  nan_flag(point.value), stored_value(point.value), change.added}));
    TAKT_RETURN_IF_ERROR(
        tx.exec(sql::kMoveLatest, {run.value, std::string(key), point.timestamp_ms, point.step,
                                   nan_flag(point.value), stored_value(point.value)}));
  }
  return {};
}

Result<std::vector<Point>> load_points(store::Reader& reader, const RunId& run,
                                       std::string_view key, const std::optional<Point>& after,
                                       std::int64_t limit) {
  store::Params params{run.value, std::string(key), limit};
  if (after) {
    params.push_back(after->timestamp_ms);
    params.push_back(after->step);
    params.push_back(nan_flag(after->value));
    params.push_back(stored_value(after->value));
  }
  TAKT_ASSIGN(const auto rows, reader.query(after ? sql::kPointsAfter : sql::kFirstPoints, params));
  std::vector<Point> points;
  points.reserve(rows.size());
  for (const auto& row : rows)
    points.push_back({row.integer(0), row.integer(1), value_from(row.integer(2), row.real(3))});
  return points;
}

Result<std::int64_t> count_points(store::Reader& reader, const RunId& run, std::string_view key) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kCountPoints, {run.value, std::string(key)}));
  return row ? row->integer(0) : 0;
}

}  // namespace takt::track
