// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/core.h"

#include <array>
#include <charconv>
#include <chrono>

#include "takt/base/digest.h"

namespace takt::net::internal {

Core::Core(ServerOptions with, const Router& with_router, Authenticator* with_authenticator,
           Clock& with_clock)
    : options(std::move(with)),
      routes(with_router.impl()),
      authenticator(with_authenticator),
      clock(with_clock),
      workers(options.worker_threads, options.worker_queue_max),
      stream_workers(options.stream_threads_max, options.worker_queue_max),
      prefix_(random_hex(6)) {}

std::string Core::next_request_id() {
  std::array<char, 16> digits;
  std::uint64_t number = counter_.fetch_add(1, std::memory_order_relaxed) + 1;
  auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  std::string id = prefix_;
  id.push_back('-');
  id.append(digits.data(), end);
  return id;
}

void Core::connection_opened() {
  std::lock_guard lock(mutex_);
  ++connections_;
}

void Core::connection_closed() {
  std::lock_guard lock(mutex_);
  if (--connections_ == 0) gone_.notify_all();
}

std::int64_t Core::connections() const {
  std::lock_guard lock(mutex_);
  return connections_;
}

bool Core::wait_no_connections(std::int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  return gone_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                        [this] { return connections_ == 0; });
}

Response error_response(const Core& core, const Route* route, const Request& request,
                        const Error& error, int status) {
  const ErrorForm* form = nullptr;
  if (route != nullptr && route->options.error_form) {
    form = &route->options.error_form;
  } else {
    form = core.routes.error_form(request.path);
  }
  Response response =
      form != nullptr ? (*form)(error, request) : Response::error(error, request.request_id);
  if (status != 0) response.status = status;
  return response;
}

}  // namespace takt::net::internal
