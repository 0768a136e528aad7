// SPDX-License-Identifier: Apache-2.0
// cpp-httplib behind our door; the library is compiled, with these options.
#define CPPHTTPLIB_OPENSSL_SUPPORT 1
#define CPPHTTPLIB_ZLIB_SUPPORT 1
#define CPPHTTPLIB_BROTLI_SUPPORT 1
#include "takt/net/client.h"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>

namespace takt::net {
namespace {

constexpr std::size_t kUploadBlockBytes = 256 << 10;
constexpr std::size_t kErrorBodyBytesMax = 256 << 10;

httplib::Headers httplib_headers(const Headers& headers, std::string_view token) {
  httplib::Headers out;
  for (const auto& [name, value] : headers.items()) out.emplace(name, value);
  if (!token.empty()) out.emplace("Authorization", "Bearer " + std::string(token));
  return out;
}

ClientResponse response_of(const httplib::Response& from) {
  ClientResponse response;
  response.status = from.status;
  for (const auto& [name, value] : from.headers) response.headers.add(name, value);
  response.body = from.body;
  return response;
}

// What waits in the socket, when a server answers before the body was sent: status and body.
ClientResponse early_answer(int fd) {
  ClientResponse response;
  pollfd readable{fd, POLLIN, 0};
  if (fd < 0 || ::poll(&readable, 1, 0) <= 0) return response;
  std::string bytes(kErrorBodyBytesMax, '\0');
  ssize_t got = ::recv(fd, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got <= 0) return response;
  bytes.resize(static_cast<std::size_t>(got));
  std::size_t end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.") || end == std::string::npos) return response;
  response.status = std::atoi(bytes.c_str() + bytes.find(' ') + 1);
  response.body = bytes.substr(end + 4);
  return response;
}

}  // namespace

struct Client::Impl {
  explicit Impl(ClientOptions with) : options(std::move(with)), http(origin()) {
    http.set_keep_alive(true);
    http.set_url_encode(false);  // paths come encoded
    http.set_tcp_nodelay(true);
    set_timeout(options.timeout_ms);
    http.set_connection_timeout(options.connect_timeout_ms / 1000,
                                options.connect_timeout_ms % 1000 * 1000);
    http.set_socket_options([this](int fd) { socket = fd; });
    if (!options.ca_file.empty()) http.set_ca_cert_path(options.ca_file);
  }

  // scheme://host:port; the rest is the prefix of every path.
  std::string origin() {
    std::string& url = options.base_url;
    while (url.ends_with('/')) url.pop_back();
    std::size_t scheme = url.find("://");
    std::size_t slash = url.find('/', scheme == std::string::npos ? 0 : scheme + 3);
    if (slash != std::string::npos) prefix = url.substr(slash);
    return url.substr(0, slash);
  }

  void set_timeout(std::int64_t ms) {
    http.set_read_timeout(ms / 1000, ms % 1000 * 1000);
    http.set_write_timeout(ms / 1000, ms % 1000 * 1000);
  }

  Error failure(httplib::Error error, Mono start) const {
    if (!http.is_valid()) {
      return {.code = Code::kInvalid,
              .message = "the server's address \"" + options.base_url +
                         "\" is not of the form http://host:port"};
    }
    bool is_late = system_clock().mono() - start >= options.timeout_ms * 1000;
    switch (error) {
      case httplib::Error::Connection:
      case httplib::Error::ConnectionTimeout:
        return {.code = Code::kUnavailable,
                .message = "nobody answers at " + options.base_url,
                .hint = "start it (takt server), or name the right address"};
      case httplib::Error::SSLConnection:
      case httplib::Error::SSLLoadingCerts:
      case httplib::Error::SSLServerVerification:
      case httplib::Error::SSLServerHostnameVerification:
        return {.code = Code::kUnavailable,
                .message = "no trusted TLS connection to " + options.base_url + ": " +
                           httplib::to_string(error),
                .hint = "name the file of its certificate authority"};
      default:
        break;
    }
    if (is_late) {
      return {.code = Code::kTimeout,
              .message = "no answer from " + options.base_url + " within " +
                         std::to_string(options.timeout_ms) + " ms"};
    }
    return {.code = Code::kUnavailable,
            .message = "the connection to " + options.base_url + " ended (" +
                       httplib::to_string(error) + ")"};
  }

