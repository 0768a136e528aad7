// SPDX-License-Identifier: Apache-2.0
// The tables of metrics: every point once, and the latest of each series.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "takt/store/database.h"
#include "takt/track/run.h"

namespace takt::track {

/// Adds the points that the run does not have yet (the same point again changes nothing).
Status store_points(store::Tx& tx, const RunId& run, std::span<const Metric> metrics);
/// By time, step, value: at most `limit` after the point, or from the beginning.
Result<std::vector<Point>> load_points(store::Reader& reader, const RunId& run,
                                       std::string_view key, const std::optional<Point>& after,
                                       std::int64_t limit);
/// 0 when the run has no such metric.
Result<std::int64_t> count_points(store::Reader& reader, const RunId& run, std::string_view key);

/// Orders points of one series: step, then time, then value; not-a-number is the least. Pure.
bool is_later(const Point& a, const Point& b);

// How a double that may be no number lies in two columns.
inline std::int64_t nan_flag(double value) { return std::isnan(value) ? 1 : 0; }
inline double stored_value(double value) { return std::isnan(value) ? 0.0 : value; }
inline double value_from(std::int64_t is_nan, double value) { return is_nan != 0 ? NAN : value; }

}  // namespace takt::track
