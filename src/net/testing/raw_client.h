// SPDX-License-Identifier: Apache-2.0
// A client that sends exactly the bytes it is given: for what a proper client would never send.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/file.h"
#include "takt/net/http.h"

namespace takt::net::testing {

struct RawResponse {
  int status = 0;  // 0: the connection ended before a whole head
  Headers headers;
  std::string body;       // chunked bodies are decoded
  bool is_whole = false;  // the body came to its end
};

/// One TCP connection to 127.0.0.1; every wait ends after `timeout_ms`.
class RawClient {
 public:
  explicit RawClient(int port, int timeout_ms = 5'000);

  bool is_connected() const { return static_cast<bool>(fd_); }
  bool send(std::string_view bytes);
  /// The next response; interim 100s are answers of their own. `is_head`: no body follows.
  RawResponse read(bool is_head = false);
  /// Until it has `text`, for streams; everything read so far.
  std::string read_until(std::string_view text);
  /// True when the server ends the connection within the time limit (unread bytes are dropped).
  bool is_closed_by_server();
  void half_close();
  void close() { fd_.reset(); }

 private:
  bool more();
  bool read_chunked(RawResponse& response);

  Fd fd_;
  int timeout_ms_;
  std::string buffer_;
};

/// One request on a connection of its own.
RawResponse raw_request(int port, std::string_view bytes);
/// "METHOD target" with Host, the given header lines ("A: b\r\n") and a body with its length.
std::string raw_text(std::string_view method, std::string_view target,
                     std::string_view header_lines = {}, std::string_view body = {});

/// Calls each route that is not anonymous without credentials, in several spellings, and lists
/// those that did not answer 401 ("GET /api/v1/jobs: 200").
std::vector<std::string> routes_open_to_anyone(const Router& router, int port);

}  // namespace takt::net::testing
