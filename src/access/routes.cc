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
  if (token.role_max != Role::kAdmin) object["role"] = role_name(token.role_max);
  if (token.only_project) object["only_project"] = true;
  if (token.expires_ms != 0) object["expires_at"] = format_time(token.expires_ms);
  return object;
}

Value json_of(const Member& member) {
  return Object{{"user", member.user.value}, {"role", role_name(member.role)}};
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
  const auto role = access.role_in_force(request.caller);
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

Result<Response> change_user(AccessService& access, Request& request) {
  TAKT_ASSIGN(const auto by, access.check<Right::kAdminister>(request.caller, "user"));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  std::optional<bool> disabled;
  if (fields.has("disabled")) disabled = fields.boolean("disabled", false);
  const std::string role_text = fields.text("role", "");
  TAKT_RETURN_IF_ERROR(fields.done());
  std::optional<Role> role;
  if (!role_text.empty()) {
    TAKT_ASSIGN(role, parse_role(role_text));
  }
  TAKT_ASSIGN(const User user,
              access.change_user(by, UserId{request.path_param("user")}, role, disabled));
  return Response::json(json_of(user));
}

Result<Response> set_member(AccessService& access, Request& request) {
  TAKT_ASSIGN(const auto by, access.check<Right::kAdminister>(request.caller, "project"));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::string role_text = fields.text("role");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const Role role, parse_role(role_text));
  const Member member{UserId{request.path_param("user")}, role};
  TAKT_RETURN_IF_ERROR(access.set_member(by, ProjectId{request.path_param("project")}, member));
  return Response::json(json_of(member));
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
  TokenWish wish;
  wish.user.value = fields.text("user", request.caller.user.value);
  wish.note = fields.text("note", "");
  wish.only_project = fields.boolean("only_project", false);
  const std::string role = fields.text("role", "admin");
  const std::string ttl = fields.text("expires_in", "");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(wish.role_max, parse_role(role));
  if (!ttl.empty()) {
    TAKT_ASSIGN(wish.ttl_ms, parse_duration_ms(ttl));
  }
  TAKT_ASSIGN(const IssuedToken issued, access.create_token(request.caller, std::move(wish)));
  Value json = json_of(issued.token);
  json["token"] = issued.secret;
  return Response::json(json, 201);
}

void register_member_routes(net::Router& router, AccessService& access) {
  const std::string members = "/api/v1/projects/{project}/members";
  router.add(Method::kGet, members, [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, access.check<Right::kAdminister>(r.caller, "project"));
    TAKT_ASSIGN(const auto found, access.list_members(by, ProjectId{r.path_param("project")}));
    return list_response(found);
  });
  router.add(Method::kPut, members + "/{user}", [&](Request& r) { return set_member(access, r); });
  router.add(Method::kDelete, members + "/{user}", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, access.check<Right::kAdminister>(r.caller, "project"));
    TAKT_RETURN_IF_ERROR(
        access.remove_member(by, ProjectId{r.path_param("project")}, UserId{r.path_param("user")}));
    return Response::empty();
  });
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
  router.add(Method::kPatch, "/api/v1/users/{user}",
             [&](Request& r) { return change_user(access, r); });
  register_member_routes(router, access);
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
