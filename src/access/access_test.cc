// SPDX-License-Identifier: Apache-2.0
#include "takt/access/access.h"

#include <gtest/gtest.h>

#include <fstream>

#include "takt/access/migrations.h"
#include "takt/access/sql.h"
#include "takt/access/token.h"
#include "takt/base/digest.h"
#include "takt/base/testing/manual_clock.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/store/event_log.h"
#include "takt/store/testing/database_pair.h"

namespace takt::access {
namespace {

net::Credentials bearer(const std::string& token) {
  net::Credentials credentials;
  credentials.authorization = "Bearer " + token;
  return credentials;
}

class AccessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    db_ = store::testing::open_sqlite({migrations()}, clock_);
    ASSERT_NE(db_, nullptr);
    reopen();
  }
  void reopen() {
    auto opened = AccessService::open(*db_, {.admin_token_file = token_file()});
    ASSERT_TRUE(opened) << opened.error().text();
    access_ = std::move(*opened);
  }
  std::string token_file() const { return (dir_.path() / "admin-token").string(); }
  std::string admin_token() const {
    std::ifstream file(token_file());
    std::string token;
    file >> token;
    return token;
  }
  net::Caller admin() { return *access_->authenticate(bearer(admin_token())); }
  std::string token_of(const std::string& user, Role role, std::int64_t ttl_ms = 0) {
    EXPECT_TRUE(
        access_->add_user(*access_->check<Right::kAdminister>(admin()), UserId{user}, role));
    return access_->create_token(admin(), {.user = UserId{user}, .ttl_ms = ttl_ms})->secret;
  }

  testing::TempDir dir_;
  testing::ManualClock clock_;
  std::unique_ptr<store::Database> db_;
  std::unique_ptr<AccessService> access_;
};

TEST_F(AccessTest, the_admin_token_of_the_first_start_opens_everything) {
  const auto caller = access_->authenticate(bearer(admin_token()));
  ASSERT_TRUE(caller) << caller.error().text();
  EXPECT_EQ(caller->user.value, "admin");
  EXPECT_EQ(caller->project.value, "default");
  EXPECT_TRUE(access_->check<Right::kAdminister>(*caller));
}

TEST_F(AccessTest, a_restart_keeps_the_token_and_a_lost_file_revokes_it) {
  const std::string first = admin_token();
  reopen();
  EXPECT_TRUE(access_->authenticate(bearer(first)));
  std::filesystem::remove(token_file());
  reopen();
  EXPECT_NE(admin_token(), first);
  EXPECT_FALSE(access_->authenticate(bearer(first)));
  EXPECT_TRUE(access_->authenticate(bearer(admin_token())));
}

TEST_F(AccessTest, wrong_credentials_are_refused_whatever_their_form) {
  std::string wrong_secret = admin_token();
  wrong_secret.back() = wrong_secret.back() == '0' ? '1' : '0';
  for (const std::string& header :
       {std::string(), std::string("Bearer"), std::string("Bearer "), std::string("Bearer takt_"),
        std::string("Bearer takt_a_b"), "Bearer " + wrong_secret, "Token " + admin_token(),
        std::string("Basic !!!"), std::string("Bearer taktjob_7b7d_00"),
        std::string("Bearer taktsession_a_b")}) {
    net::Credentials credentials;
    credentials.authorization = header;
    const auto caller = access_->authenticate(credentials);
    ASSERT_FALSE(caller) << header;
    EXPECT_EQ(caller.error().code, Code::kUnauthenticated) << header;
  }
}

TEST_F(AccessTest, mlflow_clients_may_send_the_token_as_a_basic_password) {
  net::Credentials credentials;
  const std::string id = admin().token.value;
  for (const std::string& user : {std::string("admin"), id, std::string()}) {
    credentials.authorization = "Basic " + base64_encode(user + ":" + admin_token());
    EXPECT_TRUE(access_->authenticate(credentials)) << user;
  }
  for (const std::string& user : {std::string("root"), id + "0", std::string("Admin")}) {
    credentials.authorization = "Basic " + base64_encode(user + ":" + admin_token());
    const auto caller = access_->authenticate(credentials);
    ASSERT_FALSE(caller) << user;
    EXPECT_EQ(caller.error().code, Code::kUnauthenticated);
  }
}

