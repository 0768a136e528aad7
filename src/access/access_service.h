// SPDX-License-Identifier: Apache-2.0
// AccessService over the store, with an in-memory copy that answers on network threads.
#pragma once

#include <map>
#include <set>
#include <shared_mutex>

#include "takt/access/access.h"
#include "takt/access/access_store.h"

namespace takt::access {

/// Writes go to the store first, then to the copy; the copy is what authenticate and decide read.
class StoredAccess final : public AccessService {
 public:
  StoredAccess(store::Database& db, Options options);
  /// Seeds and loads; writes the admin token's file when it is not there.
  Status load();

  Result<net::Caller> authenticate(const net::Credentials& credentials) override;
  std::optional<Role> role_of(const UserId& user, const ProjectId& project) const override;
  Result<User> add_user(const CanAdminister& by, const UserId& id, Role role) override;
  Result<User> change_user(const CanAdminister& by, const UserId& id, std::optional<Role> role,
                           std::optional<bool> disabled) override;
  Result<std::vector<User>> list_users(const CanRead& by) override;
  Result<Project> add_project(const CanAdminister& by, const ProjectId& id) override;
  Result<std::vector<Project>> list_projects(const CanRead& by) override;
  Status set_member(const CanAdminister& by, const ProjectId& project,
                    const Member& member) override;
  Status remove_member(const CanAdminister& by, const ProjectId& project,
                       const UserId& user) override;
  Result<std::vector<Member>> list_members(const CanAdminister& by,
                                           const ProjectId& project) override;
  Result<IssuedToken> create_token(const net::Caller& by, TokenWish wish) override;
  Result<std::vector<Token>> list_tokens(const net::Caller& by) override;
  Status revoke_token(const net::Caller& by, const TokenId& id) override;
  Result<std::string> job_token(const ProjectId& project, const UserId& user, JobId job,
                                int attempt, std::int64_t ttl_ms) override;
  Status end_job_tokens(JobId job) override;
  std::optional<Role> role_in_force(const net::Caller& caller) const override;
  Result<std::string> sign_in(std::string_view token) override;
  Status sign_out(std::string_view session) override;

 protected:
  Status decide(const net::Caller& caller, Right right, std::string_view subject) override;

 private:
  Result<net::Caller> caller_of_text(std::string_view text);
  Result<net::Caller> caller_of_stored(std::string_view prefix, std::string_view text);
  Result<net::Caller> caller_of_job(std::string_view text);
  Status enter_project(net::Caller& caller, const std::string& wanted) const;
  Result<IssuedToken> issue(std::string_view prefix, const ProjectId& project, TokenWish wish,
                            const UserId& by);
  Status check_names(const ProjectId& project, const UserId& user) const;
  /// A token that is worth less than its user neither makes tokens nor revokes others.
  bool is_scoped(const net::Caller& caller) const;
  Status write_admin_token();
  std::string whom_to_ask(Role needed) const;

  store::Database& db_;
  Options options_;
  mutable std::shared_mutex mutex_;  // guards all below
  std::map<std::string, User, std::less<>> users_;
  std::map<std::string, Project, std::less<>> projects_;
  std::map<std::pair<std::string, std::string>, Role> members_;  // project, user
  std::map<std::string, TokenRecord, std::less<>> tokens_;
  std::set<std::int64_t> ended_jobs_;
  std::string job_key_;
};

}  // namespace takt::access
