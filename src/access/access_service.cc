// SPDX-License-Identifier: Apache-2.0
#include "takt/access/access_service.h"

#include <filesystem>
#include <mutex>

#include "takt/access/token.h"
#include "takt/base/digest.h"
#include "takt/base/file.h"
#include "takt/store/event_log.h"

namespace takt::access {
namespace {

constexpr std::int64_t kSessionTtlMs = 12ll * 3600 * 1000;
constexpr std::string_view kAdminTokenNote = "admin token of the data directory";

constexpr std::string_view kRoleNames[] = {"none", "viewer", "developer", "operator", "admin"};
constexpr std::string_view kRightNames[] = {"read", "write", "operate", "administer"};

/// The least role that has the right: the two enumerations run side by side, after none.
Role role_for(Right right) { return static_cast<Role>(static_cast<int>(right) + 1); }

/// A job may read its project and write what training scripts write; nothing else.
bool job_may_write(std::string_view subject) {
  for (std::string_view kind : {"run", "experiment", "artifact", "model", "logged-model"})
    if (subject.starts_with(kind) && (subject.size() == kind.size() || subject[kind.size()] == '/'))
      return true;
  return false;
}

store::Event access_event(std::string_view verb, const ProjectId& project, const UserId& actor,
                          Ref subject, Value details = {}) {
  store::Event event;
  event.verb = std::string(verb);
  event.project = project;
  event.actor = actor;
  event.subject = std::move(subject);
  event.details = std::move(details);
  return event;
}

}  // namespace

std::string_view role_name(Role role) { return kRoleNames[static_cast<int>(role)]; }
std::string_view right_name(Right right) { return kRightNames[static_cast<int>(right)]; }

Result<Role> parse_role(std::string_view name) {
  for (int i = 0; i < 5; ++i)
    if (kRoleNames[i] == name) return static_cast<Role>(i);
  return fail(Code::kInvalid, "unknown role '" + std::string(name) + "'",
              "use viewer, developer, operator or admin; none for no part in projects", "role");
}

Result<std::unique_ptr<AccessService>> AccessService::open(store::Database& db, Options options) {
  auto service = std::make_unique<StoredAccess>(db, std::move(options));
  TAKT_RETURN_IF_ERROR(service->load());
  return service;
}

StoredAccess::StoredAccess(store::Database& db, Options options)
    : db_(db), options_(std::move(options)) {}

Status StoredAccess::load() {
  TAKT_RETURN_IF_ERROR(db_.write([](store::Tx& tx) { return seed_access(tx); }));
  AccessSnapshot snapshot;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(snapshot, load_access(reader));
    return {};
  }));
  {
    std::unique_lock lock(mutex_);
    for (auto& user : snapshot.users) users_[user.id.value] = user;
    for (auto& project : snapshot.projects) projects_[project.id.value] = project;
    for (auto& [project, member] : snapshot.members)
      members_[{project.value, member.user.value}] = member.role;
    for (auto& record : snapshot.tokens) tokens_[record.token.id.value] = record;
    for (JobId job : snapshot.ended_jobs) ended_jobs_.insert(job.value);
    job_key_ = snapshot.job_key;
  }
  return write_admin_token();
}

Status StoredAccess::write_admin_token() {
  if (options_.admin_token_file.empty() || std::filesystem::exists(options_.admin_token_file))
    return {};
  // A token whose file was lost (or never written: a crash in between) must not stay valid.
  std::vector<TokenId> stale;
  {
    std::shared_lock lock(mutex_);
    for (const auto& [id, record] : tokens_)
      if (record.token.note == kAdminTokenNote) stale.push_back(record.token.id);
  }
  net::Caller admin;
  admin.user.value = "admin";
  admin.is_admin = true;
  for (const TokenId& id : stale) TAKT_RETURN_IF_ERROR(revoke_token(admin, id));
  TAKT_ASSIGN(
      const IssuedToken issued,
      issue(kTokenPrefix, ProjectId{"default"},
            {.user = UserId{"admin"}, .note = std::string(kAdminTokenNote)}, UserId{"admin"}));
  return write_file_durably(options_.admin_token_file, issued.secret + "\n", 0600);
}