TEST_F(AccessTest, a_user_without_a_role_has_only_the_projects_that_name_it) {
  const auto by = *access_->check<Right::kAdminister>(admin());
  ASSERT_TRUE(access_->add_project(by, ProjectId{"vision"}));
  ASSERT_TRUE(access_->add_user(by, UserId{"nora"}, Role::kNone));
  EXPECT_FALSE(access_->create_token(admin(), {.user = UserId{"nora"}})) << "no part in default";
  ASSERT_TRUE(access_->set_member(by, ProjectId{"vision"}, {UserId{"nora"}, Role::kDeveloper}));
  net::Caller there = admin();
  there.project.value = "vision";
  const std::string token = access_->create_token(there, {.user = UserId{"nora"}})->secret;
  reopen();
  const auto nora = access_->authenticate(bearer(token));
  ASSERT_TRUE(nora) << nora.error().text();
  EXPECT_EQ(nora->project.value, "vision");
  EXPECT_TRUE(access_->check<Right::kWrite>(*nora, "run"));
  EXPECT_FALSE(access_->check<Right::kOperate>(*nora, "service/x"));
  for (const char* project : {"default", "nowhere"}) {
    net::Credentials elsewhere = bearer(token);
    elsewhere.project = project;
    const auto refused = access_->authenticate(elsewhere);
    ASSERT_FALSE(refused) << project;
    EXPECT_EQ(refused.error().code, Code::kDenied) << "whether it exists is not told";
  }
  const auto reading = *access_->check<Right::kRead>(*nora, "project");
  const auto projects = *access_->list_projects(reading);
  ASSERT_EQ(projects.size(), 1u);
  EXPECT_EQ(projects[0].id.value, "vision");
  const auto again = *access_->check<Right::kAdminister>(admin());
  ASSERT_TRUE(access_->remove_member(again, ProjectId{"vision"}, UserId{"nora"}));
  EXPECT_FALSE(access_->check<Right::kRead>(*nora, "run"));
}

TEST_F(AccessTest, a_membership_stands_instead_of_the_users_own_role) {
  const auto by = *access_->check<Right::kAdminister>(admin());
  ASSERT_TRUE(access_->add_project(by, ProjectId{"prod"}));
  const auto dev = *access_->authenticate(bearer(token_of("dev", Role::kOperator)));
  ASSERT_TRUE(access_->set_member(by, ProjectId{"prod"}, {UserId{"dev"}, Role::kViewer}));
  net::Caller in_prod = dev;
  in_prod.project.value = "prod";
  EXPECT_TRUE(access_->check<Right::kOperate>(dev, "x"));
  EXPECT_FALSE(access_->check<Right::kWrite>(in_prod, "x"));
  EXPECT_FALSE(access_->set_member(by, ProjectId{"prod"}, {UserId{"dev"}, Role::kAdmin}));
  EXPECT_FALSE(access_->set_member(by, ProjectId{"prod"}, {UserId{"none"}, Role::kViewer}));
}

