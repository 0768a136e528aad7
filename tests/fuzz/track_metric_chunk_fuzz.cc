// SPDX-License-Identifier: Apache-2.0
// Chunks of metric points: any bytes are refused or decode to points that encode to the same, and
// any points come back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "takt/track/metric_chunk.h"

namespace {

using takt::track::Point;

void check_round_trip(const std::vector<Point>& points) {
  const auto read = takt::track::decode_chunk(takt::track::encode_chunk(points));
  TAKT_CHECK(read.has_value(), "a good chunk is refused");
  TAKT_CHECK(std::ranges::equal(points, *read, takt::track::is_same_point), "other points");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt::track;
  // The bytes as a chunk, and as the columns of one whose checksum is not looked at.
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto points = decode_chunk(bytes); points && points->size() <= kChunkPointsMax)
    check_round_trip(*points);
  if (const auto points = decode_columns(bytes); points && points->size() <= kChunkPointsMax)
    check_round_trip(*points);

  // The bytes as points.
  std::vector<Point> points(std::min(size / sizeof(Point), kChunkPointsMax));
  if (points.empty()) return 0;
  std::memcpy(points.data(), data, points.size() * sizeof(Point));
  std::ranges::sort(points, comes_before);
  const auto repeated = std::ranges::unique(points, is_same_point);
  points.erase(repeated.begin(), repeated.end());
  check_round_trip(points);
  return 0;
}
