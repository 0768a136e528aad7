// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "takt/net/http.h"
#include "takt/net/internal/route_table.h"

namespace takt::net {
namespace internal {
namespace {

struct Search {
  Method method;
  std::vector<std::string_view> values;
  RouteMatch match;

  // Takes the route when its method fits; notes the method in any case.
  bool take(const std::vector<std::unique_ptr<Route>>& routes) {
    const Route* get = nullptr;
    for (const auto& route : routes) {
      match.allowed |= method_bit(route->method);
      match.wants_caller |= route->options.access != Access::kAnonymous;
      if (route->method == Method::kGet) get = route.get();
      if (route->method == method) {
        match.route = route.get();
        match.values = values;
        return true;
      }
    }
    if (method == Method::kHead && get != nullptr) {
      match.route = get;
      match.values = values;
      return true;
    }
    return false;
  }

  // `rest` is what follows the slash after this node's segment; `ended` when there is no slash.
  bool walk(const RouteNode& node, std::string_view rest, bool ended) {
    if (ended) return take(node.routes);
    std::size_t slash = rest.find('/');
    std::string_view segment = rest.substr(0, slash);
    bool last = slash == std::string_view::npos;
    std::string_view after = last ? std::string_view{} : rest.substr(slash + 1);
    if (auto child = node.literals.find(segment); child != node.literals.end()) {
      if (walk(*child->second, after, last)) return true;
    }
    if (node.parameter && !segment.empty() && segment != "." && segment != "..") {
      values.push_back(segment);
      if (walk(*node.parameter, after, last)) return true;
      values.pop_back();
    }
    if (!node.rest.empty() && !rest.empty()) {
      values.push_back(rest);
      if (take(node.rest)) return true;
      values.pop_back();
    }
    return false;
  }
};

}  // namespace

RouteMatch find_route(const RouteNode& root, Method method, std::string_view path) {
  Search search{method, {}, {}};
  search.walk(root, path.substr(1), false);
  if (search.match.allowed != 0) {
    if ((search.match.allowed & method_bit(Method::kGet)) != 0) {
      search.match.allowed |= method_bit(Method::kHead);
    }
    search.match.allowed |= method_bit(Method::kOptions);
  }
  return std::move(search.match);
}

std::string allow_header(unsigned allowed) {
  std::string text;
  for (Method method : {Method::kGet, Method::kHead, Method::kPost, Method::kPut, Method::kPatch,
                        Method::kDelete, Method::kOptions}) {
    if ((allowed & method_bit(method)) == 0) continue;
    if (!text.empty()) text += ", ";
    text += method_name(method);
  }
  return text;
}

}  // namespace internal

void Router::Impl::add(internal::Route route) {
  std::string_view rest = route.pattern;
  TAKT_CHECK(!rest.empty() && rest[0] == '/', "a route pattern begins with /");
  rest.remove_prefix(1);
  internal::RouteNode* node = &root;
  bool takes_rest = false;
  while (true) {
    std::size_t slash = rest.find('/');
    std::string_view segment = rest.substr(0, slash);
    bool is_parameter = segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
    if (is_parameter && segment.ends_with("...}")) {
      TAKT_CHECK(slash == std::string_view::npos, "{name...} must be the last segment");
      route.names.emplace_back(segment.substr(1, segment.size() - 5));
      takes_rest = true;
    } else if (is_parameter) {
      route.names.emplace_back(segment.substr(1, segment.size() - 2));
      if (!node->parameter) node->parameter = std::make_unique<internal::RouteNode>();
      node = node->parameter.get();
    } else {
      auto& child = node->literals[std::string(segment)];
      if (!child) child = std::make_unique<internal::RouteNode>();
      node = child.get();
    }
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  auto& routes = takes_rest ? node->rest : node->routes;
  for (const auto& other : routes) {
    TAKT_CHECK(other->method != route.method, "two routes have the same method and pattern");
  }
  routes.push_back(std::make_unique<internal::Route>(std::move(route)));
  all.push_back(routes.back().get());
}

const ErrorForm* Router::Impl::error_form(std::string_view path) const {
  for (const auto& [prefix, form] : error_forms) {
    if (path.starts_with(prefix)) return &form;
  }
  return nullptr;
}

Router::Router() : impl_(std::make_unique<Impl>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;

void Router::add(Method method, std::string pattern, Handler handler, RouteOptions options) {
  impl_->add({method, std::move(pattern), {}, std::move(handler), {}, std::move(options)});
}

void Router::add_async(Method method, std::string pattern, AsyncHandler handler,
                       RouteOptions options) {
  impl_->add({method, std::move(pattern), {}, {}, std::move(handler), std::move(options)});
}

void Router::set_fallback(Handler handler) {
  RouteOptions options;
  options.access = Access::kAnonymous;
  options.body_bytes_max = 0;
  impl_->fallback = std::make_unique<internal::Route>(
      internal::Route{Method::kGet, {}, {}, std::move(handler), {}, std::move(options)});
}

void Router::set_error_form(std::string prefix, ErrorForm form) {
  auto& forms = impl_->error_forms;
  forms.emplace_back(std::move(prefix), std::move(form));
  std::ranges::stable_sort(
      forms, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::vector<Router::RouteInfo> Router::routes() const {
  std::vector<RouteInfo> list;
  list.reserve(impl_->all.size());
  for (const internal::Route* route : impl_->all) {
    list.push_back({route->method, route->pattern, route->options.access});
  }
  return list;
}

}  // namespace takt::net
