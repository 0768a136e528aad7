// SPDX-License-Identifier: Apache-2.0
#include "takt/net/compression.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>

#include "takt/net/internal/text.h"

namespace takt::net {
namespace {

constexpr int kGzipWindow = 15 + 16;
constexpr int kZlibWindow = 15;
constexpr int kRawWindow = -15;
constexpr int kMemoryLevel = 8;
/// What zlib counts in one go.
constexpr std::size_t kBytesMax = std::numeric_limits<uInt>::max() - 1;
constexpr std::size_t kChunkBytes = 64 << 10;

/// The q-value of one entry's parameters ("q=0.5"), 1 when there is none.
double quality(std::string_view parameters) {
  const std::size_t at = parameters.find("q=");
  if (at == parameters.npos) return 1;
  double value = 1;
  const std::string_view text = internal::trim(parameters.substr(at + 2));
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int window_of(Encoding encoding) { return encoding == Encoding::kGzip ? kGzipWindow : kZlibWindow; }

struct InflateEnd {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};
struct DeflateEnd {
  void operator()(z_stream* stream) const { deflateEnd(stream); }
};

Result<std::string> inflate_all(std::string_view bytes, int window, std::string_view name,
                                std::size_t bytes_max) {
  z_stream stream{};
  if (inflateInit2(&stream, window) != Z_OK) return fail(Code::kInternal, "zlib cannot start");
  const std::unique_ptr<z_stream, InflateEnd> end(&stream);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK) {
    const std::size_t filled = out.size();
    // One byte beyond the limit tells a body that reaches it from one that is over it.
    out.resize(filled + std::min(std::max(kChunkBytes, filled), bytes_max + 1 - filled));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream.avail_out = static_cast<uInt>(out.size() - filled);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (out.size() > bytes_max)
      return fail(Code::kTooLarge,
                  "the body is larger than " + std::to_string(bytes_max) + " bytes when unpacked");
  }
  if (state != Z_STREAM_END)
    return fail(Code::kInvalid, "the body is not whole, valid " + std::string(name) + " data");
  if (stream.avail_in > 0)
    return fail(Code::kInvalid, std::to_string(stream.avail_in) +
                                    " bytes are left over behind the " + std::string(name) +
                                    " data");
  return out;
}

}  // namespace

std::string_view encoding_name(Encoding encoding) {
  switch (encoding) {
    case Encoding::kGzip:
      return "gzip";
    case Encoding::kDeflate:
      return "deflate";
    case Encoding::kIdentity:
      break;
  }
  return "identity";
}

Result<Encoding> parse_encoding(std::string_view header) {
  const std::string_view name = internal::trim(header);
  if (name.empty()) return Encoding::kIdentity;
  for (const Encoding encoding : {Encoding::kIdentity, Encoding::kGzip, Encoding::kDeflate})
    if (internal::equal_no_case(name, encoding_name(encoding))) return encoding;
  if (internal::equal_no_case(name, "x-gzip")) return Encoding::kGzip;
  return fail(Code::kInvalid,
              "Content-Encoding '" + std::string(name.substr(0, 40)) + "' is not supported",
              "send gzip, deflate or no encoding");
}

Encoding choose_encoding(std::string_view accept) {
  Encoding best = Encoding::kIdentity;
  double best_quality = 0;
  while (!accept.empty()) {
    const std::size_t comma = std::min(accept.find(','), accept.size());
    const std::string_view entry = accept.substr(0, comma);
    accept.remove_prefix(std::min(comma + 1, accept.size()));
    const std::size_t semicolon = std::min(entry.find(';'), entry.size());
    const std::string_view name = internal::trim(entry.substr(0, semicolon));
    const double entry_quality = quality(entry.substr(semicolon));
    for (const Encoding encoding : {Encoding::kIdentity, Encoding::kGzip, Encoding::kDeflate}) {
      if (!internal::equal_no_case(name, encoding_name(encoding)) || entry_quality <= best_quality)
        continue;
      best = encoding;
      best_quality = entry_quality;
    }
  }
  return best;
}

Result<std::string> decompress(std::string_view bytes, Encoding encoding, std::size_t bytes_max) {
  if (encoding == Encoding::kIdentity) return std::string(bytes);
  if (bytes.size() > kBytesMax)
    return fail(Code::kTooLarge, "the body has " + std::to_string(bytes.size()) +
                                     " bytes, at most " + std::to_string(kBytesMax) +
                                     " can be unpacked");
  const std::string_view name = encoding_name(encoding);
  auto out = inflate_all(bytes, window_of(encoding), name, std::min(bytes_max, kBytesMax));
  if (out || encoding != Encoding::kDeflate || out.error().code != Code::kInvalid) return out;
  auto unframed = inflate_all(bytes, kRawWindow, name, std::min(bytes_max, kBytesMax));
  const bool is_neither = !unframed && unframed.error().code == Code::kInvalid;
  return is_neither ? out : unframed;
}

Result<std::string> compress(std::string_view bytes, Encoding encoding) {
  if (encoding == Encoding::kIdentity) return std::string(bytes);
  if (bytes.size() > kBytesMax / 2) return fail(Code::kTooLarge, "the answer is too large to pack");
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_of(encoding), kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(Code::kInternal, "zlib cannot start");
  const std::unique_ptr<z_stream, DeflateEnd> end(&stream);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
    return fail(Code::kInternal, "zlib cannot pack the answer");
  out.resize(stream.total_out);
  return out;
}

}  // namespace takt::net
