// SPDX-License-Identifier: Apache-2.0
#include "takt/store/testing/database_pair.h"

#include <gtest/gtest.h>

#include <string>

#include "takt/base/testing/temp_dir.h"
#include "takt/store/internal/sql_text.h"
#include "takt/store/testing/postgres_server.h"

namespace takt::store::testing {
namespace {

/// Passes all on to a database, and removes what it stood on.
class TestDatabase final : public Database {
 public:
  TestDatabase(std::unique_ptr<Database> db, std::unique_ptr<takt::testing::TempDir> folder,
               std::string uri)
      : Database(db->clock()),
        folder_(std::move(folder)),
        uri_(std::move(uri)),
        db_(std::move(db)) {}
  ~TestDatabase() override {
    db_.reset();
    if (uri_.empty()) return;
    if (const auto server = PostgresServer::shared()) {
      const Status dropped = (*server)->drop_database(uri_);
      EXPECT_TRUE(dropped) << dropped.error().text();
    }
  }

  using Database::read;
  using Database::write;
  Status write(Deadline deadline, const WriteFn& fn) override { return db_->write(deadline, fn); }
  Status read(Deadline deadline, const ReadFn& fn) override { return db_->read(deadline, fn); }
  Status migrate(Migrations migrations) override { return db_->migrate(migrations); }
  void on_commit(std::function<void()> wake) override { db_->on_commit(std::move(wake)); }
  Status backup_to(const std::string& path) override { return db_->backup_to(path); }
  std::string_view dialect() const override { return db_->dialect(); }

 private:
  std::unique_ptr<takt::testing::TempDir> folder_;
  std::string uri_;
  std::unique_ptr<Database> db_;
};

Result<std::unique_ptr<Database>> open_migrated(const std::string& location,
                                                std::initializer_list<Migrations> migrations,
                                                Clock& clock) {
  std::vector<Migration> all;
  for (const Migrations part : migrations) all.insert(all.end(), part.begin(), part.end());
  TAKT_ASSIGN(auto db, Database::open({.location = location, .sync_full = false}, clock));
  TAKT_RETURN_IF_ERROR(db->migrate(all));
  return db;
}

Result<std::unique_ptr<Database>> try_open_postgres(std::initializer_list<Migrations> migrations,
                                                    Clock& clock) {
  TAKT_ASSIGN(PostgresServer* const server, PostgresServer::shared());
  TAKT_ASSIGN(std::string uri, server->create_database());
  TAKT_ASSIGN(auto db, open_migrated(uri, migrations, clock));
  return std::make_unique<TestDatabase>(std::move(db), nullptr, std::move(uri));
}

}  // namespace

std::unique_ptr<Database> open_sqlite(std::initializer_list<Migrations> migrations, Clock& clock) {
  auto folder = std::make_unique<takt::testing::TempDir>();
  auto db = open_migrated(folder->path() / "test.db", migrations, clock);
  TAKT_CHECK(db.has_value(), db ? "" : db.error().text());
  return std::make_unique<TestDatabase>(std::move(*db), std::move(folder), "");
}

std::unique_ptr<Database> open_postgres(std::initializer_list<Migrations> migrations,
                                        Clock& clock) {
  auto db = try_open_postgres(migrations, clock);
  if (!db) {
    ADD_FAILURE() << db.error().text();
    return nullptr;
  }
  return std::move(*db);
}

std::vector<std::unique_ptr<Database>> open_both(std::initializer_list<Migrations> migrations,
                                                 Clock& clock) {
  std::vector<std::unique_ptr<Database>> both;
  both.push_back(open_sqlite(migrations, clock));
  if (auto postgres = open_postgres(migrations, clock)) both.push_back(std::move(postgres));
  return both;
}

std::vector<std::unique_ptr<Database>> open_both(Migrations migrations, Clock& clock) {
  return open_both({migrations}, clock);
}

void check_statements(Database& db, std::span<const NamedStatement> statements) {
  for (const auto& [name, sql] : statements) {
    const Params nulls(internal::count_parameters(sql));
    Status compiled;
    // EXPLAIN compiles and plans; the write is given up in any case.
    static_cast<void>(db.write([&](Tx& tx) -> Status {
      compiled = tx.query("EXPLAIN " + std::string(sql), nulls).transform([](const Rows&) {});
      return fail(Code::kConflict, "given up");
    }));
    EXPECT_TRUE(compiled) << db.dialect() << " refuses " << name << ": " << compiled.error().text();
  }
}

}  // namespace takt::store::testing
