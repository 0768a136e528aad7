// SPDX-License-Identifier: Apache-2.0
// Series of any length as something to draw: in stretches, each with its lowest, highest and last
// point. Pure; memory depends on what is asked for, not on the series.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "takt/track/run.h"

namespace takt::track {

/// By which a series is cut into stretches.
enum class CurveAxis { kOrder, kStep, kTime };

struct Stretch {
  std::int64_t count = 0;
  Point low, high;  // not a number only where nothing else is
  Point last;       // by the axis
};

/// Takes points in the order of histories. All stretches are equally wide, a power of two of steps,
/// milliseconds or points, and begin at multiples of it: so those of a series that grows stay the
/// same until their number would be over the limit, and then two become one.
class CurveBuilder {
 public:
  CurveBuilder(CurveAxis axis, std::size_t stretches_max)
      : axis_(axis), stretches_max_(stretches_max) {}
  CurveBuilder(const CurveBuilder&) = delete;
  CurveBuilder& operator=(const CurveBuilder&) = delete;
  void add(const Point& point);
  std::int64_t count() const { return count_; }
  /// In the order of the axis; those without points are left out.
  std::vector<Stretch> stretches() const;

 private:
  std::int64_t place_of_next(const Point& point) const;
  void join(Stretch& into, const Stretch& next) const;
  void widen();

  const CurveAxis axis_;
  const std::size_t stretches_max_;
  int shift_ = 0;  // a stretch is 2^shift wide
  std::int64_t count_ = 0;
  std::map<std::int64_t, Stretch> stretches_;                            // by place >> shift
  std::map<std::int64_t, Stretch>::iterator latest_ = stretches_.end();  // where the last one went
};

/// Thins a series to at most `max` points: all of them, if they are no more; else the first, and of
/// each stretch the lowest, highest and last.
class Thinner {
 public:
  explicit Thinner(std::size_t max);
  void add(const Point& point);
  bool is_thinned() const { return static_cast<std::size_t>(curve_.count()) > max_; }
  /// By step, then as they came.
  std::vector<Point> points() const;

 private:
  const std::size_t max_;
  std::vector<Point> first_;  // the first `max`
  CurveBuilder curve_;
};

}  // namespace takt::track
