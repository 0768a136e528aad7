// SPDX-License-Identifier: Apache-2.0
// HTTP as the rooms see it: requests, responses, routes. Boost stays behind.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "takt/base/clock.h"
#include "takt/base/error.h"
#include "takt/base/file.h"
#include "takt/base/value.h"
#include "takt/net/auth.h"

namespace takt::net {

enum class Method { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions };
std::string_view method_name(Method method);

/// Names compare without case; order is kept.
class Headers {
 public:
  void add(std::string name, std::string value) {
    items_.emplace_back(std::move(name), std::move(value));
  }
  void set(std::string_view name, std::string value);
  /// "" when absent.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

/// The body of a streaming route; read() blocks the worker until bytes come, the end, or the
/// deadline.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;  // 0 at the end
  /// Content-Length, or -1 for a chunked body.
  virtual std::int64_t length() const = 0;
};

/// The client of an async handler: whether it went away. Lives as long as the request.
class ClientWatch {
 public:
  virtual ~ClientWatch() = default;
  /// Any thread.
  virtual bool is_gone() const = 0;
  /// Network thread of the request only; called there once when the client goes (at once if gone).
  virtual void on_gone(std::function<void()> callback) = 0;
  /// Any thread: runs the task on the request's network thread, after what it has at hand. Not run
  /// when the server stops first; must not block.
  virtual void run_later(std::function<void()> task) = 0;
};

struct Request {
  Method method = Method::kGet;
  std::string target;  // as sent
  std::string path;    // the raw path, still percent-encoded
  std::string route;   // the pattern that matched; "" when none did
  Headers headers;
  std::map<std::string, std::string, std::less<>>
      path_params;                                         // decoded; {rest...} keeps its slashes
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string body;                                        // whole, unless the route streams
  BodyReader* stream = nullptr;                            // for streaming routes
  Caller caller;                                           // empty on anonymous routes
  std::string request_id;
  std::string remote_address;
  Deadline deadline;
  ClientWatch* client = nullptr;  // set for async handlers

  const std::string& path_param(std::string_view name) const;  // must exist in the pattern
  /// "" when absent; the first when repeated.
  std::string_view query_param(std::string_view name) const;
  std::vector<std::string> query_params(std::string_view name) const;
  Result<std::int64_t> query_integer(std::string_view name, std::int64_t fallback, std::int64_t min,
                                     std::int64_t max) const;
  /// The body as JSON; demands an application/json content type (CSRF) and an object.
  Result<Value> json() const;
};

/// Push side of an endless response (SSE, followed log). Any thread; bounded: a reader that falls
/// behind by more than the buffer is cut off.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  /// False once the client is gone or was cut off.
  virtual bool send(std::string bytes) = 0;
  virtual void close() = 0;
  virtual bool is_open() const = 0;
};

struct FileBody {
  Fd fd;
  std::int64_t offset = 0;
  std::int64_t length = 0;
};
/// Pull side: fills the span, 0 at the end. Runs on a worker. An error cuts the connection.
using PullBody = std::function<Result<std::size_t>(std::span<char>)>;
/// Called once with the sink after the head was sent; must not block.
using PushBody = std::function<void(std::shared_ptr<StreamSink>)>;

struct Response {
  int status = 200;
  Headers headers;
  std::variant<std::string, FileBody, PullBody, PushBody> body;
  std::int64_t content_length = -1;  // of a PullBody, when known; else chunked

  static Response json(const Value& value, int status = 200);
  static Response text(std::string text, int status = 200);
  static Response empty(int status = 204);
  static Response bytes(std::string bytes, std::string content_type);
  /// takt's own error form.
  static Response error(const Error& error, std::string_view request_id);
};

/// A plain handler: runs on the worker pool, may block up to the request's deadline. An Error
/// becomes the route's error form.
using Handler = std::function<Result<Response>(Request&)>;
/// Answers later, from any thread, exactly once.
using Responder = std::function<void(Response)>;
/// Runs on the network thread: must not block. For the data path (inference, proxying).
using AsyncHandler = std::function<void(std::shared_ptr<Request>, Responder)>;
/// How errors look on a family of routes (takt, MLflow, Open Inference Protocol).
using ErrorForm = std::function<Response(const Error&, const Request&)>;

enum class Access { kAuthenticated, kAnonymous };
enum class BodyMode { kWhole, kStream };

struct RouteOptions {
  Access access = Access::kAuthenticated;
  BodyMode body = BodyMode::kWhole;
  std::size_t body_bytes_max = 8 << 20;
  std::int64_t deadline_ms = 30'000;
  ErrorForm error_form;  // default: takt's
};

/// Routes as a segment trie. Patterns: /api/v1/jobs/{job}, /files/{path...} (rest of the path).
/// Registered at start-up, then constant.
class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  void add(Method method, std::string pattern, Handler handler, RouteOptions options = {});
  void add_async(Method method, std::string pattern, AsyncHandler handler,
                 RouteOptions options = {});
  /// For paths that match nothing (the console's pages): GET and HEAD only, anonymous, and not for
  /// paths that have an error form by set_error_form. Default: 404.
  void set_fallback(Handler handler);
  /// The error form of every path that begins with `prefix` and whose route has none of its own:
  /// holds for 401, 404, 413 … of the filter too. The longest prefix wins.
  void set_error_form(std::string prefix, ErrorForm form);

  struct RouteInfo {
    Method method;
    std::string pattern;
    Access access;
  };
  /// All routes, for the generated tests.
  std::vector<RouteInfo> routes() const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

struct TlsFiles {
  std::string certificate, key;
};

struct ServerOptions {
  std::string listen = "127.0.0.1:0";  // host:port
  int network_threads = 1;
  int worker_threads = 8;
  std::size_t worker_queue_max = 1024;  // beyond: 503 with Retry-After
  std::vector<std::string>
      allowed_hosts;         // Host header; loopback names are always allowed; empty + any_host
  bool any_host = false;     // the data path on loopback does not check Host
  bool check_origin = true;  // Origin and Sec-Fetch-Site on unsafe methods
  bool reuse_port = false;
  std::optional<TlsFiles> tls;
  std::int64_t idle_timeout_ms = 75'000;
  // A request (and each block of a response) has this long plus the time its bytes take at
  // `bytes_per_second_min`; slower clients are cut off.
  std::int64_t transfer_timeout_ms = 30'000;
  std::int64_t bytes_per_second_min = 64 << 10;
  int stream_threads_max = 32;            // workers of streaming bodies, apart from worker_threads
  std::int64_t connections_max = 10'000;  // beyond: accepted and closed at once
};

/// An HTTP/1.1 server over a router. The filter (Host, Origin, authentication, limits) stands
/// before routing's handlers and before the body.
class Server {
 public:
  static Result<std::unique_ptr<Server>> start(ServerOptions options, const Router& router,
                                               Authenticator* authenticator, Clock& clock);
  virtual ~Server() = default;
  /// The port it listens on.
  virtual int port() const = 0;
  /// Stops listening, lets requests in flight end, then closes; push streams are closed at once.
  virtual void drain(std::int64_t timeout_ms) = 0;
  struct Stats {
    std::int64_t requests = 0, connections = 0, in_flight = 0;
  };
  virtual Stats stats() const = 0;
};

/// One server-sent event, framed.
std::string sse_frame(std::string_view event, std::string_view id, std::string_view data);
std::string percent_encode(std::string_view text, bool keep_slash = false);
Result<std::string> percent_decode(std::string_view text);

}  // namespace takt::net
