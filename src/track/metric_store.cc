// SPDX-License-Identifier: Apache-2.0
#include "takt/track/metric_store.h"

#include <algorithm>
#include <map>

#include "takt/track/many_rows.h"
#include "takt/track/metric_fold_store.h"
#include "takt/track/sql.h"

namespace takt::track {
namespace {

constexpr std::size_t kHeadRowsPerQuery = 2000;
constexpr std::size_t kChunksPerQuery = 64;

/// One series as a batch finds and leaves it.
struct SeriesWrite {
  Series series;
  std::vector<Point> points;  // to be added
  std::int64_t added = 0;
};
using Writes = std::map<std::string, SeriesWrite, std::less<>>;

Series series_from_row(const store::Row& row) {
  return {.number = row.integer(1),
          .latest = point_from_row(row, 2),
          .points = row.integer(6),
          .folded = row.integer(7),
          .folded_ms = row.integer(8)};
}

Status number_new_series(store::Tx& tx, Writes& writes) {
  std::int64_t unknown = 0;
  for (const auto& [key, write] : writes) unknown += write.series.number == 0 ? 1 : 0;
  if (unknown == 0) return {};
  TAKT_ASSIGN(const auto last, tx.find(sql::kReserveSeries, {unknown}));
  std::int64_t number = last->integer(0) - unknown;
  for (auto& [key, write] : writes)
    if (write.series.number == 0) write.series.number = ++number;
  return {};
}

/// Looks all series of the batch up, and numbers those that are new.
Status load_series(store::Tx& tx, const RunId& run, Writes& writes) {
  static const ManyRows kFind(sql::kFindManySeries);
  if (writes.size() == 1) {
    auto& [key, write] = *writes.begin();
    TAKT_ASSIGN(const auto known, find_series(tx, run, key));
    write.series = known.value_or(Series{});
    return write.series.number == 0 ? number_new_series(tx, writes) : Status{};
  }
  std::vector<std::string_view> keys;
  for (const auto& [key, write] : writes) keys.push_back(key);
  TAKT_RETURN_IF_ERROR(kFind.run(
      tx, keys.size(),
      [&](std::size_t i, store::Params& params) {
        params.emplace_back(run.value);
        params.emplace_back(std::string(keys[i]));
      },
      [&](const store::Rows& rows) {
        for (const auto& row : rows) writes.find(row.text(0))->second.series = series_from_row(row);
      }));
  return number_new_series(tx, writes);
}

/// Drops points that lie in a chunk already. Only those can that are no newer than all chunks.
Status drop_folded(store::Tx& tx, SeriesWrite& write) {
  const Series& series = write.series;
  std::vector<Point> chunk;
  std::vector<Point> kept;
  for (const Point& point : write.points) {
    const bool may_be_folded = series.folded > 0 && point.timestamp_ms <= series.folded_ms;
    if (may_be_folded && (chunk.empty() || comes_before(chunk.back(), point))) {
      store::Params params{series.number};
      bind_point(point, params);
      TAKT_ASSIGN(const auto row, tx.find(sql::kChunkAround, params));
      chunk.clear();
      // A broken chunk is told by reads; it does not keep new points out.
      if (row) chunk = decode_chunk(row->bytes(1)).value_or(std::vector<Point>{});
    }
    if (!may_be_folded || !std::ranges::binary_search(chunk, point, comes_before))
      kept.push_back(point);
  }
  write.points = std::move(kept);
  return {};
}

/// Inserts into the head, and counts what was not there.
Status insert_head(store::Tx& tx, Writes& writes) {
  static const ManyRows kInsert(sql::kInsertHead);
  std::vector<std::pair<SeriesWrite*, const Point*>> rows;
  std::map<std::int64_t, SeriesWrite*> by_number;
  for (auto& [key, write] : writes) {
    by_number[write.series.number] = &write;
    for (const Point& point : write.points) rows.emplace_back(&write, &point);
  }
  return kInsert.run(
      tx, rows.size(),
      [&](std::size_t i, store::Params& params) {
        params.emplace_back(rows[i].first->series.number);
        bind_point(*rows[i].second, params);
      },
      [&](const store::Rows& inserted) {
        for (const auto& row : inserted) ++by_number.at(row.integer(0))->added;
      });
}

/// Stores the latest and the count of each series that got points; true when a head is full now.
Result<bool> store_latest(store::Tx& tx, const RunId& run, Writes& writes) {
  static const ManyRows kStore(sql::kStoreLatest);
  std::vector<std::pair<std::string_view, const Series*>> changed;
  bool is_full = false;
  for (auto& [key, write] : writes) {
    if (write.added == 0) continue;
    Series& series = write.series;
    // Points that were there already cannot be later than the latest.
    const Point& newest = *std::ranges::max_element(
        write.points, [](const Point& a, const Point& b) { return is_later(b, a); });
    if (series.points == 0 || is_later(newest, series.latest)) series.latest = newest;
    const bool was_full = series.in_head() >= kHeadPointsMax;
    series.points += write.added;
    changed.emplace_back(key, &series);
    if (was_full || series.in_head() < kHeadPointsMax) continue;
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kAddFold, {series.number, run.value, key}));
    is_full = true;
  }
  TAKT_RETURN_IF_ERROR(kStore.run(tx, changed.size(), [&](std::size_t i, store::Params& params) {
    const auto& [key, series] = changed[i];
    params.emplace_back(run.value);
    params.emplace_back(std::string(key));
    params.emplace_back(series->number);
    bind_point(series->latest, params);
    params.emplace_back(series->points);
  }));
  return is_full;
}

}  // namespace