Result<net::Caller> StoredAccess::authenticate(const net::Credentials& credentials) {
  net::Caller caller;
  if (options_.auth_off) {
    caller.user.value = "admin";
    caller.project.value = "default";
    caller.is_admin = true;
  } else if (!credentials.authorization.empty()) {
    TAKT_ASSIGN(const Presented shown, parse_authorization(credentials.authorization));
    TAKT_ASSIGN(caller, caller_of_text(shown.token));
    if (!shown.user.empty() && shown.user != caller.user.value && shown.user != caller.token.value)
      return fail(Code::kUnauthenticated, "the token does not belong to the user that was named",
                  "send the token's user (or its id) as the user, the token as the password");
  } else if (!credentials.session_cookie.empty()) {
    TAKT_ASSIGN(caller, caller_of_stored(kSessionPrefix, credentials.session_cookie));
  } else {
    return fail(
        Code::kUnauthenticated, "no token was sent",
        "run `takt login`, or send `Authorization: Bearer TOKEN`; the admin's first one is in "
        "the file admin-token of the server's data folder");
  }
  TAKT_RETURN_IF_ERROR(enter_project(caller, credentials.project));
  return caller;
}

Result<net::Caller> StoredAccess::caller_of_text(std::string_view text) {
  if (text.starts_with(kJobPrefix)) return caller_of_job(text);
  return caller_of_stored(kTokenPrefix, text);
}

Result<net::Caller> StoredAccess::caller_of_stored(std::string_view prefix, std::string_view text) {
  TAKT_ASSIGN(const TokenText parts, parse_token(prefix, text));
  const std::string hash = sha256(parts.secret).value;
  std::shared_lock lock(mutex_);
  const auto found = tokens_.find(parts.id.value);
  const bool known = found != tokens_.end() &&
                     equal_constant_time(found->second.secret_hash, hash) &&
                     found->second.is_session == (prefix == kSessionPrefix);
  if (!known)
    return fail(Code::kUnauthenticated, "the token is unknown or was revoked",
                "run `takt login` with a valid one");
  const Token& token = found->second.token;
  if (token.expires_ms != 0 && token.expires_ms <= db_.clock().now_ms())
    return fail(Code::kUnauthenticated, "the token expired at " + format_time(token.expires_ms),
                "make a new one with `takt token create`");
  const auto user = users_.find(token.user.value);
  if (user == users_.end() || user->second.disabled)
    return fail(Code::kUnauthenticated, "user '" + token.user.value + "' is disabled");
  net::Caller caller;
  caller.user = token.user;
  caller.project = token.project;
  caller.token = token.id;
  caller.is_admin =
      user->second.role == Role::kAdmin && token.role_max == Role::kAdmin && !token.only_project;
  return caller;
}

Result<net::Caller> StoredAccess::caller_of_job(std::string_view text) {
  std::shared_lock lock(mutex_);
  TAKT_ASSIGN(const JobClaims claims, parse_job_token(text, job_key_));
  if (claims.expires_ms <= db_.clock().now_ms())
    return fail(Code::kUnauthenticated,
                "the job token expired at " + format_time(claims.expires_ms));
  if (ended_jobs_.contains(claims.job.value))
    return fail(Code::kUnauthenticated,
                "job " + std::to_string(claims.job.value) + " has ended, so has its token");
  net::Caller caller;
  caller.user = claims.user;
  caller.project = claims.project;
  caller.scope = net::Scope::kJob;
  caller.job = claims.job;
  return caller;
}

Status StoredAccess::enter_project(net::Caller& caller, const std::string& wanted) const {
  if (wanted.empty() || wanted == caller.project.value) return {};
  if (caller.scope == net::Scope::kJob)
    return fail(Code::kDenied, "a job's token is good for project '" + caller.project.value +
                                   "' only, not '" + wanted + "'");
  bool is_known = false, is_confined = false;
  {
    std::shared_lock lock(mutex_);
    is_known = projects_.contains(wanted);
    const auto token = tokens_.find(caller.token.value);
    is_confined = token != tokens_.end() && token->second.token.only_project;
  }
  if (is_confined)
    return fail(Code::kDenied, "this token is good for project '" + caller.project.value +
                                   "' only, not '" + wanted + "'");
  // Who has no part in a project does not learn whether there is one of that name.
  if (!caller.is_admin && !role_of(caller.user, ProjectId{wanted}))
    return fail(Code::kDenied, "you have no part in a project '" + wanted + "'",
                "see `takt project ls`; " + whom_to_ask(Role::kAdmin) + " can add you", "project");
  if (!is_known)
    return fail(Code::kNotFound, "no project '" + wanted + "'", "see `takt project ls`", "project");
  caller.project.value = wanted;
  return {};
}

