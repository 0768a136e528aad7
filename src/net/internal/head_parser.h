// SPDX-License-Identifier: Apache-2.0
// Beast's request parser, filling our Request.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "takt/net/http.h"

namespace takt::net::internal {

/// Parses one request head and, when chunked, its body, from bytes that it is given.
class HeadParser {
 public:
  explicit HeadParser(Request& request);
  ~HeadParser();

  enum class State { kNeedMore, kDone, kBad, kTooLarge };
  struct Step {
    State state = State::kNeedMore;
    std::size_t consumed = 0;
    std::size_t produced = 0;  // body bytes put into `out`
  };

  /// Needs the whole head in `bytes`; asks for more until it is there.
  Step parse_head(std::string_view bytes);
  /// Chunked bodies: decodes into `out` until it is full, the input is used up, or the body ends.
  Step parse_chunks(std::string_view bytes, std::span<char> out);

  // After the head:
  /// Why the head may not be served although it is well-formed ("" when it may).
  std::string_view framing_error() const;
  bool is_known_method() const;
  bool is_chunked() const;
  bool is_http10() const;
  bool keep_alive() const;
  bool expects_continue() const;
  std::int64_t content_length() const;  // 0 when absent

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace takt::net::internal
