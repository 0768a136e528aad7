// SPDX-License-Identifier: Apache-2.0
#include "takt/track/metric_chunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "takt/base/rng.h"

namespace takt::track {
namespace {

using Points = std::vector<Point>;

bool is_same_bits(const Points& a, const Points& b) {
  return std::ranges::equal(a, b, [](const Point& x, const Point& y) {
    const bool are_nan = std::isnan(x.value) && std::isnan(y.value);
    return x.timestamp_ms == y.timestamp_ms && x.step == y.step &&
           (are_nan ||
            std::bit_cast<std::uint64_t>(x.value) == std::bit_cast<std::uint64_t>(y.value));
  });
}

/// Numbers of every size, and the special ones.
double any_value(Rng& rng) {
  constexpr double kSpecial[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-310, 1.7e308, -1.7e308};
  if (rng.below(4) == 0) return kSpecial[rng.below(std::size(kSpecial))];
  return rng.below(2) == 0 ? std::bit_cast<double>(rng.next()) : rng.uniform();
}
std::int64_t any_whole(Rng& rng) {
  if (rng.below(8) == 0) return rng.below(2) == 0 ? INT64_MIN : INT64_MAX;
  return static_cast<std::int64_t>(rng.next()) >> rng.below(64);
}

Points any_points(Rng& rng) {
  Points points(1 + rng.below(kChunkPointsMax));
  for (Point& point : points) point = {any_whole(rng), any_whole(rng), any_value(rng)};
  std::ranges::sort(points, comes_before);
  const auto repeated = std::ranges::unique(points, is_same_point);
  points.erase(repeated.begin(), repeated.end());
  return points;
}

/// What training scripts log: a point a second, and a loss of single precision.
Points training_points(std::size_t count) {
  Rng rng(7);
  Points points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back({1'700'000'000'000 + static_cast<std::int64_t>(i) * 1000 +
                          static_cast<std::int64_t>(rng.below(20)),
                      static_cast<std::int64_t>(i),
                      static_cast<double>(static_cast<float>(2.0 + 0.1 * rng.uniform()))});
  return points;
}

TEST(MetricChunk, gives_back_any_points_to_the_bit) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Points points = any_points(rng);
    const auto read = decode_chunk(encode_chunk(points));
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_TRUE(is_same_bits(points, *read));
  }
}

TEST(MetricChunk, a_byte_that_changed_is_found) {
  const std::string good = encode_chunk(training_points(50));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    EXPECT_FALSE(decode_chunk(bad)) << "byte " << i;
    EXPECT_FALSE(decode_chunk(good.substr(0, i))) << "cut at " << i;
  }
  EXPECT_FALSE(decode_chunk(good + '\0'));
}

TEST(MetricChunk, takes_six_bytes_for_a_point_of_training) {
  const std::size_t points = kChunkPointsMax;
  EXPECT_LE(encode_chunk(training_points(points)).size(), 6 * points);
  Points constant = training_points(points);
  for (Point& point : constant) point.value = 0.5;
  EXPECT_LE(encode_chunk(constant).size(), 2 * points);
}

TEST(MetricChunk, order_and_identity_are_those_of_the_rows) {
  const Point nan{1, 2, std::nan("1")};
  EXPECT_TRUE(is_same_point(nan, {1, 2, -std::nan("2")}));
  EXPECT_TRUE(is_same_point({1, 2, 0.0}, {1, 2, -0.0}));
  EXPECT_TRUE(comes_before({1, 2, INFINITY}, nan)) << "not-a-number is behind all numbers";
  EXPECT_TRUE(comes_before(nan, {1, 3, -INFINITY}));
}

}  // namespace
}  // namespace takt::track