TEST_F(AccessTest, a_scoped_token_is_worth_less_than_its_user) {
  const auto by = *access_->check<Right::kAdminister>(admin());
  ASSERT_TRUE(access_->add_project(by, ProjectId{"other"}));
  const TokenWish wish{.user = UserId{"admin"}, .role_max = Role::kDeveloper, .only_project = true};
  const IssuedToken issued = *access_->create_token(admin(), wish);
  reopen();
  const auto caller = access_->authenticate(bearer(issued.secret));
  ASSERT_TRUE(caller) << caller.error().text();
  EXPECT_FALSE(caller->is_admin);
  EXPECT_TRUE(access_->check<Right::kWrite>(*caller, "run"));
  EXPECT_FALSE(access_->check<Right::kOperate>(*caller, "service/x"));
  EXPECT_FALSE(access_->check<Right::kAdminister>(*caller, "user"));
  EXPECT_FALSE(access_->create_token(*caller, {.user = UserId{"admin"}}));
  EXPECT_FALSE(access_->revoke_token(*caller, admin().token));
  net::Credentials elsewhere = bearer(issued.secret);
  elsewhere.project = "other";
  EXPECT_FALSE(access_->authenticate(elsewhere));
  // A session is worth what its token is.
  net::Credentials session;
  session.session_cookie = *access_->sign_in(issued.secret);
  const auto signed_in = access_->authenticate(session);
  ASSERT_TRUE(signed_in);
  EXPECT_FALSE(access_->check<Right::kOperate>(*signed_in, "service/x"));
  EXPECT_TRUE(access_->revoke_token(*caller, issued.token.id)) << "itself";
}

TEST_F(AccessTest, a_token_for_one_project_does_not_open_the_server) {
  const auto issued =
      *access_->create_token(admin(), {.user = UserId{"admin"}, .only_project = true});
  const auto caller = *access_->authenticate(bearer(issued.secret));
  EXPECT_TRUE(access_->check<Right::kOperate>(caller, "service/x"));
  EXPECT_FALSE(access_->check<Right::kAdminister>(caller, "user"));
}

TEST_F(AccessTest, a_disabled_user_is_out_at_once_and_the_last_admin_stays) {
  const std::string token = token_of("dev", Role::kDeveloper);
  const auto by = *access_->check<Right::kAdminister>(admin());
  ASSERT_TRUE(access_->authenticate(bearer(token)));
  ASSERT_TRUE(access_->change_user(by, UserId{"dev"}, std::nullopt, true));
  EXPECT_FALSE(access_->authenticate(bearer(token)));
  reopen();
  EXPECT_FALSE(access_->authenticate(bearer(token)));
  const auto again = *access_->check<Right::kAdminister>(admin());
  EXPECT_FALSE(access_->change_user(again, UserId{"admin"}, Role::kOperator, std::nullopt));
  EXPECT_FALSE(access_->change_user(again, UserId{"admin"}, std::nullopt, true));
  ASSERT_TRUE(access_->change_user(again, UserId{"dev"}, Role::kAdmin, false));
  EXPECT_TRUE(access_->change_user(again, UserId{"admin"}, Role::kOperator, std::nullopt));
  EXPECT_FALSE(access_->check<Right::kAdminister>(*access_->authenticate(bearer(admin_token()))));
}

TEST_F(AccessTest, each_role_has_the_rights_below_it_and_no_more) {
  const Right rights[] = {Right::kRead, Right::kWrite, Right::kOperate, Right::kAdminister};
  const Role roles[] = {Role::kViewer, Role::kDeveloper, Role::kOperator, Role::kAdmin};
  for (int r = 0; r < 4; ++r) {
    const auto caller = access_->authenticate(
        bearer(token_of("user-" + std::string(role_name(roles[r])), roles[r])));
    ASSERT_TRUE(caller);
    const bool allowed[] = {access_->check<Right::kRead>(*caller, "x").has_value(),
                            access_->check<Right::kWrite>(*caller, "x").has_value(),
                            access_->check<Right::kOperate>(*caller, "x").has_value(),
                            access_->check<Right::kAdminister>(*caller, "x").has_value()};
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(allowed[i], i <= r) << role_name(roles[r]) << " " << right_name(rights[i]);
  }
}

TEST_F(AccessTest, a_denial_names_the_role_and_whom_to_ask_and_is_an_event) {
  const auto caller = *access_->authenticate(bearer(token_of("vera", Role::kViewer)));
  const auto denied = access_->check<Right::kOperate>(caller, "traffic");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().message, "traffic needs role operator, you are viewer");
  EXPECT_EQ(denied.error().hint, "ask admin");
  std::vector<store::Event> events;
  ASSERT_TRUE(db_->read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(events, store::read_events(reader, 0, 100));
    return {};
  }));
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().verb, "access.denied");
  EXPECT_EQ(events.back().actor.value, "vera");
}