  ClientOptions options;
  std::string prefix;
  httplib::Client http;
  int socket = -1;  // of the connection in use
};

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;

Result<ClientResponse> Client::send(Method method, std::string_view path, std::string body,
                                    std::string_view content_type, const Headers& headers) {
  httplib::Request request;
  request.method = method_name(method);
  request.path = impl_->prefix + std::string(path);
  request.headers = httplib_headers(headers, impl_->options.token);
  bool has_body = !body.empty() || method == Method::kPost || method == Method::kPut ||
                  method == Method::kPatch;
  if (has_body && !content_type.empty())
    request.set_header("Content-Type", std::string(content_type));
  request.body = std::move(body);
  bool is_repeatable = method == Method::kGet || method == Method::kHead;
  httplib::Error error = httplib::Error::Success;
  Mono start = system_clock().mono();
  for (int attempt = 0; attempt < 2; ++attempt) {
    httplib::Response response;
    start = system_clock().mono();
    if (impl_->http.send(request, response, error)) return response_of(response);
    // A kept connection may have been closed by the server in the very moment of its use.
    bool was_cut = error == httplib::Error::Read || error == httplib::Error::Write;
    if (!is_repeatable || !was_cut || system_clock().mono() - start > 1'000'000) break;
  }
  return fail(impl_->failure(error, start));
}

Result<ClientResponse> Client::upload(
    Method method, std::string_view path, std::int64_t length,
    const std::function<Result<std::size_t>(std::span<char>)>& read,
    std::string_view content_type) {
  std::optional<Error> source_error;
  ClientResponse early;
  std::string block(kUploadBlockBytes, '\0');
  auto provide = [&](std::size_t offset, std::size_t, httplib::DataSink& sink) {
    early = early_answer(impl_->socket);
    if (early.status != 0) return false;  // refused: spare the rest
    auto left = static_cast<std::size_t>(length) - offset;
    Result<std::size_t> got = read(std::span(block).first(std::min(left, block.size())));
    if (got && *got == 0)
      got = fail(Code::kInvalid, "the source ended " + std::to_string(left) + " bytes early");
    if (!got) {
      source_error = got.error();
      return false;
    }
    return sink.write(block.data(), *got);
  };
  std::string target = impl_->prefix + std::string(path);
  auto headers = httplib_headers({}, impl_->options.token);
  auto size = static_cast<std::size_t>(length);
  std::string type(content_type);
  Mono start = system_clock().mono();
  if (length == 0) return send(method, path, {}, content_type);
  httplib::Result result =
      method == Method::kPut     ? impl_->http.Put(target, headers, size, provide, type)
      : method == Method::kPatch ? impl_->http.Patch(target, headers, size, provide, type)
                                 : impl_->http.Post(target, headers, size, provide, type);
  if (result) return response_of(*result);
  if (source_error) return fail(std::move(*source_error));
  if (early.status != 0) return early;
  return fail(impl_->failure(result.error(), start));
}

Result<int> Client::download(std::string_view path,
                             const std::function<bool(std::string_view)>& write) {
  ClientResponse response;
  bool is_stopped = false;
  auto headers = httplib_headers({}, impl_->options.token);
  Mono start = system_clock().mono();
  httplib::Result result = impl_->http.Get(
      impl_->prefix + std::string(path), headers,
      [&](const httplib::Response& head) {
        response.status = head.status;
        return true;
      },
      [&](const char* bytes, std::size_t size) {
        if (response.status < 400) {
          is_stopped = !write({bytes, size});
          return !is_stopped;
        }
        response.body.append(bytes, std::min(size, kErrorBodyBytesMax - response.body.size()));
        return true;
      });
  if (!result && !is_stopped) return fail(impl_->failure(result.error(), start));
  if (response.status >= 400) return fail(error_from_response(response));
  return response.status;
}

namespace {

Result<Value> value_of(Result<ClientResponse> response) {
  if (!response) return fail(std::move(response.error()));
  if (response->status >= 400) return fail(error_from_response(*response));
  if (response->body.empty()) return Value();
  return parse_json(response->body, {.bytes_max = 256 << 20})
      .transform_error(while_("reading the server's answer"));
}

}  // namespace

Result<Value> Client::get(std::string_view path) { return value_of(send(Method::kGet, path)); }
Result<Value> Client::post(std::string_view path, const Value& body) {
  return value_of(send(Method::kPost, path, dump_json(body)));
}
Result<Value> Client::put(std::string_view path, const Value& body) {
  return value_of(send(Method::kPut, path, dump_json(body)));
}
Result<Value> Client::patch(std::string_view path, const Value& body) {
  return value_of(send(Method::kPatch, path, dump_json(body)));
}
Result<Value> Client::del(std::string_view path) { return value_of(send(Method::kDelete, path)); }

}  // namespace takt::net
