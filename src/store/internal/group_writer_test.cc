// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/group_writer.h"

#include <gtest/gtest.h>

#include "takt/store/internal/postgres_connection.h"
#include "takt/store/testing/database_pair.h"
#include "takt/store/testing/postgres_server.h"

namespace takt::store::internal {
namespace {

/// Passes on to a real connection, but loses the answer of the first commit.
class LosingConnection final : public Connection {
 public:
  LosingConnection(std::unique_ptr<Connection> real, bool loses_commit, bool does_commit)
      : real_(std::move(real)), loses_commit_(loses_commit), does_commit_(does_commit) {}
  Result<Rows> query(std::string_view sql, const Params& params) override {
    return real_->query(sql, params);
  }
  Result<std::int64_t> exec(std::string_view sql, const Params& params) override {
    return real_->exec(sql, params);
  }
  Status each_row(std::string_view sql, const std::function<Status(const Row&)>& take) override {
    return real_->each_row(sql, take);
  }
  Status run_script(std::string_view script) override { return real_->run_script(script); }
  Status begin_write() override { return real_->begin_write(); }
  Status begin_read(std::int64_t timeout_ms) override { return real_->begin_read(timeout_ms); }
  Status commit() override {
    if (!loses_commit_) return real_->commit();
    if (does_commit_) {
      EXPECT_TRUE(real_->commit());
    } else {
      real_->rollback();
    }
    is_lost_ = true;
    return fail(Code::kUnavailable, "lost");
  }
  void rollback() override { real_->rollback(); }
  Status begin_part() override { return real_->begin_part(); }
  Status keep_part() override { return real_->keep_part(); }
  Status drop_part() override { return real_->drop_part(); }
  std::string transaction_id() const override { return real_->transaction_id(); }
  Result<bool> was_committed(const std::string& id) override { return real_->was_committed(id); }
  bool in_transaction() const override { return real_->in_transaction(); }
  bool is_lost() const override { return is_lost_; }

 private:
  std::unique_ptr<Connection> real_;
  bool loses_commit_;
  bool does_commit_;
  bool is_lost_ = false;
};

class LosingEngine final : public Engine {
 public:
  LosingEngine(std::string uri, bool does_commit)
      : real_(std::move(uri)), does_commit_(does_commit) {}
  Result<std::unique_ptr<Connection>> connect(Access access) override {
    TAKT_ASSIGN(auto real, real_.connect(access));
    return std::make_unique<LosingConnection>(std::move(real), ++connections_ == 1, does_commit_);
  }
  Status backup_to(const std::string& path) override { return real_.backup_to(path); }
  std::string_view dialect() const override { return real_.dialect(); }

 private:
  PostgresEngine real_;
  bool does_commit_;
  int connections_ = 0;
};

Status write_with_lost_answer(bool does_commit) {
  TAKT_ASSIGN(testing::PostgresServer* const server, testing::PostgresServer::shared());
  TAKT_ASSIGN(const std::string uri, server->create_database());
  TAKT_ASSIGN(auto db, Database::open({.location = uri}, system_clock()));
  TAKT_RETURN_IF_ERROR(db->migrate({}));
  LosingEngine engine(uri, does_commit);
  TAKT_ASSIGN(auto connection, engine.connect(Access::kWrite));
  GroupWriter writer(engine, std::move(connection), system_clock(), 10);
  return writer.write(Deadline::after_ms(system_clock(), 10'000), [](Tx& tx) -> Status {
    return tx.next_number("x").transform([](std::int64_t) {});
  });
}

TEST(GroupWriter, a_commit_whose_answer_was_lost_is_acknowledged_when_it_was_done) {
  const Status status = write_with_lost_answer(true);
  EXPECT_TRUE(status) << status.error().text();
}

TEST(GroupWriter, a_commit_whose_answer_was_lost_fails_when_it_was_not_done) {
  const Status status = write_with_lost_answer(false);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kUnavailable);
}

TEST(GroupWriter, a_server_that_is_gone_is_reported_after_bounded_attempts) {
  const auto db =
      Database::open({.location = "postgresql:///x?host=/nonexistent&user=x"}, system_clock());
  ASSERT_FALSE(db);
  EXPECT_EQ(db.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace takt::store::internal
