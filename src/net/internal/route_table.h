// SPDX-License-Identifier: Apache-2.0
// The trie behind Router.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "takt/net/http.h"

namespace takt::net {

namespace internal {

struct Route {
  Method method;
  std::string pattern;
  std::vector<std::string> names;  // of the parameters, in order
  Handler handler;                 // one of the two is set
  AsyncHandler async_handler;
  RouteOptions options;
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

/// One segment of the patterns. Routes end in `routes` (or `rest` when the last is {name...}).
struct RouteNode {
  std::unordered_map<std::string, std::unique_ptr<RouteNode>, TextHash, std::equal_to<>> literals;
  std::unique_ptr<RouteNode> parameter;
  std::vector<std::unique_ptr<Route>> routes;
  std::vector<std::unique_ptr<Route>> rest;
};

/// What a look-up found: a route, or the methods that the path would take.
struct RouteMatch {
  const Route* route = nullptr;
  std::vector<std::string_view> values;  // raw, as many as route->names
  unsigned allowed = 0;                  // bit per Method, of all patterns that match the path
  bool wants_caller = false;             // one of those patterns is not anonymous
};

/// Literal segments compare with the raw bytes: an escaped spelling is another path.
RouteMatch find_route(const RouteNode& root, Method method, std::string_view path);
/// "GET, HEAD, OPTIONS"
std::string allow_header(unsigned allowed);
inline unsigned method_bit(Method method) { return 1U << static_cast<unsigned>(method); }

}  // namespace internal

struct Router::Impl {
  internal::RouteNode root;
  std::vector<const internal::Route*> all;
  std::unique_ptr<internal::Route> fallback;
  std::vector<std::pair<std::string, ErrorForm>> error_forms;  // longest prefix first

  void add(internal::Route route);
  /// The form for a path: that of the longest prefix set, or null.
  const ErrorForm* error_form(std::string_view path) const;
};

}  // namespace takt::net