std::optional<Role> StoredAccess::role_of(const UserId& user, const ProjectId& project) const {
  std::shared_lock lock(mutex_);
  const auto found = users_.find(user.value);
  if (found == users_.end() || found->second.disabled) return std::nullopt;
  if (!projects_.contains(project.value)) return std::nullopt;
  Role role = found->second.role;
  const auto member = members_.find({project.value, user.value});
  if (member != members_.end() && role != Role::kAdmin) role = member->second;
  return role == Role::kNone ? std::nullopt : std::optional(role);
}

std::optional<Role> StoredAccess::role_in_force(const net::Caller& caller) const {
  const auto role = role_of(caller.user, caller.project);
  if (!role || caller.token.empty()) return role;
  std::shared_lock lock(mutex_);
  const auto found = tokens_.find(caller.token.value);
  if (found == tokens_.end()) return std::nullopt;  // revoked meanwhile
  const Token& token = found->second.token;
  // The server as a whole is no matter of a token for one project.
  const Role most = token.only_project ? std::min(token.role_max, Role::kOperator) : token.role_max;
  return std::min(*role, most);
}

bool StoredAccess::is_scoped(const net::Caller& caller) const {
  std::shared_lock lock(mutex_);
  const auto found = tokens_.find(caller.token.value);
  return found != tokens_.end() &&
         (found->second.token.only_project || found->second.token.role_max != Role::kAdmin);
}

std::string StoredAccess::whom_to_ask(Role needed) const {
  std::shared_lock lock(mutex_);
  std::string names;
  int count = 0;
  for (const auto& [name, user] : users_)
    if (user.role >= needed && !user.disabled && count++ < 3)
      names += (names.empty() ? "" : " or ") + name;
  return names;
}

Status StoredAccess::decide(const net::Caller& caller, Right right, std::string_view subject) {
  if (caller.is_admin) return {};
  const Role needed = role_for(right);
  const auto role = role_in_force(caller);
  const bool within_scope = caller.scope == net::Scope::kFull || right == Right::kRead ||
                            (right == Right::kWrite && job_may_write(subject));
  if (role && *role >= needed && within_scope) return {};
  auto denied =
      within_scope
          ? fail(Code::kDenied,
                 std::string(subject) + " needs role " + std::string(role_name(needed)) +
                     ", you are " +
                     (role ? std::string(role_name(*role)) : "no member of this project"),
                 "ask " + whom_to_ask(needed))
          : fail(Code::kDenied,
                 "a job's token may not " + std::string(right_name(right)) + " " +
                     std::string(subject),
                 "jobs read their project and log runs and models; do the rest from the pipeline");
  const auto event = access_event(
      "access.denied", caller.project, caller.user, Ref{"access", std::string(subject)},
      Object{{"right", right_name(right)}, {"message", denied.error().message}});
  // The denial stands whether or not its record could be written.
  (void)db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(store::append_event(tx, event));
    return {};
  });
  return denied;
}

Result<IssuedToken> StoredAccess::issue(std::string_view prefix, const ProjectId& project,
                                        TokenWish wish, const UserId& by) {
  TokenRecord record;
  record.token.id.value = random_hex(8);
  record.token.user = std::move(wish.user);
  record.token.project = project;
  record.token.only_project = wish.only_project;
  record.token.role_max = wish.role_max;
  record.token.note = std::move(wish.note);
  record.token.created_ms = db_.clock().now_ms();
  record.token.expires_ms = wish.ttl_ms == 0 ? 0 : record.token.created_ms + wish.ttl_ms;
  record.is_session = prefix == kSessionPrefix;
  const std::string secret = random_hex(32);
  record.secret_hash = sha256(secret).value;
  const Value details(Object{{"user", record.token.user.value},
                             {"note", record.token.note},
                             {"role_max", role_name(record.token.role_max)},
                             {"only_project", record.token.only_project}});
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(insert_token(tx, record));
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, access_event(record.is_session ? "sign-in" : "token.created", project, by,
                         Ref{"token", record.token.id.value}, details)));
    return {};
  }));
  std::unique_lock lock(mutex_);
  tokens_[record.token.id.value] = record;
  return IssuedToken{record.token, render_token(prefix, record.token.id, secret)};
}