bool is_later(const Point& a, const Point& b) {
  const auto key = [](const Point& point) {
    return std::tuple(point.step, point.timestamp_ms, 1 - nan_flag(point.value),
                      stored_value(point.value));
  };
  return key(a) > key(b);
}

void bind_point(const Point& point, store::Params& params) {
  params.emplace_back(point.timestamp_ms);
  params.emplace_back(point.step);
  params.emplace_back(nan_flag(point.value));
  params.emplace_back(stored_value(point.value));
}

Point point_from_row(const store::Row& row, std::size_t first) {
  return {row.integer(first), row.integer(first + 1),
          value_from(row.integer(first + 2), row.real(first + 3))};
}

Result<bool> store_points(store::Tx& tx, const RunId& run, std::span<const Metric> metrics) {
  if (metrics.empty()) return false;
  Writes writes;
  for (const Metric& metric : metrics) writes[metric.key].points.push_back(metric.point);
  TAKT_RETURN_IF_ERROR(load_series(tx, run, writes));
  for (auto& [key, write] : writes) {
    std::ranges::sort(write.points, comes_before);
    const auto repeated = std::ranges::unique(write.points, is_same_point);
    write.points.erase(repeated.begin(), repeated.end());
    TAKT_RETURN_IF_ERROR(drop_folded(tx, write));
  }
  TAKT_RETURN_IF_ERROR(insert_head(tx, writes));
  return store_latest(tx, run, writes);
}

Result<std::optional<Series>> find_series(store::Reader& reader, const RunId& run,
                                          std::string_view key) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindSeries, {run.value, std::string(key)}));
  if (!row) return std::nullopt;
  return series_from_row(*row);
}

Status remove_points(store::Tx& tx, const RunId& run) {
  for (const std::string_view statement : {sql::kDeleteHeadOfRun, sql::kDeleteChunksOfRun,
                                           sql::kDeleteFoldsOfRun, sql::kDeleteLatestOfRun})
    TAKT_RETURN_IF_ERROR(tx.exec(statement, {run.value}));
  return {};
}

Status PointReader::read(std::size_t limit, std::vector<Point>& points) {
  for (const std::size_t wanted = points.size() + limit; points.size() < wanted;) {
    const std::size_t left = wanted - points.size();
    if (head_.at == head_.points.size() && !head_.is_done) TAKT_RETURN_IF_ERROR(fill_head(left));
    if (chunks_.at == chunks_.points.size() && !chunks_.is_done)
      TAKT_RETURN_IF_ERROR(fill_chunks(left));
    const bool has_head = head_.at < head_.points.size();
    const bool has_chunk = chunks_.at < chunks_.points.size();
    if (!has_head && !has_chunk) return {};
    const bool is_heads = has_head && (!has_chunk || comes_before(head_.points[head_.at],
                                                                  chunks_.points[chunks_.at]));
    Source& source = is_heads ? head_ : chunks_;
    points.push_back(source.points[source.at++]);
  }
  return {};
}

Status PointReader::fill_head(std::size_t limit) {
  const auto rows_max = static_cast<std::int64_t>(std::min(limit, kHeadRowsPerQuery));
  store::Params params{series_.number, rows_max};
  if (head_.after) bind_point(*head_.after, params);
  TAKT_ASSIGN(const auto rows,
              reader_.query(head_.after ? sql::kHeadAfter : sql::kFirstHead, params));
  head_.points.clear();
  head_.at = 0;
  for (const auto& row : rows) head_.points.push_back(point_from_row(row, 0));
  head_.is_done = rows.size() < static_cast<std::size_t>(rows_max);
  if (!rows.empty()) head_.after = head_.points.back();
  return {};
}

Status PointReader::fill_chunks(std::size_t limit) {
  const auto chunks_max =
      static_cast<std::int64_t>(std::min(limit / kChunkPointsMax + 2, kChunksPerQuery));
  store::Params params{series_.number, chunks_max};
  if (chunks_.after) bind_point(*chunks_.after, params);
  TAKT_ASSIGN(const auto rows,
              reader_.query(chunks_.after ? sql::kChunksAfter : sql::kFirstChunks, params));
  chunks_.points.clear();
  chunks_.at = 0;
  for (const auto& row : rows) {
    TAKT_ASSIGN(const auto points, decode_chunk(row.bytes(1)));
    chunks_.points.insert(chunks_.points.end(), points.begin(), points.end());
  }
  chunks_.is_done = rows.size() < static_cast<std::size_t>(chunks_max);
  if (rows.empty()) return {};
  // The first chunk may begin before the place where the reading goes on.
  if (chunks_.after)
    chunks_.at = static_cast<std::size_t>(
        std::ranges::upper_bound(chunks_.points, *chunks_.after, comes_before) -
        chunks_.points.begin());
  chunks_.after = chunks_.points.back();
  return {};
}

}  // namespace takt::track
