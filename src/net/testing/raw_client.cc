// SPDX-License-Identifier: Apache-2.0
#include "takt/net/testing/raw_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>

namespace takt::net::testing {

RawClient::RawClient(int port, int timeout_ms)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), timeout_ms_(timeout_ms) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    fd_.reset();
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::more() {
  pollfd poll_for{fd_.get(), POLLIN, 0};
  if (::poll(&poll_for, 1, timeout_ms_) <= 0) return false;
  std::array<char, 65536> block;
  ssize_t got = ::recv(fd_.get(), block.data(), block.size(), 0);
  if (got <= 0) return false;
  buffer_.append(block.data(), static_cast<std::size_t>(got));
  return true;
}

RawResponse RawClient::read(bool is_head) {
  RawResponse response;
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return response;
  }
  std::string head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  response.status = std::atoi(head.c_str() + head.find(' ') + 1);
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    std::size_t line_end = head.find("\r\n", at);
    std::string line = head.substr(at, line_end - at);
    std::size_t colon = line.find(": ");
    if (colon != std::string::npos)
      response.headers.add(line.substr(0, colon), line.substr(colon + 2));
    at = line_end + 2;
  }
  if (is_head || response.status == 204 || response.status == 304 || response.status < 200) {
    response.is_whole = true;
    return response;
  }
  if (response.headers.get("Transfer-Encoding") == "chunked") {
    response.is_whole = read_chunked(response);
    return response;
  }
  bool has_length = response.headers.has("Content-Length");
  auto length = static_cast<std::size_t>(
      std::atoll(std::string(response.headers.get("Content-Length")).c_str()));
  while (!has_length || buffer_.size() < length) {
    if (!more()) break;
  }
  response.is_whole = !has_length || buffer_.size() >= length;
  response.body = buffer_.substr(0, has_length ? length : std::string::npos);
  buffer_.erase(0, response.body.size());
  return response;
}

bool RawClient::read_chunked(RawResponse& response) {
  while (true) {
    std::size_t line = 0;
    while ((line = buffer_.find("\r\n")) == std::string::npos) {
      if (!more()) return false;
    }
    std::size_t size = std::strtoull(buffer_.c_str(), nullptr, 16);
    while (buffer_.size() < line + 2 + size + 2) {
      if (!more()) return false;
    }
    response.body.append(buffer_, line + 2, size);
    buffer_.erase(0, line + 2 + size + 2);
    if (size == 0) return true;
  }
}

std::string RawClient::read_until(std::string_view text) {
  while (buffer_.find(text) == std::string::npos) {
    if (!more()) break;
  }
  return buffer_;
}

bool RawClient::is_closed_by_server() {
  pollfd poll_for{fd_.get(), POLLIN, 0};
  std::array<char, 65536> block;
  while (::poll(&poll_for, 1, timeout_ms_) > 0) {
    if (::recv(fd_.get(), block.data(), block.size(), 0) <= 0) return true;
  }
  return false;
}

void RawClient::half_close() { ::shutdown(fd_.get(), SHUT_WR); }

RawResponse raw_request(int port, std::string_view bytes) {
  RawClient client(port);
  client.send(bytes);
  return client.read(bytes.starts_with("HEAD "));
}

std::string raw_text(std::string_view method, std::string_view target,
                     std::string_view header_lines, std::string_view body) {
  std::string text;
  text.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: localhost\r\n");
  text.append(header_lines);
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  text.append("\r\n").append(body);
  return text;
}

namespace {

// {x} -> 1, {x...} -> a/b
std::string example_of(std::string_view pattern) {
  std::string path;
  while (true) {
    std::size_t open = pattern.find('{');
    path.append(pattern.substr(0, open));
    if (open == std::string_view::npos) return path;
    std::size_t close = pattern.find('}', open);
    path.append(pattern.substr(open, close - open).ends_with("...") ? "a/b" : "1");
    pattern.remove_prefix(close + 1);
  }
}

}  // namespace

std::vector<std::string> routes_open_to_anyone(const Router& router, int port) {
  std::vector<std::string> open;
  // What anyone is shown at a path that means nothing (the console's page): no route's answer.
  const RawResponse page = raw_request(port, raw_text("GET", "/nothing-has-this-name"));
  for (const Router::RouteInfo& route : router.routes()) {
    if (route.access == Access::kAnonymous) continue;
    std::vector<Method> methods{route.method, Method::kOptions};
    if (route.method == Method::kGet) methods.push_back(Method::kHead);
    std::string path = example_of(route.pattern);
    for (Method method : methods) {
      for (std::string headers :
           {"", "Authorization: Bearer wrong\r\n", "Cookie: takt_session=wrong\r\n",
            "X-HTTP-Method-Override: OPTIONS\r\n"}) {
        RawResponse got = raw_request(port, raw_text(method_name(method), path, headers));
        if (got.status == 401) continue;
        open.push_back(std::string(method_name(method)) + " " + path + ": " +
                       std::to_string(got.status));
      }
    }
    // Spellings that must not reach it: other answers than 401 are fine as long as nothing is
    // served.
    std::string slashes = path;
    slashes.insert(1, "/");
    for (const std::string& alias : {path + "/", "/." + path, slashes, "/%2f" + path.substr(1)}) {
      RawResponse got = raw_request(port, raw_text(method_name(route.method), alias));
      if (got.status >= 400 || (got.status == page.status && got.body == page.body)) continue;
      open.push_back(std::string(method_name(route.method)) + " " + alias + ": " +
                     std::to_string(got.status));
    }
  }
  return open;
}

}  // namespace takt::net::testing
