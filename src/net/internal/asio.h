// SPDX-License-Identifier: Apache-2.0
// The parts of Boost.Asio that net uses, by our names. Only .cc files of net include this.
#pragma once

#define BOOST_ASIO_SEPARATE_COMPILATION 1  // asio.cc has the bodies
#define BOOST_ASIO_NO_DEPRECATED 1

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace takt::net::internal {

namespace asio = boost::asio;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;
template <class T>
using Task = asio::awaitable<T, Executor>;
using Tcp = asio::ip::tcp;
using Socket = asio::basic_stream_socket<Tcp, Executor>;
using UseTask = asio::use_awaitable_t<Executor>;
inline constexpr UseTask kUseTask{};
/// Completion token: the results as a tuple, errors among them.
inline constexpr asio::as_tuple_t<UseTask> kAsTuple{};

struct IoResult {
  error_code error;
  std::size_t bytes = 0;
};

/// Wakes one waiting coroutine. Of one loop's thread.
class Signal {
 public:
  explicit Signal(Executor executor) : executor_(executor) {}

  Task<void> wait() {
    if (!is_set_) {
      co_await asio::async_initiate<const UseTask, void()>(
          [this](auto handler) { handler_ = std::move(handler); }, kUseTask);
    }
    is_set_ = false;
  }

  void notify() {
    is_set_ = true;
    if (handler_) asio::post(executor_, std::exchange(handler_, nullptr));
  }

 private:
  Executor executor_;
  asio::any_completion_handler<void()> handler_;
  bool is_set_ = false;
};

}  // namespace takt::net::internal