Result<User> StoredAccess::add_user(const CanAdminister& by, const UserId& id, Role role) {
  TAKT_RETURN_IF_ERROR(check_name("user name", id.value));
  const User user{id, role, db_.clock().now_ms(), false};
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(insert_user(tx, user));
    TAKT_RETURN_IF_ERROR(
        store::append_event(tx, access_event("user.added", by.project(), by.user(), ref_of(id),
                                             Object{{"role", role_name(role)}})));
    return {};
  }));
  std::unique_lock lock(mutex_);
  users_[id.value] = user;
  return user;
}

Result<User> StoredAccess::change_user(const CanAdminister& by, const UserId& id,
                                       std::optional<Role> role, std::optional<bool> disabled) {
  User user;
  bool has_other_admin = false;
  {
    std::shared_lock lock(mutex_);
    const auto found = users_.find(id.value);
    if (found == users_.end())
      return fail(Code::kNotFound, "no user '" + id.value + "'", "see `takt user ls`");
    user = found->second;
    for (const auto& [name, other] : users_)
      if (name != id.value && other.role == Role::kAdmin && !other.disabled) has_other_admin = true;
  }
  user.role = role.value_or(user.role);
  user.disabled = disabled.value_or(user.disabled);
  if ((user.role != Role::kAdmin || user.disabled) && !has_other_admin)
    return fail(Code::kConflict, "'" + id.value + "' is the last admin", "make another one first");
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(update_user(tx, user));
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, access_event("user.changed", by.project(), by.user(), ref_of(id),
                         Object{{"role", role_name(user.role)}, {"disabled", user.disabled}})));
    return {};
  }));
  std::unique_lock lock(mutex_);
  users_[id.value] = user;
  return user;
}

Result<std::vector<User>> StoredAccess::list_users(const CanRead&) {
  std::shared_lock lock(mutex_);
  std::vector<User> users;
  for (const auto& [name, user] : users_) users.push_back(user);
  return users;
}

Result<Project> StoredAccess::add_project(const CanAdminister& by, const ProjectId& id) {
  TAKT_RETURN_IF_ERROR(check_name("project name", id.value));
  const Project project{id, db_.clock().now_ms()};
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(insert_project(tx, project));
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, access_event("project.created", id, by.user(), Ref{"project", id.value})));
    return {};
  }));
  std::unique_lock lock(mutex_);
  projects_[id.value] = project;
  return project;
}

Result<std::vector<Project>> StoredAccess::list_projects(const CanRead& by) {
  std::vector<Project> projects;
  {
    std::shared_lock lock(mutex_);
    for (const auto& [name, project] : projects_) projects.push_back(project);
  }
  if (by.caller().is_admin) return projects;
  std::erase_if(projects, [&](const Project& project) {
    net::Caller there = by.caller();
    return !enter_project(there, project.id.value) || !role_in_force(there);
  });
  return projects;
}

Status StoredAccess::check_names(const ProjectId& project, const UserId& user) const {
  std::shared_lock lock(mutex_);
  if (!projects_.contains(project.value))
    return fail(Code::kNotFound, "no project '" + project.value + "'", "see `takt project ls`");
  if (!users_.contains(user.value))
    return fail(Code::kNotFound, "no user '" + user.value + "'",
                "add it with `takt user add " + user.value + "`", "user");
  return {};
}

Status StoredAccess::set_member(const CanAdminister& by, const ProjectId& project,
                                const Member& member) {
  TAKT_RETURN_IF_ERROR(check_names(project, member.user));
  if (member.role == Role::kNone || member.role == Role::kAdmin)
    return fail(Code::kInvalid,
                "no one is " + std::string(role_name(member.role)) + " of one project",
                "use viewer, developer or operator; admins are of the whole server", "role");
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(put_member(tx, project, member));
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, access_event("project.member-set", project, by.user(), ref_of(member.user),
                         Object{{"role", role_name(member.role)}})));
    return {};
  }));
  std::unique_lock lock(mutex_);
  members_[{project.value, member.user.value}] = member.role;
  return {};
}

Status StoredAccess::remove_member(const CanAdminister& by, const ProjectId& project,
                                   const UserId& user) {
  TAKT_RETURN_IF_ERROR(check_names(project, user));
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(delete_member(tx, project, user));
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, access_event("project.member-removed", project, by.user(), ref_of(user))));
    return {};
  }));
  std::unique_lock lock(mutex_);
  members_.erase({project.value, user.value});
  return {};
}

