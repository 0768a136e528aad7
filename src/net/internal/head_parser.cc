// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/head_parser.h"

#include "takt/net/internal/asio.h"
// after asio.h, which sets how Asio is compiled
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include "takt/base/limits.h"
#include "takt/net/internal/text.h"

namespace takt::net::internal {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;

std::optional<Method> method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get:
      return Method::kGet;
    case http::verb::head:
      return Method::kHead;
    case http::verb::post:
      return Method::kPost;
    case http::verb::put:
      return Method::kPut;
    case http::verb::patch:
      return Method::kPatch;
    case http::verb::delete_:
      return Method::kDelete;
    case http::verb::options:
      return Method::kOptions;
    default:
      return std::nullopt;
  }
}

}  // namespace

struct HeadParser::Impl final : http::basic_parser<true> {
  explicit Impl(Request& into) : request(into) {
    header_limit(static_cast<std::uint32_t>(limits::kHeaderBytesMax));
    body_limit(boost::none);  // per route, checked by the connection
    eager(false);
  }

  Request& request;
  std::span<char> out;
  std::size_t produced = 0;
  int version = 11;
  int hosts = 0;
  int transfer_encodings = 0;
  int lengths = 0;
  bool is_plain_length = true;   // digits only; Beast takes equal lists and repetitions
  bool is_plain_chunked = true;  // the only transfer coding we take
  bool expects = false;
  bool method_known = true;
  bool head_done = false;

  void on_request_impl(http::verb verb, string_view, string_view target, int number,
                       error_code&) override {
    auto method = method_of(verb);
    method_known = method.has_value();
    request.method = method.value_or(Method::kGet);
    request.target.assign(target.data(), target.size());
    version = number;
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(http::field field, string_view name, string_view value, error_code&) override {
    if (head_done) return;  // trailers carry nothing that we read
    std::string_view text(value.data(), value.size());
    if (field == http::field::host) ++hosts;
    if (field == http::field::transfer_encoding) {
      ++transfer_encodings;
      is_plain_chunked = is_plain_chunked && equal_no_case(text, "chunked");
    }
    if (field == http::field::content_length) {
      ++lengths;
      is_plain_length = text.find_first_not_of("0123456789") == std::string_view::npos;
    }
    if (field == http::field::expect) expects = equal_no_case(text, "100-continue");
    request.headers.add(std::string(name.data(), name.size()), std::string(text));
  }
  void on_header_impl(error_code&) override { head_done = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& error) override {
    std::size_t taken = std::min(body.size(), out.size() - produced);
    std::memcpy(out.data() + produced, body.data(), taken);
    produced += taken;
    if (taken < body.size()) error = http::error::need_buffer;
    return taken;
  }
  void on_finish_impl(error_code&) override {}
};

HeadParser::HeadParser(Request& request) : impl_(std::make_unique<Impl>(request)) {}
HeadParser::~HeadParser() = default;

HeadParser::Step HeadParser::parse_head(std::string_view bytes) {
  Step step;
  error_code error;
  step.consumed = impl_->put(asio::buffer(bytes), error);
  if (impl_->is_header_done()) {
    step.state = State::kDone;
  } else if (error == http::error::header_limit) {
    step.state = State::kTooLarge;
  } else if (error && error != http::error::need_more) {
    step.state = State::kBad;
  }
  return step;
}

HeadParser::Step HeadParser::parse_chunks(std::string_view bytes, std::span<char> out) {
  Step step;
  impl_->out = out;
  impl_->produced = 0;
  while (!impl_->is_done() && impl_->produced < out.size()) {
    error_code error;
    std::size_t used = impl_->put(asio::buffer(bytes.substr(step.consumed)), error);
    step.consumed += used;
    if (error == http::error::need_more || error == http::error::need_buffer) break;
    if (error) {
      step.state = State::kBad;
      return step;
    }
    if (step.consumed == bytes.size()) break;
  }
  step.produced = impl_->produced;
  step.state = impl_->is_done() ? State::kDone : State::kNeedMore;
  return step;
}

std::string_view HeadParser::framing_error() const {
  if (impl_->hosts > 1) return "the request has more than one Host header";
  if (impl_->hosts == 0 && !is_http10()) return "the request has no Host header";
  if (impl_->lengths > 1 || !impl_->is_plain_length) {
    return "Content-Length must be one decimal number";
  }
  if (impl_->transfer_encodings > 1 || !impl_->is_plain_chunked) {
    return "the only transfer coding taken is chunked";
  }
  if (impl_->transfer_encodings == 1 && (is_http10() || impl_->content_length())) {
    return "Transfer-Encoding may not come with HTTP/1.0 or with Content-Length";
  }
  return {};
}

bool HeadParser::is_known_method() const { return impl_->method_known; }
bool HeadParser::is_chunked() const { return impl_->chunked(); }
bool HeadParser::is_http10() const { return impl_->version < 11; }
bool HeadParser::keep_alive() const { return impl_->keep_alive(); }
bool HeadParser::expects_continue() const { return impl_->expects && !is_http10(); }
std::int64_t HeadParser::content_length() const {
  // A length beyond the type is over every limit, not below it.
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(impl_->content_length().value_or(0), kMax));
}

}  // namespace takt::net::internal
