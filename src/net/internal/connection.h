// SPDX-License-Identifier: Apache-2.0
// One client's connection.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "takt/net/internal/core.h"
#include "takt/net/internal/exchange.h"
#include "takt/net/internal/push_sink.h"

namespace takt::net::internal {

/// Reads requests one after another, sends each through the filter to its handler, writes the
/// answers in order. Everything runs on the loop's thread, except what says otherwise.
///   idle -> head -> filter -> body -> handler -> answer -> idle | closed
class Connection final : public Ticker, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Core& core, std::shared_ptr<Loop> loop, std::unique_ptr<Wire> wire,
             std::string remote_address);
  ~Connection() override;

  Task<void> run();

  void on_tick(Mono now) override;
  void on_drain() override;
  void on_abort() override;

 private:
  friend class LoopBodyReader;
  enum class Head { kReady, kClosed, kAnswered };

  // connection.cc
  Task<bool> serve_one();
  Task<Head> read_head(Exchange& exchange, Response& answer);
  std::optional<Response> filter(Exchange& exchange);
  std::optional<Response> check_route(Exchange& exchange);
  std::optional<Response> check_caller(Exchange& exchange);
  std::optional<Response> check_body_limit(Exchange& exchange);
  Task<void> handle(std::shared_ptr<Exchange> exchange);
  void start_plain(const std::shared_ptr<Exchange>& exchange);
  void start_async(const std::shared_ptr<Exchange>& exchange);
  void log_request(const Exchange& exchange, int status) const;
  void abort();
  void arm_watch();

  // body.cc
  void begin_body(const Exchange& exchange);
  Task<bool> fill();
  Task<Status> read_whole(Exchange& exchange);
  Task<Result<std::size_t>> read_body(Exchange& exchange, std::span<char> buffer);
  Task<Result<std::size_t>> read_plain(std::span<char> buffer);
  Task<Result<std::size_t>> read_chunked(Exchange& exchange, std::span<char> buffer);
  Result<std::size_t> body_error() const;
  bool must_close_after_body() const;
  Task<bool> discard_body(Exchange& exchange);
  Task<void> linger();

  // answer.cc
  Task<bool> write_answer(Exchange& exchange, Response response, bool keep_alive);
  std::string render_head(const Exchange& exchange, const Response& response, bool keep_alive,
                          std::int64_t length, bool is_chunked);
  Task<bool> write(std::string_view first, std::string_view second = {});
  Task<bool> write_file(FileBody& file);
  Task<bool> write_file_tls(FileBody& file);
  Task<bool> write_pull(PullBody& pull, std::int64_t length, bool is_chunked);
  Task<bool> write_push(PushBody& push, bool is_chunked);
  template <class T>
  Task<T> on_worker(std::move_only_function<T()> work);

  Core& core_;
  std::shared_ptr<Loop> loop_;
  std::unique_ptr<Wire> wire_;
  std::string remote_address_;
  Mono deadline_{};        // of what goes on now; 0: none
  Mono transfer_start_{};  // of the request that is being read
  Mono body_paused_{};     // when the last read of the body ended
  std::int64_t transferred_ = 0;
  bool is_idle_ = true;
  bool is_closed_ = false;             // aborted
  bool is_watched_ = false;            // a readiness wait is out
  Mono answer_deadline_{};             // of an async handler
  std::shared_ptr<Exchange> waiting_;  // whose client is being watched
  std::shared_ptr<PushSink> sink_;

  std::vector<char> in_;  // received, not yet used: in_[in_begin_, in_end_)
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;

  std::int64_t body_left_ = 0;  // of a Content-Length body
  std::int64_t body_taken_ = 0;
  std::int64_t body_max_ = 0;
  bool body_chunked_ = false;
  bool body_done_ = true;
  bool body_failed_ = false;
  bool continue_owed_ = false;
};

}  // namespace takt::net::internal
