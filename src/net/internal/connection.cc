// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/connection.h"

#include <sys/socket.h>

#include <exception>

#include "takt/base/log.h"
#include "takt/net/internal/body_reader.h"
#include "takt/net/internal/filter.h"
#include "takt/net/internal/target.h"

namespace takt::net::internal {
namespace {

constexpr std::int64_t kHandshakeTimeoutMs = 10'000;

struct InFlight {
  explicit InFlight(Core& with) : core(with) {
    core.requests.fetch_add(1, std::memory_order_relaxed);
    core.in_flight.fetch_add(1, std::memory_order_relaxed);
  }
  ~InFlight() { core.in_flight.fetch_sub(1, std::memory_order_relaxed); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  Core& core;
};

// Runs the handler; whatever happens, there is an answer.
Response run_handler(const Core& core, const Exchange& exchange, Request& request) {
  try {
    Result<Response> result = exchange.route->handler(request);
    if (result) return std::move(*result);
    return error_response(core, exchange.route, request, result.error());
  } catch (const std::exception& exception) {
    log_error(
        "handler threw",
        {{"path", request.path}, {"request_id", request.request_id}, {"what", exception.what()}});
  }
  Error error{.code = Code::kInternal, .message = "the server failed; its log has the cause"};
  return error_response(core, exchange.route, request, error);
}

/// Listed with the loop while it lives, also when the coroutine is dropped where it waits.
class Watched {
 public:
  Watched(Loop& loop, Ticker& ticker) : loop_(loop), handle_(loop.watch(ticker)) {}
  ~Watched() { loop_.unwatch(handle_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Loop& loop_;
  const Loop::Handle handle_;
};

}  // namespace

Connection::Connection(Core& core, std::shared_ptr<Loop> loop, std::unique_ptr<Wire> wire,
                       std::string remote_address)
    : core_(core),
      loop_(std::move(loop)),
      wire_(std::move(wire)),
      remote_address_(std::move(remote_address)) {
  core_.connection_opened();
}

Connection::~Connection() { core_.connection_closed(); }

Task<void> Connection::run() {
  auto self = shared_from_this();
  const Watched watched(*loop_, *this);
  wire_->tune();
  deadline_ = core_.clock.mono() + kHandshakeTimeoutMs * 1000;
  error_code failed = co_await wire_->handshake();
  if (!failed) {
    while (co_await serve_one()) {
    }
  }
  is_closed_ = true;
  wire_->abort();
}

Task<bool> Connection::serve_one() {
  auto exchange = std::make_shared<Exchange>(loop_);
  Response answer;
  Head head = co_await read_head(*exchange, answer);
  deadline_ = {};
  if (head == Head::kClosed) co_return false;
  InFlight counted(core_);
  if (head == Head::kReady) {
    begin_body(*exchange);
    if (auto refusal = filter(*exchange)) {
      answer = std::move(*refusal);
    } else {
      co_await handle(exchange);
      answer = exchange->take_answer();
    }
  }
  bool keep_alive = head == Head::kReady && exchange->parser.keep_alive() &&
                    !core_.is_draining.load() && !must_close_after_body();
  int status = answer.status;
  bool written = co_await write_answer(*exchange, std::move(answer), keep_alive);
  log_request(*exchange, status);
  if (!written) co_return false;
  if (keep_alive && !core_.is_draining.load()) co_return co_await discard_body(*exchange);
  co_await linger();
  co_return false;
}

Task<Connection::Head> Connection::read_head(Exchange& exchange, Response& answer) {
  Request& request = exchange.request;
  is_idle_ = true;
  deadline_ = core_.clock.mono() + core_.options.idle_timeout_ms * 1000;
  HeadParser::Step step;
  while (step.state == HeadParser::State::kNeedMore) {
    if (in_begin_ == in_end_ || !is_idle_) {
      if (is_idle_ && core_.is_draining.load()) co_return Head::kClosed;
      if (!co_await fill()) co_return Head::kClosed;
    }
    if (is_idle_) {
      is_idle_ = false;
      exchange.start = transfer_start_ = core_.clock.mono();
      transferred_ = static_cast<std::int64_t>(in_end_ - in_begin_);
    }
    deadline_ = core_.transfer_deadline(transfer_start_, transferred_);
    step = exchange.parser.parse_head({in_.data() + in_begin_, in_end_ - in_begin_});
    in_begin_ += step.consumed;
  }
  request.request_id = core_.next_request_id();
  request.remote_address = remote_address_;
  body_done_ = false;  // until begin_body: an unreadable request ends the connection
  if (step.state == HeadParser::State::kTooLarge) {
    Error error{.code = Code::kTooLarge,
                .message = "the request's headers are over the limit of 64 KiB"};
    answer = error_response(core_, nullptr, request, error, 431);
    co_return Head::kAnswered;
  }
  std::string_view reason = "the request is not well-formed HTTP/1.1";
  if (step.state == HeadParser::State::kDone) reason = exchange.parser.framing_error();
  if (!reason.empty()) {
    Error error{.code = Code::kInvalid, .message = std::string(reason)};
    answer = error_response(core_, nullptr, request, error);
    co_return Head::kAnswered;
  }
  if (Status target = parse_target(std::string(request.target), request); !target) {
    int status = target.error().code == Code::kTooLarge ? 414 : 0;
    answer = error_response(core_, nullptr, request, target.error(), status);
    co_return Head::kAnswered;
  }
  co_return Head::kReady;
}

std::optional<Response> Connection::filter(Exchange& exchange) {
  if (auto refusal = check_route(exchange)) return refusal;
  if (auto refusal = check_body_limit(exchange)) return refusal;
  return std::nullopt;
}

std::optional<Response> Connection::check_route(Exchange& exchange) {
  Request& request = exchange.request;
  RouteMatch match = find_route(core_.routes.root, request.method, request.path);
  exchange.route = match.route;
  auto refuse = [&](const Error& error, int status = 0) {
    return error_response(core_, exchange.route, request, error, status);
  };
  if (Status host = check_host(request, core_.options); !host) return refuse(host.error());
  if (Status origin = check_origin(request, core_.options); !origin) return refuse(origin.error());
  if (!exchange.parser.is_known_method()) {
    return refuse({.code = Code::kInvalid, .message = "the server does not know this method"}, 501);
  }
  bool is_read = request.method == Method::kGet || request.method == Method::kHead;
  if (match.route == nullptr && match.allowed == 0) {
    if (is_read && core_.routes.fallback && core_.routes.error_form(request.path) == nullptr) {
      exchange.route = core_.routes.fallback.get();
      return std::nullopt;
    }
    return refuse({.code = Code::kNotFound, .message = "there is nothing at " + request.path});
  }
  bool is_options = request.method == Method::kOptions && match.route == nullptr;
  if (match.route == nullptr && !is_options) {
    Response response = refuse({.code = Code::kInvalid,
                                .message = std::string(method_name(request.method)) +
                                           " is not allowed on " + request.path},
                               405);
    response.headers.set("Allow", allow_header(match.allowed));
    return response;
  }
  if (match.route != nullptr) {
    request.route = match.route->pattern;
    for (std::size_t i = 0; i < match.values.size(); ++i) {
      request.path_params[match.route->names[i]] = percent_decode(match.values[i]).value_or("");
    }
  }
  if (match.route != nullptr ? match.route->options.access == Access::kAuthenticated
                             : match.wants_caller) {
    if (auto refusal = check_caller(exchange)) return refusal;
  }
  if (!is_options) return std::nullopt;
  Response response = Response::empty(204);
  response.headers.add("Allow", allow_header(match.allowed));
  return response;
}

std::optional<Response> Connection::check_caller(Exchange& exchange) {
  Request& request = exchange.request;
  Result<Caller> caller =
      core_.authenticator != nullptr
          ? core_.authenticator->authenticate(credentials_of(request))
          : fail(Code::kUnauthenticated, "this server takes no credentials on this route");
  if (caller) {
    request.caller = std::move(*caller);
    return std::nullopt;
  }
  Response response = error_response(core_, exchange.route, request, caller.error());
  if (caller.error().code == Code::kUnauthenticated) {
    response.headers.set("WWW-Authenticate", "Bearer");
  }
  return response;
}

std::optional<Response> Connection::check_body_limit(Exchange& exchange) {
  body_max_ = static_cast<std::int64_t>(exchange.route->options.body_bytes_max);
  if (body_left_ <= body_max_) return std::nullopt;
  Error error{.code = Code::kTooLarge,
              .message = "the body has " + std::to_string(body_left_) + " bytes, the limit is " +
                         std::to_string(body_max_)};
  return error_response(core_, exchange.route, exchange.request, error);
}

Task<void> Connection::handle(std::shared_ptr<Exchange> exchange) {
  Request& request = exchange->request;
  const RouteOptions& options = exchange->route->options;
  if (options.body == BodyMode::kWhole && !body_done_) {
    if (Status read = co_await read_whole(*exchange); !read) {
      int status = read.error().code == Code::kTimeout ? 408 : 0;
      exchange->answer(error_response(core_, exchange->route, request, read.error(), status));
      co_return;
    }
  }
  request.deadline = Deadline::after_ms(core_.clock, options.deadline_ms);
  if (exchange->route->async_handler) {
    start_async(exchange);
  } else {
    start_plain(exchange);
  }
  co_await exchange->wait_answer();
  waiting_ = nullptr;
}

void Connection::start_plain(const std::shared_ptr<Exchange>& exchange) {
  bool is_stream = exchange->route->options.body == BodyMode::kStream;
  WorkerPool& pool = is_stream ? core_.stream_workers : core_.workers;
  bool added = pool.try_add([this, is_stream, exchange, &core = core_] {
    Request& request = exchange->request;
    if (is_stream) {
      LoopBodyReader reader(*this, *exchange);  // the connection waits for the answer
      request.stream = &reader;
      Response response = run_handler(core, *exchange, request);
      request.stream = nullptr;
      exchange->answer(std::move(response));
    } else {
      exchange->answer(run_handler(core, *exchange, request));
    }
  });
  if (added) return;
  Error error{.code = Code::kUnavailable,
              .message = "the server is busy: " + std::to_string(pool.queued()) + " requests wait"};
  Response response = error_response(core_, exchange->route, exchange->request, error);
  response.headers.set("Retry-After", "1");
  exchange->answer(std::move(response));
}

void Connection::start_async(const std::shared_ptr<Exchange>& exchange) {
  exchange->request.client = exchange.get();
  waiting_ = exchange;
  std::int64_t limit_ms = exchange->route->options.deadline_ms;
  answer_deadline_ = limit_ms > 0 ? core_.clock.mono() + limit_ms * 1000 : Mono{};
  Responder responder = exchange->make_responder(core_);
  exchange->route->async_handler(std::shared_ptr<Request>(exchange, &exchange->request),
                                 std::move(responder));
  if (!exchange->is_answered()) arm_watch();
}

void Connection::arm_watch() {
  // With pipelined bytes at hand the socket would always be readable.
  if (is_watched_ || in_begin_ != in_end_) return;
  is_watched_ = true;
  wire_->socket().async_wait(Socket::wait_read, [self = shared_from_this()](error_code error) {
    self->is_watched_ = false;
    if (error || (!self->waiting_ && !self->sink_)) return;
    char byte = 0;
    ssize_t got = ::recv(self->wire_->descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0 || (got < 0 && errno == EAGAIN)) return;
    if (self->waiting_) self->waiting_->mark_gone();
    if (self->sink_) self->sink_->cut();
  });
}

void Connection::log_request(const Exchange& exchange, int status) const {
  LogLevel level = status >= 500 ? LogLevel::kInfo : LogLevel::kDebug;
  if (!log_enabled(level)) return;
  const Request& request = exchange.request;
  Object fields{{"method", method_name(request.method)},
                {"path", request.path},
                {"status", status},
                {"ms", static_cast<double>(core_.clock.mono() - exchange.start) / 1000.0},
                {"request_id", request.request_id}};
  if (!request.caller.user.empty()) fields["user"] = request.caller.user.value;
  log_write(level, "request", std::move(fields));
}

void Connection::on_tick(Mono now) {
  if (deadline_.us != 0 && now > deadline_) abort();
  if (waiting_ && answer_deadline_.us != 0 && now > answer_deadline_) {
    Error error{.code = Code::kTimeout, .message = "no answer within the route's deadline"};
    waiting_->answer(error_response(core_, waiting_->route, waiting_->request, error));
  }
}

void Connection::on_drain() {
  if (is_idle_) abort();
  if (sink_) sink_->close();
}

void Connection::on_abort() {
  abort();
  if (!waiting_) return;
  Error error{.code = Code::kUnavailable, .message = "the server stops"};
  waiting_->answer(error_response(core_, waiting_->route, waiting_->request, error));
}

void Connection::abort() {
  is_closed_ = true;
  wire_->abort();
  if (sink_) sink_->cut();
}

}  // namespace takt::net::internal
