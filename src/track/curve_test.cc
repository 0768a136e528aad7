// SPDX-License-Identifier: Apache-2.0
#include "takt/track/curve.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "takt/base/rng.h"
#include "takt/track/metric_chunk.h"

namespace takt::track {
namespace {

std::vector<Point> noise(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  std::vector<Point> points;
  std::int64_t time = 1'000'000, step = 0;
  for (std::size_t i = 0; i < count; ++i) {
    time += static_cast<std::int64_t>(rng.below(50));
    step += static_cast<std::int64_t>(rng.below(3));
    if (rng.below(500) == 0) step = 0;  // the script began again
    points.push_back({time, step, rng.below(50) == 0 ? NAN : rng.uniform()});
  }
  std::ranges::sort(points, comes_before);
  return points;
}

TEST(Curve, stretches_hold_all_points_and_their_extremes) {
  for (const CurveAxis axis : {CurveAxis::kOrder, CurveAxis::kStep, CurveAxis::kTime}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(seed);
      const auto points = noise(seed, 1 + seed * 700);
      CurveBuilder builder(axis, 64);
      for (const Point& point : points) builder.add(point);
      const auto stretches = builder.stretches();
      ASSERT_LE(stretches.size(), 64u);
      std::int64_t count = 0;
      double low = INFINITY, high = -INFINITY;
      for (const Stretch& stretch : stretches) {
        count += stretch.count;
        low = std::fmin(low, stretch.low.value);
        high = std::fmax(high, stretch.high.value);
      }
      EXPECT_EQ(count, static_cast<std::int64_t>(points.size()));
      double lowest = INFINITY, highest = -INFINITY;
      for (const Point& point : points) {
        lowest = std::fmin(lowest, point.value);
        highest = std::fmax(highest, point.value);
      }
      EXPECT_EQ(low, lowest);
      EXPECT_EQ(high, highest);
    }
  }
}

TEST(Curve, the_stretches_of_a_series_that_grows_stay) {
  CurveBuilder shorter(CurveAxis::kStep, 100), longer(CurveAxis::kStep, 100);
  for (std::int64_t i = 3; i < 1700; ++i) {
    const Point point{i, i, static_cast<double>(i % 37)};
    if (i < 1630) shorter.add(point);
    longer.add(point);
  }
  const auto before = shorter.stretches(), after = longer.stretches();
  ASSERT_GT(after.size(), before.size());
  for (std::size_t i = 0; i + 1 < before.size(); ++i)
    EXPECT_EQ(before[i].last.step, after[i].last.step);
}

TEST(Curve, steps_may_be_negative_and_far_apart) {
  CurveBuilder builder(CurveAxis::kStep, 4);
  for (const std::int64_t step : {INT64_MIN, std::int64_t{-5}, std::int64_t{0}, INT64_MAX})
    for (int i = 0; i < 3; ++i) builder.add({i, step, 1.0 * i});
  const auto stretches = builder.stretches();
  ASSERT_EQ(stretches.size(), 4u);
  EXPECT_EQ(stretches[0].last.step, INT64_MIN);
  EXPECT_EQ(stretches[3].high.value, 2.0);
}

TEST(Curve, a_stretch_without_numbers_says_so) {
  CurveBuilder builder(CurveAxis::kStep, 4);
  builder.add({1, 0, NAN});
  builder.add({2, 1, NAN});
  builder.add({3, 1, 5});
  builder.add({4, 1, NAN});
  const auto stretches = builder.stretches();
  EXPECT_TRUE(std::isnan(stretches[0].low.value) && std::isnan(stretches[0].high.value));
  EXPECT_EQ(stretches[1].low.value, 5);
  EXPECT_EQ(stretches[1].high.value, 5);
  EXPECT_TRUE(std::isnan(stretches[1].last.value));
}

TEST(Thinner, keeps_ends_and_extremes_and_never_more_than_asked_for) {
  for (const std::size_t max : {1, 2, 3, 4, 50, 2500}) {
    for (const std::size_t count : {0, 1, 2, 3, 5, 49, 50, 51, 3000}) {
      SCOPED_TRACE(testing::Message() << count << " to " << max);
      std::vector<Point> points;
      for (std::size_t i = 0; i < count; ++i) {
        const auto place = static_cast<std::int64_t>(i);
        points.push_back({place, place, static_cast<double>(i * 7919 % 1000)});
      }
      Thinner thinner(max);
      for (const Point& point : points) thinner.add(point);
      const auto kept = thinner.points();
      EXPECT_EQ(thinner.is_thinned(), count > max);
      ASSERT_LE(kept.size(), max);
      if (count <= max) {
        ASSERT_EQ(kept.size(), count);
        continue;
      }
      EXPECT_EQ(kept.back().step, points.back().step);
      if (max > 1) {
        EXPECT_EQ(kept.front().step, 0);
      }
      if (max >= 50) {
        EXPECT_EQ(std::ranges::max(kept, {}, &Point::value).value,
                  std::ranges::max(points, {}, &Point::value).value);
      }
    }
  }
}

}  // namespace
}  // namespace takt::track
