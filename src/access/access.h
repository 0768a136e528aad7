// SPDX-License-Identifier: Apache-2.0
// Users, projects, tokens and the one policy check. `Authorized` values come from here only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/ids.h"
#include "takt/net/auth.h"
#include "takt/store/database.h"

namespace takt::access {

/// Ordered: each role may do what those before it may.
///   none: nothing, but in projects that name the user as a member;
///   viewer: read; developer: add data, submit jobs, log runs, register models, run pipelines;
///   operator: change live traffic, approve; admin: users, tokens, settings (of the whole server).
enum class Role { kNone, kViewer, kDeveloper, kOperator, kAdmin };
std::string_view role_name(Role role);
Result<Role> parse_role(std::string_view name);

/// What a call wants to do in a project; kAdminister concerns the server.
enum class Right { kRead, kWrite, kOperate, kAdminister };
std::string_view right_name(Right right);

/// Proof that the policy allowed `R` to this caller in this project. Service methods take it, so
/// they cannot be called without the check.
template <Right R>
class Authorized {
 public:
  const net::Caller& caller() const { return caller_; }
  const ProjectId& project() const { return caller_.project; }
  const UserId& user() const { return caller_.user; }

 private:
  friend class Policy;
  explicit Authorized(net::Caller caller) : caller_(std::move(caller)) {}
  net::Caller caller_;
};
using CanRead = Authorized<Right::kRead>;
using CanWrite = Authorized<Right::kWrite>;
using CanOperate = Authorized<Right::kOperate>;
using CanAdminister = Authorized<Right::kAdminister>;

/// The policy check. Pure look-ups in memory; thread-safe.
class Policy {
 public:
  virtual ~Policy() = default;
  /// kDenied: "… needs role operator, you are developer", with who to ask; `subject` for the audit.
  /// A denial is written to the event log.
  template <Right R>
  Result<Authorized<R>> check(const net::Caller& caller, std::string_view subject = {}) {
    if (Status allowed = decide(caller, R, subject); !allowed)
      return std::unexpected(std::move(allowed).error());
    return Authorized<R>(caller);
  }
  /// The server acting for itself (dispatcher, pipeline engine) in the name of a user.
  template <Right R>
  Authorized<R> as_server(const ProjectId& project, const UserId& on_behalf_of) {
    net::Caller caller;
    caller.user = on_behalf_of;
    caller.project = project;
    return Authorized<R>(std::move(caller));
  }
  /// Role of a user in a project, nullopt when it has no part in it.
  virtual std::optional<Role> role_of(const UserId& user, const ProjectId& project) const = 0;

 protected:
  virtual Status decide(const net::Caller& caller, Right right, std::string_view subject) = 0;
};

struct User {
  UserId id;
  Role role = Role::kDeveloper;
  UnixMs created_ms = 0;
  bool disabled = false;
};
struct Project {
  ProjectId id;
  UnixMs created_ms = 0;
};
/// A user's role in one project.
struct Member {
  UserId user;
  Role role = Role::kViewer;
};
struct Token {
  TokenId id;  // public part
  UserId user;
  ProjectId project;             // default project of requests
  bool only_project = false;     // others are refused
  Role role_max = Role::kAdmin;  // of its user's role, this much counts
  net::Scope scope = net::Scope::kFull;
  JobId job;
  std::string note;
  UnixMs created_ms = 0, expires_ms = 0, last_used_ms = 0;  // 0: never
  bool revoked = false;
};
/// What a new token is to be worth. ttl_ms 0: no end.
struct TokenWish {
  UserId user;
  std::int64_t ttl_ms = 0;
  std::string note;
  Role role_max = Role::kAdmin;
  bool only_project = false;
};
/// A new token and its one-time secret text ("takt_" + id + secret).
struct IssuedToken {
  Token token;
  std::string secret;
};

/// Owns users, projects and tokens; implements the Authenticator over an in-memory copy of the
/// token hashes (SHA-256 of a 256-bit secret, compared in constant time).
class AccessService : public net::Authenticator, public Policy {
 public:
  struct Options {
    bool auth_off = false;         // every caller is admin; loopback only
    std::string admin_token_file;  // written 0600 at first start
  };
  static Result<std::unique_ptr<AccessService>> open(store::Database& db, Options options);

  virtual Result<User> add_user(const CanAdminister& by, const UserId& id, Role role) = 0;
  /// Takes effect with the next request; the last admin stays one.
  virtual Result<User> change_user(const CanAdminister& by, const UserId& id,
                                   std::optional<Role> role, std::optional<bool> disabled) = 0;
  virtual Result<std::vector<User>> list_users(const CanRead& by) = 0;
  virtual Result<Project> add_project(const CanAdminister& by, const ProjectId& id) = 0;
  /// Those that the caller has a part in.
  virtual Result<std::vector<Project>> list_projects(const CanRead& by) = 0;
  /// From now on the user's role in the project, up to operator: admins are of the whole server.
  virtual Status set_member(const CanAdminister& by, const ProjectId& project,
                            const Member& member) = 0;
  virtual Status remove_member(const CanAdminister& by, const ProjectId& project,
                               const UserId& user) = 0;
  virtual Result<std::vector<Member>> list_members(const CanAdminister& by,
                                                   const ProjectId& project) = 0;
  /// For oneself, or by an admin for any user; in the caller's project.
  virtual Result<IssuedToken> create_token(const net::Caller& by, TokenWish wish) = 0;
  virtual Result<std::vector<Token>> list_tokens(const net::Caller& by) = 0;
  virtual Status revoke_token(const net::Caller& by, const TokenId& id) = 0;
  /// Short-lived token of a running job: its project, its outputs, its run. Deterministic per
  /// (job, attempt) from a server key, so a restarted server knows it without storing the secret.
  virtual Result<std::string> job_token(const ProjectId& project, const UserId& user, JobId job,
                                        int attempt, std::int64_t ttl_ms) = 0;
  virtual Status end_job_tokens(JobId job) = 0;
  /// The caller's role in its project, as far as its token lets it count.
  virtual std::optional<Role> role_in_force(const net::Caller& caller) const = 0;
  /// Session cookie for the console from a token, and its end.
  virtual Result<std::string> sign_in(std::string_view token) = 0;
  virtual Status sign_out(std::string_view session) = 0;
};

}  // namespace takt::access
