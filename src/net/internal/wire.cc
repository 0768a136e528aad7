// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/wire.h"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <netinet/tcp.h>

namespace takt::net::internal {

class TlsContext {
 public:
  asio::ssl::context context{asio::ssl::context::tls_server};
};

namespace {

constexpr std::size_t kTlsJoinBytesMax = 16 << 10;  // one record rather than two

class PlainWire final : public Wire {
 public:
  using Wire::Wire;
  Task<error_code> handshake() override { co_return error_code{}; }
  Task<IoResult> read_some(std::span<char> buffer) override {
    auto [error, bytes] =
        co_await socket_.async_read_some(asio::buffer(buffer.data(), buffer.size()), kAsTuple);
    co_return IoResult{error, bytes};
  }
  Task<IoResult> write(std::string_view first, std::string_view second) override {
    std::array<asio::const_buffer, 2> buffers{asio::buffer(first), asio::buffer(second)};
    auto [error, bytes] = co_await asio::async_write(socket_, buffers, kAsTuple);
    co_return IoResult{error, bytes};
  }
  Task<void> finish_writing() override {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    co_return;
  }
  bool is_tls() const override { return false; }
};

class TlsWire final : public Wire {
 public:
  TlsWire(Socket socket, std::shared_ptr<TlsContext> tls)
      : Wire(Socket(socket.get_executor())),
        tls_(std::move(tls)),
        stream_(std::move(socket), tls_->context) {}
  Socket& socket() override { return stream_.next_layer(); }
  Task<error_code> handshake() override {
    auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kAsTuple);
    co_return error;
  }
  Task<IoResult> read_some(std::span<char> buffer) override {
    auto [error, bytes] =
        co_await stream_.async_read_some(asio::buffer(buffer.data(), buffer.size()), kAsTuple);
    co_return IoResult{error, bytes};
  }
  Task<IoResult> write(std::string_view first, std::string_view second) override {
    if (first.size() + second.size() <= kTlsJoinBytesMax) {
      joined_.assign(first).append(second);
      first = joined_;
      second = {};
    }
    std::array<asio::const_buffer, 2> buffers{asio::buffer(first), asio::buffer(second)};
    auto [error, bytes] = co_await asio::async_write(stream_, buffers, kAsTuple);
    co_return IoResult{error, bytes};
  }
  Task<void> finish_writing() override {
    co_await stream_.async_shutdown(kAsTuple);
    error_code ignored;
    socket().shutdown(Socket::shutdown_send, ignored);
  }
  bool is_tls() const override { return true; }

 private:
  std::shared_ptr<TlsContext> tls_;
  asio::ssl::stream<Socket> stream_;
  std::string joined_;
};

}  // namespace

Task<error_code> Wire::wait(Socket::wait_type what) {
  auto [error] = co_await socket().async_wait(what, kAsTuple);
  co_return error;
}

void Wire::abort() {
  error_code ignored;
  socket().close(ignored);
}

void Wire::tune() {
  error_code ignored;
  socket().set_option(Tcp::no_delay(true), ignored);
  socket().set_option(asio::socket_base::keep_alive(true), ignored);
  int idle_seconds = 60;
  ::setsockopt(descriptor(), IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof(idle_seconds));
}

Result<std::shared_ptr<TlsContext>> load_tls(const TlsFiles& files) {
  auto tls = std::make_shared<TlsContext>();
  error_code error;
  tls->context.use_certificate_chain_file(files.certificate, error);
  if (error) {
    return fail(Code::kInvalid,
                "reading the TLS certificate " + files.certificate + ": " + error.message());
  }
  tls->context.use_private_key_file(files.key, asio::ssl::context::pem, error);
  if (error)
    return fail(Code::kInvalid, "reading the TLS key " + files.key + ": " + error.message());
  ::SSL_CTX_set_min_proto_version(tls->context.native_handle(), TLS1_2_VERSION);
  return tls;
}

std::unique_ptr<Wire> make_wire(Socket socket, const std::shared_ptr<TlsContext>& tls) {
  if (tls) return std::make_unique<TlsWire>(std::move(socket), tls);
  return std::make_unique<PlainWire>(std::move(socket));
}

}  // namespace takt::net::internal
