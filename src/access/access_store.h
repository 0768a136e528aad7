// SPDX-License-Identifier: Apache-2.0
// The tables of access.
#pragma once

#include <string>
#include <vector>

#include "takt/access/access.h"
#include "takt/store/database.h"

namespace takt::access {

/// A stored token or session with the hash of its secret.
struct TokenRecord {
  Token token;
  bool is_session = false;
  std::string secret_hash;
};

/// Everything the authenticator keeps in memory.
struct AccessSnapshot {
  std::vector<User> users;
  std::vector<Project> projects;
  std::vector<std::pair<ProjectId, Member>> members;
  std::vector<TokenRecord> tokens;
  std::vector<JobId> ended_jobs;
  std::string job_key;
};

/// Creates what every installation has (user admin, project default, the key of job tokens).
Status seed_access(store::Tx& tx);
Result<AccessSnapshot> load_access(store::Reader& reader);
Status insert_user(store::Tx& tx, const User& user);
Status update_user(store::Tx& tx, const User& user);
Status put_member(store::Tx& tx, const ProjectId& project, const Member& member);
Status delete_member(store::Tx& tx, const ProjectId& project, const UserId& user);
Status insert_project(store::Tx& tx, const Project& project);
Status insert_token(store::Tx& tx, const TokenRecord& record);
Status mark_token_revoked(store::Tx& tx, const TokenId& id);
/// Also forgets jobs whose tokens have expired long ago.
Status insert_ended_job(store::Tx& tx, JobId job);

}  // namespace takt::access
