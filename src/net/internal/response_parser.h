// SPDX-License-Identifier: Apache-2.0
// Beast's response parser, filling our headers.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "takt/net/http.h"

namespace takt::net::internal {

/// Parses the head of one response and, unless its length is known, its body.
class ResponseParser {
 public:
  /// `is_head`: the response to HEAD, which has no body.
  ResponseParser(Headers& headers, std::string& body, bool is_head);
  ~ResponseParser();

  enum class State { kNeedMore, kDone, kBad };
  struct Step {
    State state = State::kNeedMore;
    std::size_t consumed = 0;
  };
  Step parse_head(std::string_view bytes);
  /// Appends to the body; kDone at its end.
  Step parse_body(std::string_view bytes);
  /// The server closed: true when that is how the body ends.
  bool finish_by_close();

  int status() const;
  bool is_done() const;
  bool keep_alive() const;
  /// -1: chunked or until the close; the caller reads the body itself otherwise.
  std::int64_t content_length() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Headers of one connection only, which a proxy does not pass on; Content-Length among them.
bool is_hop_header(std::string_view name);

}  // namespace takt::net::internal
