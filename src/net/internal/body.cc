// SPDX-License-Identifier: Apache-2.0
// Connection's receiving half: bodies of requests.
#include <algorithm>
#include <cstring>
#include <future>

#include "takt/base/limits.h"
#include "takt/net/internal/body_reader.h"
#include "takt/net/internal/connection.h"

namespace takt::net::internal {
namespace {

constexpr std::size_t kReadBytesFirst = 4 << 10;
constexpr std::size_t kReadBytesMax = 128 << 10;      // holds a head and one read
constexpr std::size_t kChunkedReadBytes = 64 << 10;   // the read size follows the free space
constexpr std::int64_t kDiscardBytesMax = 256 << 10;  // rather close than read more
constexpr std::size_t kBodyStepBytes = 1 << 20;       // a length alone reserves no memory
constexpr std::int64_t kLingerMs = 2'000;

}  // namespace

Task<bool> Connection::fill() {
  if (in_begin_ == in_end_) in_begin_ = in_end_ = 0;
  std::size_t wanted = body_chunked_ && !body_done_ ? kChunkedReadBytes : kReadBytesFirst;
  if (in_.size() > kChunkedReadBytes && in_end_ == 0 && is_idle_) {
    in_.resize(kReadBytesFirst);  // an idle connection is small
    in_.shrink_to_fit();
  }
  if (in_.size() < wanted) in_.resize(wanted);
  if (in_end_ == in_.size() && in_begin_ > 0) {
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  if (in_end_ == in_.size()) {
    if (in_.size() >= kReadBytesMax) co_return false;
    in_.resize(in_.size() * 2);
  }
  IoResult got = co_await wire_->read_some(std::span(in_).subspan(in_end_));
  if (got.error || got.bytes == 0) co_return false;
  in_end_ += got.bytes;
  transferred_ += static_cast<std::int64_t>(got.bytes);
  co_return true;
}

void Connection::begin_body(const Exchange& exchange) {
  body_chunked_ = exchange.parser.is_chunked();
  body_left_ = body_chunked_ ? 0 : exchange.parser.content_length();
  body_taken_ = 0;
  body_done_ = !body_chunked_ && body_left_ == 0;
  body_failed_ = false;
  continue_owed_ = !body_done_ && exchange.parser.expects_continue();
  body_paused_ = core_.clock.mono();
}

Task<Status> Connection::read_whole(Exchange& exchange) {
  std::string& body = exchange.request.body;
  std::size_t have = 0;
  while (!body_done_) {
    std::size_t room = kChunkedReadBytes;
    if (!body_chunked_) {
      room = std::min(static_cast<std::size_t>(body_left_), std::max(kBodyStepBytes, have));
    }
    body.resize(have + room);
    Result<std::size_t> got = co_await read_body(exchange, std::span(body).subspan(have));
    if (!got) co_return fail(std::move(got.error()));
    have += *got;
  }
  body.resize(have);
  co_return Status{};
}

Task<Result<std::size_t>> Connection::read_body(Exchange& exchange, std::span<char> buffer) {
  if (body_failed_) co_return body_error();
  if (body_done_ || buffer.empty()) co_return std::size_t{0};
  if (continue_owed_) {
    continue_owed_ = false;
    if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n")) {
      body_failed_ = true;
      co_return body_error();
    }
  }
  // Only the client's time counts, not that of a handler between two reads.
  transfer_start_ = transfer_start_ + (core_.clock.mono() - body_paused_);
  Result<std::size_t> got =
      body_chunked_ ? co_await read_chunked(exchange, buffer) : co_await read_plain(buffer);
  deadline_ = {};
  body_paused_ = core_.clock.mono();
  if (!got) body_failed_ = true;
  co_return got;
}

Task<Result<std::size_t>> Connection::read_plain(std::span<char> buffer) {
  buffer = buffer.first(std::min(buffer.size(), static_cast<std::size_t>(body_left_)));
  std::size_t got = std::min(buffer.size(), in_end_ - in_begin_);
  std::memcpy(buffer.data(), in_.data() + in_begin_, got);
  in_begin_ += got;
  while (got < buffer.size()) {  // straight from the socket
    deadline_ = core_.transfer_deadline(transfer_start_, transferred_);
    IoResult more = co_await wire_->read_some(buffer.subspan(got));
    if (more.error || more.bytes == 0) co_return body_error();
    got += more.bytes;
    transferred_ += static_cast<std::int64_t>(more.bytes);
  }
  body_left_ -= static_cast<std::int64_t>(got);
  body_taken_ += static_cast<std::int64_t>(got);
  body_done_ = body_left_ == 0;
  co_return got;
}

Task<Result<std::size_t>> Connection::read_chunked(Exchange& exchange, std::span<char> buffer) {
  std::size_t got = 0;
  while (got < buffer.size() && !body_done_) {
    auto step = exchange.parser.parse_chunks({in_.data() + in_begin_, in_end_ - in_begin_},
                                             buffer.subspan(got));
    in_begin_ += step.consumed;
    got += step.produced;
    body_taken_ += static_cast<std::int64_t>(step.produced);
    if (step.state == HeadParser::State::kBad) {
      co_return fail(Code::kInvalid, "the chunked body is not well-formed");
    }
    if (body_taken_ > body_max_) {
      co_return fail(Code::kTooLarge,
                     "the body has more than " + std::to_string(body_max_) + " bytes, the limit");
    }
    body_done_ = step.state == HeadParser::State::kDone;
    if (body_done_ || got == buffer.size()) break;
    deadline_ = core_.transfer_deadline(transfer_start_, transferred_);
    if (!co_await fill()) co_return body_error();
  }
  co_return got;
}

Result<std::size_t> Connection::body_error() const {
  if (is_closed_) {
    return fail(Code::kTimeout, "the body came too slowly: " + std::to_string(body_taken_) +
                                    " bytes before the deadline");
  }
  return fail(Code::kInvalid, "the client ended the connection after " +
                                  std::to_string(body_taken_) + " bytes of the body");
}

bool Connection::must_close_after_body() const {
  if (body_failed_) return true;
  return !body_done_ && (body_chunked_ || continue_owed_ || body_left_ > kDiscardBytesMax);
}

Task<bool> Connection::discard_body(Exchange& exchange) {
  std::vector<char> scrap;
  if (!body_done_) scrap.resize(kChunkedReadBytes);
  while (!body_done_) {
    if (!co_await read_body(exchange, scrap)) co_return false;
  }
  co_return true;
}

Task<void> Connection::linger() {
  // A close with unread input sends a reset, which may overtake the answer.
  bool is_clean = body_done_ && in_begin_ == in_end_;
  deadline_ = core_.clock.mono() + kLingerMs * 1000;
  co_await wire_->finish_writing();
  if (is_clean) co_return;
  std::vector<char> scrap(kChunkedReadBytes);
  while (true) {
    auto [error, bytes] = co_await wire_->socket().async_read_some(
        asio::buffer(scrap.data(), scrap.size()), kAsTuple);
    if (error || bytes == 0) co_return;
  }
}

Result<std::size_t> LoopBodyReader::read(std::span<char> buffer) {
  std::promise<Result<std::size_t>> done;
  auto result = done.get_future();
  asio::co_spawn(
      connection_.loop_->executor(), connection_.read_body(exchange_, buffer),
      [done = std::move(done)](const std::exception_ptr& failed, Result<std::size_t> got) mutable {
        if (failed) got = fail(Code::kInternal, "reading the body failed");
        done.set_value(std::move(got));
      });
  return result.get();
}

std::int64_t LoopBodyReader::length() const {
  return exchange_.parser.is_chunked() ? -1 : exchange_.parser.content_length();
}

}  // namespace takt::net::internal
