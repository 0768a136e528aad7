// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/filter.h"

#include <algorithm>

#include "takt/net/internal/text.h"

namespace takt::net::internal {
namespace {

bool is_loopback_name(std::string_view name) {
  return name == "localhost" || name == "::1" ||
         (name.starts_with("127.") &&
          name.find_first_not_of("0123456789.") == std::string_view::npos);
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_safe(Method method) {
  return method == Method::kGet || method == Method::kHead || method == Method::kOptions;
}

// "https://a.example:8700" -> "a.example:8700"; "" for "null" and anything odd.
std::string_view origin_authority(std::string_view origin) {
  std::size_t colon = origin.find("://");
  if (colon == std::string_view::npos) return {};
  return origin.substr(colon + 3);
}

}  // namespace

std::string host_name(std::string_view host) {
  std::string_view name = host;
  std::string_view port;
  bool has_port = false;
  if (host.starts_with('[')) {
    std::size_t close = host.find(']');
    if (close == std::string_view::npos) return {};
    name = host.substr(1, close - 1);
    port = host.substr(close + 1);
    has_port = !port.empty();
    if (has_port && port.front() != ':') return {};
    if (has_port) port.remove_prefix(1);
  } else if (std::size_t colon = host.find(':'); colon != std::string_view::npos) {
    name = host.substr(0, colon);
    port = host.substr(colon + 1);
    has_port = true;
  }
  if (has_port && !is_port(port)) return {};
  if (name.ends_with('.')) name.remove_suffix(1);
  return to_lower(name);
}

Status check_host(const Request& request, const ServerOptions& options) {
  if (options.any_host) return {};
  std::string_view host = request.headers.get("Host");
  std::string name = host_name(host);
  if (is_loopback_name(name)) return {};
  bool allowed =
      !name.empty() && std::ranges::any_of(options.allowed_hosts, [&](const auto& entry) {
        return equal_no_case(entry, name) || equal_no_case(entry, host) || host_name(entry) == name;
      });
  if (allowed) return {};
  return fail(Code::kDenied, "host \"" + std::string(host.substr(0, 128)) + "\" is not served here",
              "add it to the setting allowed_hosts (--allowed-hosts) if it names this server");
}

Status check_origin(const Request& request, const ServerOptions& options) {
  if (!options.check_origin || is_safe(request.method)) return {};
  std::string_view site = request.headers.get("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") {
    return fail(Code::kDenied, "requests from other sites are refused (Sec-Fetch-Site: " +
                                   std::string(site.substr(0, 32)) + ")");
  }
  if (!request.headers.has("Origin")) return {};
  std::string_view origin = request.headers.get("Origin");
  std::string_view authority = origin_authority(origin);
  if (!authority.empty() && equal_no_case(authority, request.headers.get("Host"))) return {};
  return fail(Code::kDenied,
              "origin \"" + std::string(origin.substr(0, 128)) + "\" is not this server");
}

std::string cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    std::size_t end = header.find(';');
    std::string_view pair = trim(header.substr(0, end));
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      return std::string(pair.substr(name.size() + 1));
    }
    if (end == std::string_view::npos) break;
    header.remove_prefix(end + 1);
  }
  return {};
}

Credentials credentials_of(const Request& request) {
  return {.authorization = std::string(request.headers.get("Authorization")),
          .session_cookie = cookie_value(request.headers.get("Cookie"), "takt_session"),
          .project = std::string(request.query_param("project")),
          .remote_address = request.remote_address};
}

}  // namespace takt::net::internal
