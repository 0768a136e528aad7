// SPDX-License-Identifier: Apache-2.0
#include "takt/track/metric_fold_store.h"

#include <algorithm>

#include "takt/base/log.h"
#include "takt/track/metric_store.h"
#include "takt/track/sql.h"

namespace takt::track {
namespace {

constexpr std::int64_t kSmallPoints = 100;     // a last chunk of fewer is filled up
constexpr std::int64_t kEndedHeadPoints = 16;  // of fewer, rows are as small

using Points = std::vector<Point>;

/// Cuts into chunks of about the same size.
Status insert_chunks(store::Tx& tx, std::int64_t series, std::span<const Point> points) {
  const std::size_t chunks = (points.size() + kChunkPointsMax - 1) / kChunkPointsMax;
  for (std::size_t i = 0; i < chunks; ++i) {
    const std::size_t from = points.size() * i / chunks;
    const std::size_t to = points.size() * (i + 1) / chunks;
    store::Params params{series};
    bind_point(points[to - 1], params);
    params.emplace_back(static_cast<std::int64_t>(to - from));
    params.emplace_back(store::Bytes{encode_chunk(points.subspan(from, to - from))});
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertChunk, params));
  }
  return {};
}

/// Both in order, none twice.
Points merge(std::span<const Point> a, std::span<const Point> b) {
  Points all;
  all.reserve(a.size() + b.size());
  std::ranges::set_union(a, b, std::back_inserter(all), comes_before);
  return all;
}

/// What is left of the limits of one step.
struct Budget {
  std::size_t points, rewritten;
  bool is_spent() const { return points == 0 || rewritten == 0; }
};

/// Puts points, which are in order, into the chunks of one series.
class Folding {
 public:
  Folding(store::Tx& tx, std::int64_t series) : tx_(tx), series_(series) {}

  /// How many of the points were taken: all, unless too many chunks would be rewritten or one is
  /// broken. After an error nothing was changed.
  Result<std::size_t> put(std::span<const Point> points, Budget& budget) {
    std::size_t at = 0;
    for (; at < points.size() && budget.rewritten > 0; --budget.rewritten) {
      const auto rest = points.subspan(at);
      store::Params params{series_};
      bind_point(rest.front(), params);
      TAKT_ASSIGN(const auto row, tx_.find(sql::kChunkAround, params));
      if (!row) {
        TAKT_RETURN_IF_ERROR(append(rest));
        return points.size();
      }
      const auto chunk = decode_chunk(row->bytes(1));
      if (!chunk && at > 0) return at;
      if (!chunk) return std::unexpected(chunk.error());
      const auto inside = std::ranges::upper_bound(rest, chunk->back(), comes_before);
      const auto count = static_cast<std::size_t>(inside - rest.begin());
      TAKT_RETURN_IF_ERROR(replace(row->integer(0), *chunk, rest.first(count)));
      at += count;
    }
    return at;
  }
  /// Points of all chunks, less before.
  std::int64_t gained() const { return gained_; }

 private:
  /// Behind all chunks; the last one is filled up first if it is small.
  Status append(std::span<const Point> points) {
    TAKT_ASSIGN(const auto last, tx_.find(sql::kLastChunk, {series_}));
    if (last && last->integer(1) < kSmallPoints)
      if (const auto chunk = decode_chunk(last->bytes(2)))
        return replace(last->integer(0), *chunk, points);
    gained_ += static_cast<std::int64_t>(points.size());
    return insert_chunks(tx_, series_, points);
  }
  Status replace(std::int64_t id, std::span<const Point> chunk, std::span<const Point> points) {
    const Points all = merge(chunk, points);
    gained_ += static_cast<std::int64_t>(all.size() - chunk.size());
    TAKT_RETURN_IF_ERROR(tx_.exec(sql::kDeleteChunk, {id}));
    return insert_chunks(tx_, series_, all);
  }

  store::Tx& tx_;
  const std::int64_t series_;
  std::int64_t gained_ = 0;
};

Result<Points> first_of_head(store::Tx& tx, std::int64_t number, std::size_t limit) {
  TAKT_ASSIGN(const auto rows,
              tx.query(sql::kFirstHead, {number, static_cast<std::int64_t>(limit)}));
  Points points;
  for (const auto& row : rows) points.push_back(point_from_row(row, 0));
  return points;
}

/// One series as metric_folds names it.
struct Due {
  std::int64_t number;
  RunId run;
  std::string key;
};

/// True when nothing of it is due any more.
Result<bool> fold_series(store::Tx& tx, const Due& due, Budget& budget) {
  TAKT_ASSIGN(const auto series, find_series(tx, due.run, due.key));
  if (!series) return true;
  TAKT_ASSIGN(const Points head, first_of_head(tx, due.number, budget.points));
  const bool is_all = head.size() < budget.points;
  Folding folding(tx, due.number);
  TAKT_ASSIGN(const std::size_t taken, folding.put(head, budget));
  budget.points -= taken;
  if (taken > 0) {
    // The first rows in order were read in this transaction: there are no others up to the last.
    store::Params params{due.number};
    bind_point(head[taken - 1], params);
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kDeleteHead, params));
    const std::int64_t repeated = static_cast<std::int64_t>(taken) - folding.gained();
    TAKT_RETURN_IF_ERROR(tx.exec(
        sql::kStoreFolded,
        {due.run.value, due.key, series->points - repeated, series->folded + folding.gained(),
         std::max(series->folded_ms, head[taken - 1].timestamp_ms)}));
  }
  return is_all && taken == head.size();
}

}  // namespace

Result<bool> has_folds(store::Reader& reader) {
  TAKT_ASSIGN(const auto first, reader.find(sql::kNextFolds, {std::int64_t{1}}));
  return first.has_value();
}

Result<bool> fold_some(store::Tx& tx, const FoldLimits& limits) {
  TAKT_ASSIGN(const auto rows,
              tx.query(sql::kNextFolds, {static_cast<std::int64_t>(limits.series + 1)}));
  Budget budget{limits.points, limits.rewritten};
  bool has_more = rows.size() > limits.series;
  for (const auto& row : std::span(rows).first(std::min(rows.size(), limits.series))) {
    if (budget.is_spent()) return true;
    const Due due{row.integer(0), RunId{row.text(1)}, row.text(2)};
    const auto is_finished = fold_series(tx, due, budget);
    // A broken chunk: its series stays as it is, the others go on. (After a failed statement the
    // next one fails too.)
    if (!is_finished)
      log_error(
          "metric points cannot be folded",
          {{"run", due.run.value}, {"metric", due.key}, {"error", is_finished.error().text()}});
    if (is_finished.value_or(true))
      TAKT_RETURN_IF_ERROR(tx.exec(sql::kDeleteFold, {due.number}));
    else
      has_more = true;
  }
  return has_more;
}

Status fold_ended_run(store::Tx& tx, const RunId& run) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kAddFoldsOfRun, {run.value, kEndedHeadPoints}));
  return {};
}

}  // namespace takt::track