TEST_F(AccessTest, tokens_expire_and_can_be_revoked_by_their_owner_only) {
  const std::string token = token_of("dev", Role::kDeveloper, 60'000);
  const auto dev = *access_->authenticate(bearer(token));
  const auto other = *access_->authenticate(bearer(token_of("other", Role::kDeveloper)));
  EXPECT_FALSE(access_->revoke_token(other, dev.token));
  EXPECT_FALSE(access_->create_token(other, {.user = UserId{"dev"}}));
  clock_.advance_ms(60'001);
  const auto expired = access_->authenticate(bearer(token));
  ASSERT_FALSE(expired);
  EXPECT_NE(expired.error().message.find("expired at"), std::string::npos);
  const auto second = *access_->create_token(other, {.user = UserId{"other"}, .note = "mine"});
  EXPECT_TRUE(access_->revoke_token(other, second.token.id));
  EXPECT_FALSE(access_->authenticate(bearer(second.secret)));
}

TEST_F(AccessTest, a_job_token_is_good_for_its_project_and_kinds_until_its_job_ends) {
  token_of("dev", Role::kDeveloper);
  const std::string token =
      *access_->job_token(ProjectId{"default"}, UserId{"dev"}, JobId{7}, 1, 60'000);
  const auto caller = access_->authenticate(bearer(token));
  ASSERT_TRUE(caller) << caller.error().text();
  EXPECT_EQ(caller->job.value, 7);
  EXPECT_TRUE(access_->check<Right::kRead>(*caller, "dataset/x"));
  EXPECT_TRUE(access_->check<Right::kWrite>(*caller, "run/abc"));
  EXPECT_FALSE(access_->check<Right::kWrite>(*caller, "job"));
  EXPECT_FALSE(access_->check<Right::kWrite>(*caller, "runner"));
  EXPECT_FALSE(access_->create_token(*caller, {.user = UserId{"dev"}}));
  net::Credentials elsewhere = bearer(token);
  elsewhere.project = "other";
  EXPECT_FALSE(access_->authenticate(elsewhere));
  reopen();
  EXPECT_TRUE(access_->authenticate(bearer(token)));
  ASSERT_TRUE(access_->end_job_tokens(JobId{7}));
  EXPECT_FALSE(access_->authenticate(bearer(token)));
  reopen();
  EXPECT_FALSE(access_->authenticate(bearer(token)));
}

TEST_F(AccessTest, a_forged_job_token_is_refused) {
  const std::string forged = render_job_token(
      {ProjectId{"default"}, UserId{"admin"}, JobId{1}, 1, 1ll << 60}, "not the key");
  EXPECT_FALSE(access_->authenticate(bearer(forged)));
}

TEST_F(AccessTest, signing_out_ends_the_session_but_not_the_token) {
  const std::string session = *access_->sign_in(admin_token());
  net::Credentials credentials;
  credentials.session_cookie = session;
  EXPECT_TRUE(access_->authenticate(credentials));
  EXPECT_FALSE(access_->authenticate(bearer(session)));
  ASSERT_TRUE(access_->sign_out(session));
  EXPECT_FALSE(access_->authenticate(credentials));
  EXPECT_TRUE(access_->authenticate(bearer(admin_token())));
}

TEST_F(AccessTest, an_unknown_project_is_named) {
  net::Credentials credentials = bearer(admin_token());
  credentials.project = "nowhere";
  const auto caller = access_->authenticate(credentials);
  ASSERT_FALSE(caller);
  EXPECT_EQ(caller.error().message, "no project 'nowhere'");
}

TEST(AccessStatements, compile_on_both_databases) {
  for (const auto& db : store::testing::open_both({migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    store::testing::check_statements(*db, sql::kAll);
    const auto access = AccessService::open(*db, {});
    ASSERT_TRUE(access) << access.error().text();
    EXPECT_TRUE((*access)->role_of(UserId{"admin"}, ProjectId{"default"}));
  }
}

}  // namespace
}  // namespace takt::access
