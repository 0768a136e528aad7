// SPDX-License-Identifier: Apache-2.0
// The form in which many points of one series are stored (docs/formats/metric-chunk.md). Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "takt/base/error.h"
#include "takt/track/run.h"

namespace takt::track {

/// What a chunk is given at most. More points cost no less each, and are slower to get one from.
inline constexpr std::size_t kChunkPointsMax = 200;

// How a double that may be no number lies in two columns.
inline std::int64_t nan_flag(double value) { return std::isnan(value) ? 1 : 0; }
inline double stored_value(double value) { return std::isnan(value) ? 0.0 : value; }
inline double value_from(std::int64_t is_nan, double value) { return is_nan != 0 ? NAN : value; }

/// The identity of a point in its series, and its place in the history: by time, step, value, with
/// not-a-number behind the numbers. Of not-a-numbers there is one.
inline std::tuple<std::int64_t, std::int64_t, std::int64_t, double> place_of(const Point& point) {
  return {point.timestamp_ms, point.step, nan_flag(point.value), stored_value(point.value)};
}
inline bool comes_before(const Point& a, const Point& b) { return place_of(a) < place_of(b); }
inline bool is_same_point(const Point& a, const Point& b) { return place_of(a) == place_of(b); }

/// Of 1 to kChunkPointsMax points in the order of their places, no two the same.
std::string encode_chunk(std::span<const Point> points);
/// kInternal for bytes that encode_chunk did not write: the store is broken.
Result<std::vector<Point>> decode_chunk(std::string_view bytes);
/// What is inside of a chunk, when it is neither compressed nor checked; nothing for other bytes.
std::optional<std::vector<Point>> decode_columns(std::string_view columns);

}  // namespace takt::track
