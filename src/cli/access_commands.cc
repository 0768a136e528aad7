// SPDX-License-Identifier: Apache-2.0
// takt login | whoami | user | token | project | audit
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>

#include "takt/base/file.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

/// Also where MLflow clients look: ~/.mlflow/credentials, an INI file.
Status write_mlflow_credentials(const std::string& user, const std::string& token) {
  const char* home = std::getenv("HOME");
  if (home == nullptr) return {};
  const auto folder = std::filesystem::path(home) / ".mlflow";
  TAKT_RETURN_IF_ERROR(make_dirs(folder, 0700));
  return write_file_durably(folder / "credentials",
                            "[mlflow]\nmlflow_tracking_username = " + user +
                                "\nmlflow_tracking_password = " + token + "\n",
                            0600);
}

Status login(Session& session, std::string token) {
  if (token.empty()) {
    if (isatty(STDIN_FILENO) == 1) std::cerr << "token for " << session.url() << ": " << std::flush;
    std::getline(std::cin, token);
  }
  if (token.empty())
    return fail(
        Code::kInvalid, "no token was given",
        "paste one; the admin's first is in the file admin-token of the server's data folder");
  net::Client client({.base_url = session.url(), .token = token});
  TAKT_ASSIGN(const Value who, client.get("/api/v1/whoami"));
  TAKT_RETURN_IF_ERROR(make_dirs(login_file().parent_path(), 0700));
  TAKT_RETURN_IF_ERROR(write_file_durably(
      login_file(), dump_json_pretty(Object{{"url", session.url()}, {"token", token}}) + "\n",
      0600));
  TAKT_RETURN_IF_ERROR(write_mlflow_credentials(cell(who, "user"), token));
  if (session.json())
    print_json(who);
  else
    print_line("signed in to " + session.url() + " as " + cell(who, "user") + " (" +
               cell(who, "role") + "), project " + cell(who, "project"));
  return {};
}

Status print_items(Session& session, const std::string& path,
                   const std::vector<std::string>& keys) {
  TAKT_ASSIGN(const Value answer, session.get(path));
  if (session.json()) {
    print_json(answer);
    return {};
  }
  std::vector<std::string> head;
  for (std::string key : keys) {
    for (char& c : key) c = c == '_' ? ' ' : static_cast<char>(std::toupper(c));
    head.push_back(key);
  }
  Table table(head);
  for (const Value& item : answer["items"].as_array()) {
    std::vector<std::string> row;
    for (const std::string& key : keys)
      row.push_back(key.ends_with("_at") ? short_time(cell(item, key)) : cell(item, key));
    table.add(std::move(row));
  }
  table.print();
  return {};
}

struct Options {
  std::string name, role = "developer", user, note, expires, token, role_max;
  bool only_project = false, disable = false, enable = false;
};

Status create_token(Session& session, const Options& options) {
  Object body{{"note", options.note}};
  if (!options.user.empty()) body["user"] = options.user;
  if (!options.expires.empty()) body["expires_in"] = options.expires;
  if (!options.role_max.empty()) body["role"] = options.role_max;
  if (options.only_project) body["only_project"] = true;
  TAKT_ASSIGN(const Value token, session.post("/api/v1/tokens", body));
  if (session.json())
    print_json(token);
  else {
    print_line(cell(token, "token"));
    std::cerr << "shown this once; it belongs to " << cell(token, "user") << " and "
              << (token.has("expires_at") ? "expires " + cell(token, "expires_at")
                                          : "does not expire")
              << "\n";
  }
  return {};
}

Status change_user(Session& session, const Options& options) {
  Object body;
  if (!options.role_max.empty()) body["role"] = options.role_max;
  if (options.disable || options.enable) body["disabled"] = options.disable;
  TAKT_ASSIGN(const Value user, session.patch("/api/v1/users/" + segment(options.name), body));
  if (session.json())
    print_json(user);
  else
    print_line(options.name + " is " + cell(user, "role") +
               (user.bool_or("disabled", false) ? ", disabled" : ""));
  return {};
}

void add_user_commands(CLI::App& app, Chosen& chosen, const std::shared_ptr<Options>& o) {
  auto* user = app.add_subcommand("user", "people");
  user->require_subcommand(1);
  auto* add = user->add_subcommand("add", "add a user");
  add->add_option("name", o->name, "name")->required();
  add->add_option("--role", o->role,
                  "viewer, developer, operator or admin; none: only in projects that name them");
  declare(add, chosen, [o](Session& s) -> Status {
    TAKT_ASSIGN(const Value added,
                s.post("/api/v1/users", Object{{"name", o->name}, {"role", o->role}}));
    if (s.json())
      print_json(added);
    else
      print_line("added user " + o->name + " (" + o->role +
                 "); give them a token with `takt token create --user " + o->name + "`");
    return {};
  });
  declare(user->add_subcommand("ls", "list users"), chosen, [](Session& s) {
    return print_items(s, "/api/v1/users", {"name", "role", "disabled", "created_at"});
  });
  auto* set = user->add_subcommand("set", "change a user");
  set->add_option("name", o->name, "name")->required();
  set->add_option("--role", o->role_max, "the new role");
  set->add_flag("--disable", o->disable, "no token of theirs works any more");
  set->add_flag("--enable", o->enable, "their tokens work again")->excludes("--disable");
  declare(set, chosen, [o](Session& s) { return change_user(s, *o); });
}

