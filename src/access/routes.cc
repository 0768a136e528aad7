// SPDX-License-Identifier: Apache-2.0
#include "takt/access/routes.h"

#include "takt/base/units.h"

namespace takt::access {
namespace {

using net::Method;
using net::Request;
using net::Response;

constexpr std::string_view kCookie = "takt_session";

Value json_of(const User& user) {
  return Object{{"name", user.id.value},
                {"role", role_name(user.role)},
                {"created_at", format_time(user.created_ms)},
                {"disabled", user.disabled}};
}

Value json_of(const Project& project) {
  return Object{{"name", project.id.value}, {"created_at", format_time(project.created_ms)}};
}

Value json_of(const Token& token) {
  Object object{{"id", token.id.value},
                {"user", token.user.value},
                {"project", token.project.value},
                {"note", token.note},
                {"created_at", format_time(token.created_ms)}};
  if (token.expires_ms != 0) object["expires_at"] = format_time(token.expires_ms);
  return object;
}

template <class T>
Response list_response(const std::vector<T>& things) {
  Array items;
  for (const T& thing : things) items.push_back(json_of(thing));
  return Response::json(Object{{"items", std::move(items)}});
}

std::string cookie_header(std::string_view value, std::int64_t max_age_s) {
  return std::string(kCookie) + "=" + std::string(value) +
         "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(max_age_s);
}

std::string session_of(const Request& request) {
  std::string_view cookies = request.headers.get("Cookie");
  const std::string key = std::string(kCookie) + "=";
  const auto at = cookies.find(key);
  if (at == std::string_view::npos) return {};
  cookies.remove_prefix(at + key.size());
  return std::string(cookies.substr(0, cookies.find(';')));
}

Result<Response> whoami(AccessService& access, Request& request) {
  const auto role = access.role_of(request.caller.user, request.caller.project);
  return Response::json(
      Object{{"user", request.caller.user.value},
             {"project", request.caller.project.value},
             {"role", role ? role_name(*role) : "none"},
             {"scope", request.caller.scope == net::Scope::kJob ? "job" : "full"}});
}

Result<Response> sign_in(AccessService& access, Request& request) {
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::string token = fields.text("token");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const std::string session, access.sign_in(token));
  Response response = Response::json(Object{{"signed_in", true}});
  response.headers.set("Set-Cookie", cookie_header(session, 12 * 3600));
  return response;
}

Result<Response> sign_out(AccessService& access, Request& request) {
  if (const std::string session = session_of(request); !session.empty())
    TAKT_RETURN_IF_ERROR(access.sign_out(session));
  Response response = Response::json(Object{{"signed_in", false}});
  response.headers.set("Set-Cookie", cookie_header("", 0));
  return response;
}

Result<Response> add_user(AccessService& access, Request& request) {
  TAKT_ASSIGN(const auto by, access.check<Right::kAdminister>(request.caller, "user"));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::string name = fields.text("name");
  const std::string role_text = fields.text("role", "developer");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const Role role, parse_role(role_text));
  TAKT_ASSIGN(const User user, access.add_user(by, UserId{name}, role));
  return Response::json(json_of(user), 201);
}

Result<Response> add_project(AccessService& access, Request& request) {
  TAKT_ASSIGN(const auto by, access.check<Right::kAdminister>(request.caller, "project"));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::string name = fields.text("name");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const Project project, access.add_project(by, ProjectId{name}));
  return Response::json(json_of(project), 201);
}

Result<Response> create_token(AccessService& access, Request& request) {
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::string user = fields.text("user", request.caller.user.value);
  const std::string note = fields.text("note", "");
  const std::string ttl = fields.text("expires_in", "");
  TAKT_RETURN_IF_ERROR(fields.done());
  std::int64_t ttl_ms = 0;
  if (!ttl.empty()) {
    TAKT_ASSIGN(ttl_ms, parse_duration_ms(ttl));
  }
  TAKT_ASSIGN(const IssuedToken issued,
              access.create_token(request.caller, UserId{user}, ttl_ms, note));
  Value json = json_of(issued.token);
  json["token"] = issued.secret;
  return Response::json(json, 201);
}

}  // namespace

void register_routes(net::Router& router, AccessService& access) {
  const net::RouteOptions anonymous{.access = net::Access::kAnonymous};
  router.add(Method::kGet, "/api/v1/whoami", [&](Request& r) { return whoami(access, r); });
  router.add(
      Method::kPost, "/api/v1/sign-in", [&](Request& r) { return sign_in(access, r); }, anonymous);
  router.add(
      Method::kPost, "/api/v1/sign-out", [&](Request& r) { return sign_out(access, r); },
      anonymous);
  router.add(Method::kGet, "/api/v1/users", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, access.check<Right::kRead>(r.caller, "user"));
    TAKT_ASSIGN(const auto users, access.list_users(by));
    return list_response(users);
  });
  router.add(Method::kPost, "/api/v1/users", [&](Request& r) { return add_user(access, r); });
  router.add(Method::kGet, "/api/v1/projects", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, access.check<Right::kRead>(r.caller, "project"));
    TAKT_ASSIGN(const auto projects, access.list_projects(by));
    return list_response(projects);
  });
  router.add(Method::kPost, "/api/v1/projects", [&](Request& r) { return add_project(access, r); });
  router.add(Method::kGet, "/api/v1/tokens", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto tokens, access.list_tokens(r.caller));
    return list_response(tokens);
  });
  router.add(Method::kPost, "/api/v1/tokens", [&](Request& r) { return create_token(access, r); });
  router.add(Method::kDelete, "/api/v1/tokens/{token}", [&](Request& r) -> Result<Response> {
    TAKT_RETURN_IF_ERROR(access.revoke_token(r.caller, TokenId{r.path_param("token")}));
    return Response::empty();
  });
}

}  // namespace takt::access
