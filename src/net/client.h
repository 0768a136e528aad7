// SPDX-License-Identifier: Apache-2.0
// A blocking HTTP client for the command line, health checks and server-to-replica calls.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "takt/base/clock.h"
#include "takt/net/http.h"

namespace takt::net {

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};

struct ClientOptions {
  std::string base_url;  // http://host:port[/prefix]
  std::string token;     // Bearer; empty: none
  std::int64_t connect_timeout_ms = 3'000;
  std::int64_t timeout_ms = 30'000;
  std::string ca_file;  // for https
};

/// One keep-alive connection; not thread-safe.
class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(Client&&) noexcept;

  /// Any status is a success here; kUnavailable when nobody answers (naming the URL and what to
  /// start).
  Result<ClientResponse> send(Method method, std::string_view path, std::string body = {},
                              std::string_view content_type = "application/json",
                              const Headers& headers = {});
  /// Streams a body of known length up.
  Result<ClientResponse> upload(Method method, std::string_view path, std::int64_t length,
                                const std::function<Result<std::size_t>(std::span<char>)>& read,
                                std::string_view content_type = "application/octet-stream");
  /// Streams a body down; `write` returns false to stop. Errors of the server come back as Error.
  Result<int> download(std::string_view path, const std::function<bool(std::string_view)>& write);

  // JSON calls: status >= 400 becomes the Error that the body carries.
  Result<Value> get(std::string_view path);
  Result<Value> post(std::string_view path, const Value& body);
  Result<Value> put(std::string_view path, const Value& body);
  Result<Value> patch(std::string_view path, const Value& body);
  Result<Value> del(std::string_view path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The Error carried by an error response in takt's, MLflow's or the inference protocol's form.
Error error_from_response(const ClientResponse& response);

}  // namespace takt::net
