// SPDX-License-Identifier: Apache-2.0
#include "takt/cli/session.h"

#include <cstdlib>

#include "takt/base/file.h"
#include "takt/base/ids.h"

namespace takt::cli {
namespace {

std::string env_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string home_folder() {
  const std::string home = env_text("HOME");
  return home.empty() ? "/root" : home;
}

/// The token that the server of the same user wrote at its first start.
std::string admin_token_of_this_user() {
  std::string data = env_text("TAKT_HOME");
  if (data.empty()) data = env_text("TAKT_DATA_DIR");
  if (data.empty() && !env_text("XDG_DATA_HOME").empty())
    data = env_text("XDG_DATA_HOME") + "/takt";
  if (data.empty()) data = home_folder() + "/.local/share/takt";
  for (const std::string& folder : {data, std::string("/var/lib/takt")}) {
    auto token = read_file(std::filesystem::path(folder) / "admin-token", 4096);
    if (!token) continue;
    while (!token->empty() && (token->back() == '\n' || token->back() == ' ')) token->pop_back();
    return *token;
  }
  return "";
}

/// "127.0.0.1" of "http://127.0.0.1:8700/x"; empty when it is no http or https address.
std::string host_of(std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!url.starts_with(scheme)) continue;
    const std::string_view place =
        url.substr(scheme.size(), url.find('/', scheme.size()) - scheme.size());
    if (place.contains('@')) return "";  // a name before the host would hide the host
    return std::string(place.starts_with('[') ? place.substr(0, place.find(']') + 1)
                                              : place.substr(0, place.find(':')));
  }
  return "";
}

}  // namespace

std::filesystem::path login_file() {
  const std::string config = env_text("XDG_CONFIG_HOME");
  return std::filesystem::path(config.empty() ? home_folder() + "/.config" : config) / "takt" /
         "login.json";
}

Result<Session> Session::open(const CommonFlags& flags) {
  Value login{Object{}};
  if (const auto text = read_file(login_file(), 1 << 16)) {
    TAKT_ASSIGN(login,
                parse_json(*text).transform_error(while_("reading " + login_file().string())));
  }
  Session session;
  session.json_ = flags.json;
  session.url_ = !flags.url.empty() ? flags.url : env_text("TAKT_URL");
  const std::string login_url = login.text_or("url", "");
  if (session.url_.empty()) session.url_ = login_url.empty() ? "http://127.0.0.1:8700" : login_url;
  while (session.url_.ends_with('/')) session.url_.pop_back();
  if (session.url_.find("://") == std::string::npos) session.url_.insert(0, "http://");
  const std::string host = host_of(session.url_);
  if (host.empty())
    return fail(Code::kInvalid, "'" + session.url_ + "' is no address of a server",
                "write it as http://HOST:PORT");
  session.project_ = !flags.project.empty() ? flags.project : env_text("TAKT_PROJECT");
  std::string token = env_text("TAKT_TOKEN");
  if (token.empty() && session.url_ == login_url) token = login.text_or("token", "");
  // This machine's own token goes to a server on this machine only, never to an address from
  // outside.
  const bool is_here =
      host == "localhost" || host == "[::1]" ||
      (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
  if (token.empty() && is_here) token = admin_token_of_this_user();
  session.client_ = std::make_shared<net::Client>(
      net::ClientOptions{.base_url = session.url_, .token = token, .timeout_ms = 120'000});
  return session;
}

std::string Session::with_project(const std::string& path) const {
  if (project_.empty()) return path;
  return path + (path.find('?') == std::string::npos ? "?" : "&") +
         "project=" + net::percent_encode(project_);
}

Result<Value> Session::get(const std::string& path) { return client_->get(with_project(path)); }
Result<Value> Session::post(const std::string& path, const Value& body) {
  return client_->post(with_project(path), body);
}
Result<Value> Session::put(const std::string& path, const Value& body) {
  return client_->put(with_project(path), body);
}
Result<Value> Session::patch(const std::string& path, const Value& body) {
  return client_->patch(with_project(path), body);
}
Result<Value> Session::del(const std::string& path) { return client_->del(with_project(path)); }

std::string segment(std::string_view text) { return net::percent_encode(text); }

Result<std::string> version_path(const std::string& reference) {
  TAKT_ASSIGN(const VersionSelector selector, parse_version_selector(reference));
  const std::string version = selector.number > 0      ? std::to_string(selector.number)
                              : selector.alias.empty() ? std::string("latest")
                                                       : selector.alias;
  return segment(selector.name) + "/versions/" + segment(version);
}

}  // namespace takt::cli
