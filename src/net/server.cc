// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "takt/base/log.h"
#include "takt/net/http.h"
#include "takt/net/internal/connection.h"

namespace takt::net {
namespace internal {
namespace {

constexpr std::int64_t kAbortWaitMs = 5'000;
constexpr std::int64_t kAcceptPauseMs = 100;  // when descriptors run out

Result<Tcp::endpoint> parse_listen(const std::string& listen) {
  std::size_t colon = listen.rfind(':');
  std::string host = listen.substr(0, colon == std::string::npos ? 0 : colon);
  std::string_view digits = std::string_view(listen).substr(colon + 1);
  int port = -1;
  auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (colon == std::string::npos || bad != std::errc() || end != digits.data() + digits.size() ||
      port < 0 || port > 65535) {
    return fail(Code::kInvalid, "the listen address must be HOST:PORT, got \"" + listen + "\"");
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  if (host.empty() || host == "*") host = "0.0.0.0";
  error_code error;
  auto address = asio::ip::make_address(host, error);
  if (error) {
    return fail(Code::kInvalid, "the listen address needs an IP address, got \"" + host + "\"");
  }
  return Tcp::endpoint(address, static_cast<std::uint16_t>(port));
}

using Acceptor = asio::basic_socket_acceptor<Tcp, Executor>;

class ServerImpl final : public Server {
 public:
  ServerImpl(ServerOptions options, const Router& router, Authenticator* authenticator,
             Clock& clock)
      : core_(std::move(options), router, authenticator, clock) {
    std::int64_t shortest =
        std::min(core_.options.idle_timeout_ms, core_.options.transfer_timeout_ms);
    std::int64_t tick_ms = std::clamp<std::int64_t>(shortest / 4, 10, 100);
    for (int i = 0; i < std::max(1, core_.options.network_threads); ++i) {
      loops_.push_back(std::make_shared<Loop>(clock, tick_ms));
    }
    acceptor_.emplace(loops_[0]->executor());
  }
  ~ServerImpl() override;

  Status open();
  int port() const override { return port_; }
  void drain(std::int64_t timeout_ms) override;
  Stats stats() const override {
    return {core_.requests.load(), core_.connections(), core_.in_flight.load()};
  }

 private:
  Task<void> accept();
  void take(Socket socket, const std::shared_ptr<Loop>& loop);
  void close_acceptor();

  Core core_;
  std::vector<std::shared_ptr<Loop>> loops_;
  std::optional<Acceptor> acceptor_;  // of the first loop
  std::size_t next_loop_ = 0;
  int port_ = 0;
};

Status ServerImpl::open() {
  if (core_.options.tls) {
    TAKT_ASSIGN(core_.tls, load_tls(*core_.options.tls));
  }
  TAKT_ASSIGN(Tcp::endpoint endpoint, parse_listen(core_.options.listen));
  error_code error;
  acceptor_->open(endpoint.protocol(), error);
  if (!error) acceptor_->set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error && core_.options.reuse_port) {
    int on = 1;
    ::setsockopt(acceptor_->native_handle(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  }
  if (!error) acceptor_->bind(endpoint, error);
  if (!error) acceptor_->listen(1024, error);
  if (error == asio::error::address_in_use) {
    return fail(Code::kUnavailable, "the address " + core_.options.listen + " is in use",
                "stop the program that listens there, or choose another with --listen");
  }
  if (error) {
    return fail(Code::kUnavailable,
                "listening on " + core_.options.listen + ": " + error.message());
  }
  port_ = acceptor_->local_endpoint(error).port();
  for (auto& loop : loops_) loop->start();
  asio::co_spawn(loops_[0]->executor(), accept(), asio::detached);
  return {};
}

Task<void> ServerImpl::accept() {
  while (acceptor_->is_open()) {
    std::shared_ptr<Loop> loop = loops_[next_loop_++ % loops_.size()];
    Socket socket(loop->executor());
    auto [error] = co_await acceptor_->async_accept(socket, kAsTuple);
    if (!error) {
      if (core_.connections() < core_.options.connections_max) take(std::move(socket), loop);
      continue;
    }
    if (!acceptor_->is_open()) co_return;
    log_warn("accepting a connection failed", {{"error", error.message()}});
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, Executor>
        pause(loops_[0]->executor(), std::chrono::milliseconds(kAcceptPauseMs));
    co_await pause.async_wait(kAsTuple);
  }
}

void ServerImpl::take(Socket socket, const std::shared_ptr<Loop>& loop) {
  error_code error;
  std::string address = socket.remote_endpoint(error).address().to_string();
  if (error) return;
  auto connection = std::make_shared<Connection>(
      core_, loop, make_wire(std::move(socket), core_.tls), std::move(address));
  asio::co_spawn(loop->executor(), connection->run(), asio::detached);
}

void ServerImpl::close_acceptor() {
  asio::post(loops_[0]->executor(), [this] {
    error_code ignored;
    acceptor_->close(ignored);
  });
}

void ServerImpl::drain(std::int64_t timeout_ms) {
  if (!core_.is_draining.exchange(true)) close_acceptor();
  for (auto& loop : loops_) {
    asio::post(loop->executor(), [loop] { loop->drain(); });
  }
  core_.wait_no_connections(timeout_ms);
}

ServerImpl::~ServerImpl() {
  drain(0);
  for (auto& loop : loops_) {
    asio::post(loop->executor(), [loop] { loop->abort(); });
  }
  core_.wait_no_connections(kAbortWaitMs);
  core_.workers.stop();  // a handler that still runs is waited for
  core_.stream_workers.stop();
  core_.wait_no_connections(kAbortWaitMs);
  for (auto& loop : loops_) loop->stop();
}

}  // namespace
}  // namespace internal

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, const Router& router,
                                              Authenticator* authenticator, Clock& clock) {
  auto server =
      std::make_unique<internal::ServerImpl>(std::move(options), router, authenticator, clock);
  TAKT_RETURN_IF_ERROR(server->open());
  return server;
}

}  // namespace takt::net
