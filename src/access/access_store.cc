// SPDX-License-Identifier: Apache-2.0
#include "takt/access/access_store.h"

#include "takt/access/sql.h"
#include "takt/base/digest.h"

namespace takt::access {
namespace {

constexpr std::int64_t kEndedJobKeptMs = 30ll * 24 * 3600 * 1000;

Result<User> user_from(const store::Row& row) {
  TAKT_ASSIGN(const Role role, parse_role(row.text(1)));
  return User{UserId{row.text(0)}, role, row.integer(2), row.integer(3) != 0};
}

Result<TokenRecord> token_from(const store::Row& row) {
  TokenRecord record;
  record.token.id.value = row.text(0);
  record.is_session = row.text(1) == "session";
  record.secret_hash = row.text(2);
  record.token.user.value = row.text(3);
  record.token.project.value = row.text(4);
  record.token.note = row.text(5);
  record.token.created_ms = row.integer(6);
  record.token.expires_ms = row.integer(7);
  if (!row.text(8).empty()) {
    TAKT_ASSIGN(record.token.role_max, parse_role(row.text(8)));
  }
  record.token.only_project = row.integer(9) != 0;
  return record;
}

}  // namespace

Status seed_access(store::Tx& tx) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kInsertUserIfAbsent,
              {std::string("admin"), std::string(role_name(Role::kAdmin)), tx.now_ms()}));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertProjectIfAbsent, {std::string("default"), tx.now_ms()}));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertServerKey, {std::string("job-token"), random_hex(32)}));
  return {};
}

Result<AccessSnapshot> load_access(store::Reader& reader) {
  AccessSnapshot snapshot;
  TAKT_ASSIGN(const store::Rows users, reader.query(sql::kListUsers));
  for (const auto& row : users) {
    TAKT_ASSIGN(User user, user_from(row));
    snapshot.users.push_back(std::move(user));
  }
  TAKT_ASSIGN(const store::Rows projects, reader.query(sql::kListProjects));
  for (const auto& row : projects)
    snapshot.projects.push_back({ProjectId{row.text(0)}, row.integer(1)});
  TAKT_ASSIGN(const store::Rows tokens, reader.query(sql::kListTokens));
  for (const auto& row : tokens) {
    TAKT_ASSIGN(TokenRecord record, token_from(row));
    snapshot.tokens.push_back(std::move(record));
  }
  TAKT_ASSIGN(const store::Rows members, reader.query(sql::kListMembers));
  for (const auto& row : members) {
    TAKT_ASSIGN(const Role role, parse_role(row.text(2)));
    snapshot.members.push_back({ProjectId{row.text(0)}, {UserId{row.text(1)}, role}});
  }
  TAKT_ASSIGN(const store::Rows ended, reader.query(sql::kListEndedJobs));
  for (const auto& row : ended) snapshot.ended_jobs.push_back(JobId{row.integer(0)});
  TAKT_ASSIGN(const auto key, reader.find(sql::kFindServerKey, {std::string("job-token")}));
  if (key) snapshot.job_key = key->text(0);
  return snapshot;
}

Status insert_user(store::Tx& tx, const User& user) {
  auto done = tx.exec(sql::kInsertUser,
                      {user.id.value, std::string(role_name(user.role)), user.created_ms});
  if (!done && done.error().code == Code::kConflict)
    return fail(Code::kConflict, "user '" + user.id.value + "' exists already");
  TAKT_RETURN_IF_ERROR(std::move(done));
  return {};
}

Status update_user(store::Tx& tx, const User& user) {
  return tx
      .exec(sql::kUpdateUser,
            {user.id.value, std::string(role_name(user.role)), std::int64_t{user.disabled}})
      .transform([](std::int64_t) {});
}

Status put_member(store::Tx& tx, const ProjectId& project, const Member& member) {
  return tx
      .exec(sql::kPutMember,
            {project.value, member.user.value, std::string(role_name(member.role))})
      .transform([](std::int64_t) {});
}

Status delete_member(store::Tx& tx, const ProjectId& project, const UserId& user) {
  return tx.exec(sql::kDeleteMember, {project.value, user.value}).transform([](std::int64_t) {});
}

Status insert_project(store::Tx& tx, const Project& project) {
  auto done = tx.exec(sql::kInsertProject, {project.id.value, project.created_ms});
  if (!done && done.error().code == Code::kConflict)
    return fail(Code::kConflict, "project '" + project.id.value + "' exists already");
  TAKT_RETURN_IF_ERROR(std::move(done));
  return {};
}

Status insert_token(store::Tx& tx, const TokenRecord& record) {
  const Token& token = record.token;
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kInsertToken,
      {token.id.value, std::string(record.is_session ? "session" : "token"), record.secret_hash,
       token.user.value, token.project.value, token.note, token.created_ms, token.expires_ms,
       token.role_max == Role::kAdmin ? std::string() : std::string(role_name(token.role_max)),
       std::int64_t{token.only_project}}));
  return {};
}

Status mark_token_revoked(store::Tx& tx, const TokenId& id) {
  TAKT_ASSIGN(const std::int64_t changed, tx.exec(sql::kRevokeToken, {id.value}));
  if (changed == 0) return fail(Code::kNotFound, "no token '" + id.value + "'");
  return {};
}

Status insert_ended_job(store::Tx& tx, JobId job) {
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertEndedJob, {job.value, tx.now_ms()}));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kDeleteEndedJobsBefore, {tx.now_ms() - kEndedJobKeptMs}));
  return {};
}

}  // namespace takt::access
