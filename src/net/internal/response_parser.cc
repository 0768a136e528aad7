// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/response_parser.h"

#include "takt/net/internal/asio.h"
// after asio.h, which sets how Asio is compiled
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <limits>

#include "takt/base/limits.h"
#include "takt/net/internal/text.h"

namespace takt::net::internal {
namespace {
namespace response_http = boost::beast::http;
using ResponseText = boost::beast::string_view;
}  // namespace

struct ResponseParser::Impl final : response_http::basic_parser<false> {
  Impl(Headers& to_headers, std::string& to_body) : headers(to_headers), body(to_body) {
    header_limit(static_cast<std::uint32_t>(limits::kHeaderBytesMax));
    body_limit(boost::none);
    eager(false);
  }

  Headers& headers;
  std::string& body;
  int status = 0;
  bool head_done = false;

  void on_request_impl(response_http::verb, ResponseText, ResponseText, int, error_code&) override {
  }
  void on_response_impl(int code, ResponseText, int, error_code&) override { status = code; }
  void on_field_impl(response_http::field, ResponseText name, ResponseText value,
                     error_code&) override {
    if (head_done || is_hop_header({name.data(), name.size()})) return;
    headers.add(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  void on_header_impl(error_code&) override { head_done = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(ResponseText piece, error_code&) override {
    body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t, ResponseText, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, ResponseText piece, error_code&) override {
    body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_finish_impl(error_code&) override {}
};

ResponseParser::ResponseParser(Headers& headers, std::string& body, bool is_head)
    : impl_(std::make_unique<Impl>(headers, body)) {
  impl_->skip(is_head);
}
ResponseParser::~ResponseParser() = default;

ResponseParser::Step ResponseParser::parse_head(std::string_view bytes) {
  Step step;
  error_code error;
  step.consumed = impl_->put(asio::buffer(bytes), error);
  if (impl_->is_header_done()) {
    step.state = State::kDone;
  } else if (error && error != response_http::error::need_more) {
    step.state = State::kBad;
  }
  return step;
}

ResponseParser::Step ResponseParser::parse_body(std::string_view bytes) {
  Step step;
  while (!impl_->is_done()) {
    error_code error;
    step.consumed += impl_->put(asio::buffer(bytes.substr(step.consumed)), error);
    if (error == response_http::error::need_more) return step;
    if (error) {
      step.state = State::kBad;
      return step;
    }
    if (step.consumed == bytes.size() && !impl_->is_done()) return step;
  }
  step.state = State::kDone;
  return step;
}

bool ResponseParser::finish_by_close() {
  if (!impl_->need_eof()) return false;
  error_code error;
  impl_->put_eof(error);
  return !error;
}

int ResponseParser::status() const { return impl_->status; }
bool ResponseParser::is_done() const { return impl_->is_done(); }
bool ResponseParser::keep_alive() const { return impl_->keep_alive(); }
std::int64_t ResponseParser::content_length() const {
  if (impl_->chunked() || !impl_->content_length()) return -1;
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min<std::uint64_t>(*impl_->content_length(), kMax));
}

bool is_hop_header(std::string_view name) {
  for (std::string_view hop :
       {"Connection", "Content-Length", "Transfer-Encoding", "Keep-Alive", "TE", "Trailer",
        "Upgrade", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization"}) {
    if (equal_no_case(name, hop)) return true;
  }
  return false;
}

}  // namespace takt::net::internal
