// SPDX-License-Identifier: Apache-2.0
#include "takt/track/metric_chunk.h"

#include <xxhash.h>
#include <zstd.h>

#include <bit>
#include <memory>
#include <optional>

namespace takt::track {
namespace {

constexpr char kVersion = 1;
constexpr char kPlain = 0;
constexpr char kZstd = 1;
constexpr int kZstdLevel = 1;  // 3 gains nothing on these columns
constexpr std::size_t kHeaderBytes = 6;
constexpr std::size_t kReadPointsMax = 4096;
constexpr std::size_t kColumnBytesMax = kReadPointsMax * 28 + 16;
constexpr std::size_t kPlanes = 8;
constexpr std::uint64_t kNotANumber = 0x7ff8000000000000;

std::uint64_t zigzag(std::uint64_t number) {
  return number << 1 ^ (number >> 63 != 0 ? ~std::uint64_t{0} : 0);
}
std::uint64_t unzigzag(std::uint64_t number) {
  return number >> 1 ^ ((number & 1) != 0 ? ~std::uint64_t{0} : 0);
}

void append_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

/// Takes columns apart from the front; after an error all that follows is nothing.
class ColumnReader {
 public:
  explicit ColumnReader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::uint64_t> varint() {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes_.size() && i < 10; ++i) {
      const auto byte = static_cast<unsigned char>(bytes_[i]);
      if (i == 9 && byte > 1) return std::nullopt;
      number |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
      if (byte >= 0x80) continue;
      if (byte == 0 && i > 0) return std::nullopt;  // longer than needed
      bytes_.remove_prefix(i + 1);
      return number;
    }
    return std::nullopt;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

/// Second differences, going in and out; modulo 2^64.
struct Differences {
  std::uint64_t last = 0, slope = 0;
  std::size_t count = 0;

  std::uint64_t encode(std::int64_t number) {
    const auto now = static_cast<std::uint64_t>(number);
    const std::uint64_t new_slope = count == 0 ? 0 : now - last;
    const std::uint64_t written = count == 0 ? now : new_slope - slope;
    keep(now, new_slope);
    return zigzag(written);
  }
  std::int64_t decode(std::uint64_t written) {
    const std::uint64_t plain = unzigzag(written);
    const std::uint64_t new_slope = count == 0 ? 0 : slope + plain;
    const std::uint64_t now = count == 0 ? plain : last + new_slope;
    keep(now, new_slope);
    return static_cast<std::int64_t>(now);
  }

 private:
  void keep(std::uint64_t now, std::uint64_t new_slope) {
    last = now;
    slope = new_slope;
    ++count;
  }
};

std::string write_columns(std::span<const Point> points) {
  std::string out;
  out.reserve(points.size() * 13 + 8);
  append_varint(out, points.size());
  Differences times, steps;
  for (const Point& point : points) append_varint(out, times.encode(point.timestamp_ms));
  for (const Point& point : points) append_varint(out, steps.encode(point.step));
  const std::size_t values = out.size();
  out.resize(values + points.size() * kPlanes);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double value = points[i].value;
    const auto bits = std::isnan(value) ? kNotANumber : std::bit_cast<std::uint64_t>(value);
    for (std::size_t plane = 0; plane < kPlanes; ++plane)
      out[values + plane * points.size() + i] =
          static_cast<char>((bits ^ last) >> (56 - 8 * plane));
    last = bits;
  }
  return out;
}

std::uint32_t checksum_of(std::string_view columns) {
  return static_cast<std::uint32_t>(XXH3_64bits(columns.data(), columns.size()));
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

/// The zstd frame, or nothing where it would not be smaller.
std::optional<std::string> compress(std::string_view columns) {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  std::string frame(ZSTD_compressBound(columns.size()), '\0');
  const std::size_t size = ZSTD_compressCCtx(context.get(), frame.data(), frame.size(),
                                             columns.data(), columns.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0 || size >= columns.size()) return std::nullopt;
  frame.resize(size);
  return frame;
}

std::optional<std::string> decompress(std::string_view frame) {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kColumnBytesMax)
    return std::nullopt;
  std::string columns(size, '\0');
  const std::size_t got = ZSTD_decompressDCtx(context.get(), columns.data(), columns.size(),
                                              frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != size) return std::nullopt;
  return columns;
}

std::unexpected<Error> broken(std::string_view how) {
  return fail(Code::kInternal, "a chunk of metric points is broken: " + std::string(how),
              "the database is damaged: restore a backup");
}

}  // namespace

std::string encode_chunk(std::span<const Point> points) {
  TAKT_CHECK(!points.empty() && points.size() <= kChunkPointsMax, "a chunk has 1 to 200 points");
  const std::string columns = write_columns(points);
  const auto frame = compress(columns);
  std::string chunk{kVersion, frame ? kZstd : kPlain};
  const std::uint32_t checksum = checksum_of(columns);
  for (int shift = 0; shift < 32; shift += 8) chunk += static_cast<char>(checksum >> shift);
  chunk += frame ? *frame : columns;
  return chunk;
}

std::optional<std::vector<Point>> decode_columns(std::string_view columns) {
  ColumnReader reader(columns);
  const auto count = reader.varint();
  if (!count || *count == 0 || *count > kReadPointsMax) return std::nullopt;
  std::vector<Point> points(*count);
  Differences times, steps;
  for (Point& point : points) {
    const auto written = reader.varint();
    if (!written) return std::nullopt;
    point.timestamp_ms = times.decode(*written);
  }
  for (Point& point : points) {
    const auto written = reader.varint();
    if (!written) return std::nullopt;
    point.step = steps.decode(*written);
  }
  const std::string_view planes = reader.rest();
  if (planes.size() != points.size() * kPlanes) return std::nullopt;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::uint64_t change = 0;
    for (std::size_t plane = 0; plane < kPlanes; ++plane)
      change = change << 8 | static_cast<unsigned char>(planes[plane * points.size() + i]);
    last ^= change;
    points[i].value = std::bit_cast<double>(last);
    if (std::isnan(points[i].value) && last != kNotANumber) return std::nullopt;
    if (i > 0 && !comes_before(points[i - 1], points[i])) return std::nullopt;
  }
  return points;
}

Result<std::vector<Point>> decode_chunk(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return broken("it ends early");
  if (bytes[0] != kVersion) return broken("unknown version");
  std::uint32_t checksum = 0;
  for (int i = 3; i >= 0; --i)
    checksum = checksum << 8 | static_cast<unsigned char>(bytes[2 + static_cast<std::size_t>(i)]);
  const std::string_view payload = bytes.substr(kHeaderBytes);
  std::string_view columns = payload;
  std::optional<std::string> content;
  if (bytes[1] == kZstd) {
    content = decompress(payload);
    if (!content) return broken("it does not decompress");
    columns = *content;
  } else if (bytes[1] != kPlain) {
    return broken("unknown codec");
  }
  if (checksum_of(columns) != checksum) return broken("wrong checksum");
  auto points = decode_columns(columns);
  if (!points) return broken("not the columns of points");
  return *std::move(points);
}

}  // namespace takt::track
