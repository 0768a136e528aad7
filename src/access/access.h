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
///   viewer: read; developer: add data, submit jobs, log runs, register models, run pipelines;
///   operator: change live traffic, approve; admin: users, tokens, settings.
enum class Role { kViewer, kDeveloper, kOperator, kAdmin };
std::string_view role_name(Role role);
Result<Role> parse_role(std::string_view name);

/// What a call wants to do in a project.
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
  /// Role of a user in a project, none when it has no part in it.
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
struct Token {
  TokenId id;  // public part
  UserId user;
  ProjectId project;  // default project of requests
  net::Scope scope = net::Scope::kFull;
  JobId job;
  std::string note;
  UnixMs created_ms = 0, expires_ms = 0, last_used_ms = 0;  // 0: never
  bool revoked = false;
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
  virtual Result<std::vector<User>> list_users(const CanRead& by) = 0;
  virtual Result<Project> add_project(const CanAdminister& by, const ProjectId& id) = 0;
  virtual Result<std::vector<Project>> list_projects(const CanRead& by) = 0;
  /// For oneself, or by an admin for any user. ttl_ms 0: no end.
  virtual Result<IssuedToken> create_token(const net::Caller& by, const UserId& user,
                                           std::int64_t ttl_ms, std::string note) = 0;
  virtual Result<std::vector<Token>> list_tokens(const net::Caller& by) = 0;
  virtual Status revoke_token(const net::Caller& by, const TokenId& id) = 0;
  /// Short-lived token of a running job: its project, its outputs, its run. Deterministic per
  /// (job, attempt) from a server key, so a restarted server knows it without storing the secret.
  virtual Result<std::string> job_token(const ProjectId& project, const UserId& user, JobId job,
                                        int attempt, std::int64_t ttl_ms) = 0;
  virtual Status end_job_tokens(JobId job) = 0;
  /// Session cookie for the console from a token, and its end.
  virtual Result<std::string> sign_in(std::string_view token) = 0;
  virtual Status sign_out(std::string_view session) = 0;
};

}  // namespace takt::access
