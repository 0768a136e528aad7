// SPDX-License-Identifier: Apache-2.0
#include "takt/net/compression.h"

#include <zlib.h>

#include <algorithm>

#include "takt/net/internal/text.h"

namespace takt::net {
namespace {

constexpr int kWindowBits = 15;
constexpr int kAutoDetect = 32;  // added: gzip or zlib, by the first bytes
constexpr int kGzip = 16;        // added: write gzip
constexpr std::size_t kInflateStepBytes = 256 << 10;

Result<std::string> inflate_body(std::string_view body, std::size_t bytes_max, int window_bits) {
  z_stream stream{};
  if (::inflateInit2(&stream, window_bits) != Z_OK) {
    return fail(Code::kInternal, "no memory to decompress a body");
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= bytes_max) {
    std::size_t have = out.size();
    out.resize(have + kInflateStepBytes);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + have);
    stream.avail_out = static_cast<uInt>(kInflateStepBytes);
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  bool is_whole = state == Z_STREAM_END && stream.avail_in == 0;
  ::inflateEnd(&stream);
  if (out.size() > bytes_max) {
    return fail(Code::kTooLarge,
                "the body unfolds to more than " + std::to_string(bytes_max) + " bytes, the limit");
  }
  if (!is_whole) return fail(Code::kInvalid, "the compressed body is damaged");
  return out;
}

}  // namespace

Result<std::string> decode_body(std::string_view encoding, std::string_view body,
                                std::size_t bytes_max) {
  if (encoding.empty() || internal::equal_no_case(encoding, "identity")) return std::string(body);
  bool is_deflate = internal::equal_no_case(encoding, "deflate");
  if (!is_deflate && !internal::equal_no_case(encoding, "gzip")) {
    return fail(Code::kInvalid,
                "content encoding \"" + std::string(encoding.substr(0, 32)) + "\" is not taken",
                "send gzip, deflate or plain bytes");
  }
  if (body.size() > bytes_max) {
    return fail(Code::kTooLarge, "the body has " + std::to_string(body.size()) +
                                     " bytes, the limit is " + std::to_string(bytes_max));
  }
  auto decoded = inflate_body(body, bytes_max, kWindowBits + kAutoDetect);
  if (decoded || !is_deflate || decoded.error().code != Code::kInvalid) return decoded;
  return inflate_body(body, bytes_max, -kWindowBits);  // some clients send it without zlib's frame
}

std::string gzip_body(std::string_view body) {
  z_stream stream{};
  int state =
      ::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindowBits + kGzip, 8, Z_DEFAULT_STRATEGY);
  TAKT_CHECK(state == Z_OK, "deflate starts");
  std::string out(::deflateBound(&stream, body.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  state = ::deflate(&stream, Z_FINISH);
  TAKT_CHECK(state == Z_STREAM_END, "the output has room");
  out.resize(out.size() - stream.avail_out);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace takt::net
