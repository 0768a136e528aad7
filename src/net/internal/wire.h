// SPDX-License-Identifier: Apache-2.0
// A connected socket, plain or TLS.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "takt/net/http.h"
#include "takt/net/internal/asio.h"

namespace takt::net::internal {

/// Bytes in and out of one connection; loop thread only. abort() makes what is pending fail.
class Wire {
 public:
  explicit Wire(Socket socket) : socket_(std::move(socket)) {}
  virtual ~Wire() = default;

  /// The TLS handshake, when there is one.
  virtual Task<error_code> handshake() = 0;
  virtual Task<IoResult> read_some(std::span<char> buffer) = 0;
  /// Writes all of both.
  virtual Task<IoResult> write(std::string_view first, std::string_view second) = 0;
  /// Says that nothing more will be written.
  virtual Task<void> finish_writing() = 0;
  virtual bool is_tls() const = 0;
  virtual Socket& socket() { return socket_; }

  Task<error_code> wait(Socket::wait_type what);
  int descriptor() { return socket().native_handle(); }
  void abort();
  /// Sets TCP_NODELAY and keep-alive probes.
  void tune();

 protected:
  Socket socket_;
};

class TlsContext;  // loaded certificates

Result<std::shared_ptr<TlsContext>> load_tls(const TlsFiles& files);
std::unique_ptr<Wire> make_wire(Socket socket, const std::shared_ptr<TlsContext>& tls);

}  // namespace takt::net::internal