Result<std::vector<Member>> StoredAccess::list_members(const CanAdminister&,
                                                       const ProjectId& project) {
  std::shared_lock lock(mutex_);
  if (!projects_.contains(project.value))
    return fail(Code::kNotFound, "no project '" + project.value + "'", "see `takt project ls`");
  std::vector<Member> members;
  for (const auto& [key, role] : members_)
    if (key.first == project.value) members.push_back({UserId{key.second}, role});
  return members;
}

Result<IssuedToken> StoredAccess::create_token(const net::Caller& by, TokenWish wish) {
  if (by.scope == net::Scope::kJob) return fail(Code::kDenied, "a job's token cannot make tokens");
  if (is_scoped(by))
    return fail(Code::kDenied, "a token for one project or a lesser role cannot make tokens",
                "use one without such limits");
  if (wish.user != by.user && !by.is_admin)
    return fail(Code::kDenied, "only an admin makes tokens for other users", "ask an admin");
  if (wish.role_max == Role::kNone)
    return fail(Code::kInvalid, "a token of the role none would open nothing",
                "use viewer, developer, operator or admin", "role");
  TAKT_RETURN_IF_ERROR(check_names(by.project, wish.user));
  if (!role_of(wish.user, by.project))
    return fail(Code::kInvalid,
                "user '" + wish.user.value + "' has no part in project '" + by.project.value + "'",
                "name another with --project, or add the user to it", "user");
  return issue(kTokenPrefix, by.project, std::move(wish), by.user);
}

Result<std::vector<Token>> StoredAccess::list_tokens(const net::Caller& by) {
  std::shared_lock lock(mutex_);
  std::vector<Token> tokens;
  for (const auto& [id, record] : tokens_)
    if (!record.is_session && (by.is_admin || record.token.user == by.user))
      tokens.push_back(record.token);
  return tokens;
}

Status StoredAccess::revoke_token(const net::Caller& by, const TokenId& id) {
  const bool may_end_others = !is_scoped(by);
  {
    std::shared_lock lock(mutex_);
    const auto found = tokens_.find(id.value);
    const bool own = found != tokens_.end() && found->second.token.user == by.user &&
                     (may_end_others || id == by.token);
    if (!(own && by.scope == net::Scope::kFull) && !by.is_admin)
      return fail(Code::kNotFound, "no token '" + id.value + "' of yours", "see `takt token ls`");
  }
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(mark_token_revoked(tx, id));
    TAKT_RETURN_IF_ERROR(store::append_event(
        tx, access_event("token.revoked", by.project, by.user, Ref{"token", id.value})));
    return {};
  }));
  std::unique_lock lock(mutex_);
  tokens_.erase(id.value);
  return {};
}

Result<std::string> StoredAccess::job_token(const ProjectId& project, const UserId& user, JobId job,
                                            int attempt, std::int64_t ttl_ms) {
  std::shared_lock lock(mutex_);
  return render_job_token({project, user, job, attempt, db_.clock().now_ms() + ttl_ms}, job_key_);
}

Status StoredAccess::end_job_tokens(JobId job) {
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) { return insert_ended_job(tx, job); }));
  std::unique_lock lock(mutex_);
  ended_jobs_.insert(job.value);
  return {};
}

Result<std::string> StoredAccess::sign_in(std::string_view token) {
  TAKT_ASSIGN(const net::Caller caller, caller_of_stored(kTokenPrefix, token));
  TokenWish wish{.user = caller.user, .ttl_ms = kSessionTtlMs, .note = "console"};
  {
    std::shared_lock lock(mutex_);
    const auto found = tokens_.find(caller.token.value);
    if (found == tokens_.end()) return fail(Code::kUnauthenticated, "the token was just revoked");
    wish.role_max = found->second.token.role_max;
    wish.only_project = found->second.token.only_project;
  }
  TAKT_ASSIGN(IssuedToken issued,
              issue(kSessionPrefix, caller.project, std::move(wish), caller.user));
  return std::move(issued.secret);
}

Status StoredAccess::sign_out(std::string_view session) {
  TAKT_ASSIGN(const net::Caller caller, caller_of_stored(kSessionPrefix, session));
  return revoke_token(caller, caller.token);
}

}  // namespace takt::access