Status done(Session& session, const Value& value, const std::string& sentence) {
  if (session.json())
    print_json(value);
  else
    print_line(sentence);
  return {};
}

void add_project_commands(CLI::App& app, Chosen& chosen, const std::shared_ptr<Options>& o) {
  auto* project = app.add_subcommand("project", "projects and who works in them");
  project->require_subcommand(1);
  auto* create = project->add_subcommand("create", "make a project");
  create->add_option("name", o->name, "name")->required();
  declare(create, chosen, [o](Session& s) -> Status {
    TAKT_ASSIGN(const Value made, s.post("/api/v1/projects", Object{{"name", o->name}}));
    return done(s, made, "made project " + o->name);
  });
  declare(project->add_subcommand("ls", "list the projects you have a part in"), chosen,
          [](Session& s) { return print_items(s, "/api/v1/projects", {"name", "created_at"}); });
  const auto members = [o] { return "/api/v1/projects/" + segment(o->name) + "/members"; };
  auto* list = project->add_subcommand("members", "who has a role of its own in a project");
  list->add_option("name", o->name, "project")->required();
  declare(list, chosen,
          [members](Session& s) { return print_items(s, members(), {"user", "role"}); });
  auto* grant = project->add_subcommand("grant", "give a user a role in a project");
  grant->add_option("name", o->name, "project")->required();
  grant->add_option("user", o->user, "user")->required();
  grant->add_option("--role", o->role, "viewer, developer or operator");
  declare(grant, chosen, [o, members](Session& s) -> Status {
    TAKT_ASSIGN(const Value member,
                s.put(members() + "/" + segment(o->user), Object{{"role", o->role}}));
    return done(s, member, o->user + " is " + o->role + " in project " + o->name);
  });
  auto* revoke = project->add_subcommand("revoke", "let the user's own role count again");
  revoke->add_option("name", o->name, "project")->required();
  revoke->add_option("user", o->user, "user")->required();
  declare(revoke, chosen, [o, members](Session& s) -> Status {
    TAKT_RETURN_IF_ERROR(s.del(members() + "/" + segment(o->user)));
    return done(s, Object{{"removed", o->user}},
                o->user + " has no role of its own in project " + o->name);
  });
}

void add_token_commands(CLI::App& app, Chosen& chosen, const std::shared_ptr<Options>& o) {
  auto* token = app.add_subcommand("token", "access tokens");
  token->require_subcommand(1);
  auto* create = token->add_subcommand("create", "make a token and print it once");
  create->add_option("--user", o->user, "for another user (admin only)");
  create->add_option("--note", o->note, "what it is for");
  create->add_option("--expires", o->expires, "such as 12h; default: never");
  create->add_option("--role", o->role_max, "at most this of the user's role counts");
  create->add_flag("--only-project", o->only_project, "good for the project (--project) alone");
  declare(create, chosen, [o](Session& s) { return create_token(s, *o); });
  declare(token->add_subcommand("ls", "list tokens"), chosen, [](Session& s) {
    return print_items(
        s, "/api/v1/tokens",
        {"id", "user", "project", "only_project", "role", "note", "created_at", "expires_at"});
  });
  auto* revoke = token->add_subcommand("revoke", "make a token useless");
  revoke->add_option("id", o->name, "as `takt token ls` shows it")->required();
  declare(revoke, chosen, [o](Session& s) -> Status {
    TAKT_RETURN_IF_ERROR(s.del("/api/v1/tokens/" + segment(o->name)));
    if (s.json())
      print_json(Object{{"revoked", o->name}});
    else
      print_line("revoked " + o->name);
    return {};
  });
}

}  // namespace

void add_access_commands(CLI::App& app, Chosen& chosen) {
  const auto o = std::make_shared<Options>();
  auto* login_command =
      app.add_subcommand("login", "keep a token for this server (MLflow clients find it too)");
  login_command->add_option("--token", o->token, "default: asked for, or read from standard input");
  declare(login_command, chosen, [o](Session& s) { return login(s, o->token); });
  declare(app.add_subcommand("whoami", "who the server takes you for"), chosen,
          [](Session& s) -> Status {
            TAKT_ASSIGN(const Value who, s.get("/api/v1/whoami"));
            if (s.json())
              print_json(who);
            else
              print_line(cell(who, "user") + " (" + cell(who, "role") + ") in project " +
                         cell(who, "project") + " on " + s.url());
            return {};
          });
  add_user_commands(app, chosen, o);
  add_token_commands(app, chosen, o);
  add_project_commands(app, chosen, o);
  add_audit_commands(app, chosen);
}

}  // namespace takt::cli
