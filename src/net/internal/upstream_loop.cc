// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/upstream_loop.h"

#include <sys/socket.h>

#include <array>
#include <charconv>

#include "takt/net/internal/text.h"

namespace takt::net::internal {
namespace {

constexpr std::size_t kUpstreamReadBytes = 16 << 10;
constexpr std::size_t kUpstreamHeadBytesMax = 128 << 10;

Result<Tcp::endpoint> parse_target_address(const std::string& target) {
  std::size_t colon = target.rfind(':');
  std::string host = target.substr(0, colon == std::string::npos ? 0 : colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  std::string_view digits = std::string_view(target).substr(colon + 1);
  std::uint16_t port = 0;
  auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  error_code error;
  auto address = asio::ip::make_address(host, error);
  if (error || bad != std::errc() || end != digits.data() + digits.size()) {
    return fail(Code::kInvalid, "an upstream must be IP:PORT, got \"" + target + "\"");
  }
  return Tcp::endpoint(address, port);
}

std::string render_request(const UpstreamRequest& request) {
  std::string head;
  head.reserve(512);
  head.append(method_name(request.method))
      .append(" ")
      .append(request.path)
      .append(" HTTP/1.1\r\nHost: ");
  head.append(request.target).append("\r\n");
  for (const auto& [name, value] : request.headers.items()) {
    if (is_hop_header(name) || equal_no_case(name, "Host") || equal_no_case(name, "Expect"))
      continue;
    head.append(name).append(": ").append(value).append("\r\n");
  }
  bool has_length =
      !request.body.empty() || (request.method != Method::kGet && request.method != Method::kHead);
  if (has_length) {
    std::array<char, 20> digits;
    auto end = std::to_chars(digits.data(), digits.data() + digits.size(), request.body.size()).ptr;
    head.append("Content-Length: ").append(digits.data(), end).append("\r\n");
  }
  head.append("\r\n");
  return head;
}

}  // namespace

bool UpstreamConnection::is_stale() {
  char byte = 0;
  ssize_t got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || errno != EAGAIN;
}

void UpstreamLoop::start(const std::shared_ptr<LoopCall>& call) {
  asio::co_spawn(loop_->executor(), run(call), asio::detached);
}

Task<void> UpstreamLoop::run(std::shared_ptr<LoopCall> call) {
  auto self = shared_from_this();
  UpstreamResult result;
  if (co_await attempt(*call, true, result) == Outcome::kStale) {
    co_await attempt(*call, false, result);
  }
  std::exchange(call->done, nullptr)(std::move(result));
  call->request.keep = nullptr;
}

Task<UpstreamLoop::Outcome> UpstreamLoop::attempt(LoopCall& call, bool may_reuse,
                                                  UpstreamResult& result) {
  auto connection = may_reuse ? take_idle(call.request.target) : nullptr;
  Mono now = loop_->clock().mono();
  Mono deadline = now + call.request.timeout_ms * 1000;
  bool is_new = connection == nullptr;
  if (is_new) {
    connection = std::make_unique<UpstreamConnection>(loop_->executor());
    connection->target = call.request.target;
  }
  UpstreamConnection& used = *connection;
  active_.push_front(std::move(connection));
  auto place = active_.begin();
  watch();
  call.connection = &used;
  bool keep = false;
  Outcome outcome = Outcome::kFailed;
  Status connected;
  if (is_new)
    connected =
        co_await connect(used, std::min(deadline, now + options_.connect_timeout_ms * 1000));
  if (!connected) {
    result.response = fail(std::move(connected.error()));
    result.may_have_run = false;
  } else {
    used.deadline = deadline;
    outcome = co_await exchange(call, used, result, keep);
  }
  call.connection = nullptr;
  connection = std::move(*place);
  active_.erase(place);
  if (keep) keep_idle(std::move(connection));
  unwatch_if_empty();
  co_return outcome;
}

Task<Status> UpstreamLoop::connect(UpstreamConnection& connection, Mono deadline) {
  auto endpoint = parse_target_address(connection.target);
  if (!endpoint) co_return fail(std::move(endpoint.error()));
  connection.deadline = deadline;
  auto [error] = co_await connection.socket.async_connect(*endpoint, kAsTuple);
  if (error) {
    co_return fail(Code::kUnavailable, "no connection to " + connection.target + ": " +
                                           (connection.is_late ? "timed out" : error.message()));
  }
  error_code ignored;
  connection.socket.set_option(Tcp::no_delay(true), ignored);
  co_return Status{};
}

Task<UpstreamLoop::Outcome> UpstreamLoop::exchange(LoopCall& call, UpstreamConnection& connection,
                                                   UpstreamResult& result, bool& keep) {
  std::string head = render_request(call.request);
  std::array<asio::const_buffer, 2> buffers{asio::buffer(head), asio::buffer(call.request.body)};
  auto [error, written] = co_await asio::async_write(connection.socket, buffers, kAsTuple);
  UpstreamResponse response;
  bool is_head = call.request.method == Method::kHead;
  std::optional<ResponseParser> parser;
  result.may_have_run = true;
  // An answer may be there although writing failed (a refusal before the body).
  while (true) {
    response.headers = {};
    parser.emplace(response.headers, response.body, is_head);
    ResponseParser::Step step;
    while (step.state == ResponseParser::State::kNeedMore) {
      if (!connection.in.empty()) step = parser->parse_head(connection.in);
      connection.in.erase(0, step.consumed);
      if (step.state != ResponseParser::State::kNeedMore) break;
      bool is_stale = connection.is_used && connection.in.empty();
      if (!co_await fill(connection)) {
        result.response = fail(broken(call, connection, "waiting for the answer of"));
        bool again = is_stale && !connection.is_late && !call.is_cancelled;
        co_return again ? Outcome::kStale : Outcome::kFailed;
      }
    }
    if (step.state == ResponseParser::State::kBad) {
      result.response =
          fail(Code::kUnavailable, connection.target + " sent no well-formed HTTP answer");
      co_return Outcome::kFailed;
    }
    if (parser->status() >= 200) break;  // interim answers are dropped
  }
  if (Status body = co_await read_body(connection, *parser, response.body); !body) {
    if (body.error().code == Code::kTooLarge) {
      result.response = fail(std::move(body.error()));
    } else {
      result.response = fail(broken(call, connection, "reading the answer of"));
    }
    co_return Outcome::kFailed;
  }
  response.status = parser->status();
  keep = !error && parser->keep_alive() && connection.in.empty() && connection.socket.is_open();
  result.response = std::move(response);
  co_return Outcome::kOk;
}

Task<bool> UpstreamLoop::fill(UpstreamConnection& connection) {
  std::size_t have = connection.in.size();
  if (have > kUpstreamHeadBytesMax) co_return false;
  connection.in.resize(have + kUpstreamReadBytes);
  auto [error, bytes] = co_await connection.socket.async_read_some(
      asio::buffer(connection.in.data() + have, kUpstreamReadBytes), kAsTuple);
  connection.in.resize(have + bytes);
  co_return !error && bytes > 0;
}

Task<Status> UpstreamLoop::read_body(UpstreamConnection& connection, ResponseParser& parser,
                                     std::string& body) {
  if (parser.is_done()) co_return Status{};
  std::size_t limit = options_.response_bytes_max;
  auto too_large = [&] {
    return fail(Code::kTooLarge, "the answer of " + connection.target + " is over the limit of " +
                                     std::to_string(limit) + " bytes");
  };
  std::int64_t length = parser.content_length();
  if (length >= 0) {
    if (static_cast<std::size_t>(length) > limit) co_return too_large();
    std::size_t have = std::min(connection.in.size(), static_cast<std::size_t>(length));
    body.assign(connection.in, 0, have);
    connection.in.erase(0, have);
    body.resize(static_cast<std::size_t>(length));
    while (have < body.size()) {  // straight from the socket
      auto [error, bytes] = co_await connection.socket.async_read_some(
          asio::buffer(body.data() + have, body.size() - have), kAsTuple);
      if (error || bytes == 0) co_return fail(Code::kUnavailable, "");
      have += bytes;
    }
    co_return Status{};
  }
  while (true) {
    auto step = parser.parse_body(connection.in);
    connection.in.erase(0, step.consumed);
    if (step.state == ResponseParser::State::kBad) co_return fail(Code::kUnavailable, "");
    if (body.size() > limit) co_return too_large();
    if (step.state == ResponseParser::State::kDone) co_return Status{};
    if (!co_await fill(connection)) {
      if (!connection.is_late && parser.finish_by_close()) co_return Status{};
      co_return fail(Code::kUnavailable, "");
    }
  }
}

Error UpstreamLoop::broken(const LoopCall& call, const UpstreamConnection& connection,
                           std::string_view doing) const {
  std::string what = std::string(doing) + " " + connection.target;
  if (call.is_cancelled) return {.code = Code::kUnavailable, .message = what + " was given up"};
  if (connection.is_late) {
    return {.code = Code::kTimeout,
            .message = what + " took over " + std::to_string(call.request.timeout_ms) + " ms"};
  }
  return {.code = Code::kUnavailable, .message = what + " failed: it closed the connection"};
}

std::unique_ptr<UpstreamConnection> UpstreamLoop::take_idle(const std::string& target) {
  auto found = idle_.find(target);
  if (found == idle_.end()) return nullptr;
  auto& connections = found->second;
  while (!connections.empty()) {
    auto connection = std::move(connections.back());
    connections.pop_back();
    if (!connection->is_stale()) return connection;
  }
  return nullptr;
}

void UpstreamLoop::keep_idle(std::unique_ptr<UpstreamConnection> connection) {
  if (is_closed_) return;
  auto& connections = idle_[connection->target];
  if (connections.size() >= options_.idle_per_target_max) return;
  connection->is_used = true;
  connection->in = {};
  connection->deadline = loop_->clock().mono() + options_.idle_timeout_ms * 1000;
  connections.push_back(std::move(connection));
}

void UpstreamLoop::watch() {
  if (!ticker_) ticker_ = loop_->watch(*this);
}

void UpstreamLoop::unwatch_if_empty() {
  if (!ticker_ || !active_.empty() || !idle_.empty()) return;
  loop_->unwatch(*std::exchange(ticker_, std::nullopt));
}

void UpstreamLoop::on_tick(Mono now) {
  for (auto& connection : active_) {
    if (now <= connection->deadline || connection->is_late) continue;
    connection->is_late = true;
    connection->abort();
  }
  std::erase_if(idle_, [now](auto& entry) {
    std::erase_if(entry.second, [now](auto& connection) { return now > connection->deadline; });
    return entry.second.empty();
  });
  unwatch_if_empty();
}

void UpstreamLoop::on_abort() {
  for (auto& connection : active_) connection->abort();
}

void UpstreamLoop::close() {
  is_closed_ = true;
  idle_.clear();
  on_abort();
  unwatch_if_empty();
}

}  // namespace takt::net::internal
