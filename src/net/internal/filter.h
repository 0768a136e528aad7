// SPDX-License-Identifier: Apache-2.0
// The checks that stand before every handler, as pure functions.
#pragma once

#include <string>
#include <string_view>

#include "takt/net/http.h"

namespace takt::net::internal {

/// A Host header's name without port and brackets, in lower case; "" when malformed.
std::string host_name(std::string_view host);

/// kDenied, naming the host and the setting, unless the Host header is a loopback name or allowed.
Status check_host(const Request& request, const ServerOptions& options);

/// kDenied for unsafe methods that a foreign page could have sent (Sec-Fetch-Site, Origin).
Status check_origin(const Request& request, const ServerOptions& options);

/// The value of a cookie, "" when absent.
std::string cookie_value(std::string_view header, std::string_view name);

Credentials credentials_of(const Request& request);

}  // namespace takt::net::internal
