// SPDX-License-Identifier: Apache-2.0
#include "takt/store/move.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "takt/base/digest.h"
#include "takt/base/file.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/store/event_chain.h"
#include "takt/store/event_log.h"
#include "takt/store/testing/postgres_server.h"

namespace takt::store {
namespace {

constexpr Migration kTables{"20260201000000_tables",
                            "CREATE TABLE parent (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;"
                            "CREATE TABLE child (id INTEGER PRIMARY KEY, parent TEXT NOT NULL "
                            "REFERENCES parent (name)) STRICT;"
                            "CREATE TABLE kinds (\"order\" INTEGER NOT NULL, x REAL, t TEXT, "
                            "b BLOB) STRICT;"
                            "INSERT INTO parent (name) VALUES ('default');"};

class MoveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = testing::PostgresServer::shared();
    ASSERT_TRUE(server) << server.error().text();
    auto uri = (*server)->create_database();
    ASSERT_TRUE(uri) << uri.error().text();
    uri_ = *uri;
    auto db = open(file());
    fill(*db);
  }
  void TearDown() override {
    EXPECT_TRUE((*testing::PostgresServer::shared())->drop_database(uri_));
  }
  std::string file() const { return (folder_.path() / "takt.db").string(); }
  std::unique_ptr<Database> open(const std::string& location) {
    auto db = Database::open({.location = location, .sync_full = false}, system_clock());
    EXPECT_TRUE(db) << db.error().text();
    const Status migrated = (*db)->migrate({&kTables, 1});
    EXPECT_TRUE(migrated) << migrated.error().text();
    return std::move(*db);
  }
  static void fill(Database& db) {
    const Status filled = db.write([](Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(tx.exec("INSERT INTO parent (name) VALUES (?1)", {std::string("p")}));
      for (std::int64_t n = 1; n <= 5000; ++n)
        TAKT_RETURN_IF_ERROR(tx.exec("INSERT INTO child (id, parent) VALUES (?1, ?2)",
                                     {n * 3, std::string(n % 2 == 0 ? "p" : "default")}));
      const std::string insert = "INSERT INTO kinds (\"order\", x, t, b) VALUES (?1, ?2, ?3, ?4)";
      const Cell odd_bytes = Bytes{std::string("\0\xff\\\n\t\r", 6)};
      for (const double x : {0.1, -0.0, 1e308, 5e-324, 3.0, std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()})
        TAKT_RETURN_IF_ERROR(
            tx.exec(insert, {std::int64_t{1}, x, std::string("a\tb\nc\\d\\N\r\"'ä中"), odd_bytes}));
      TAKT_RETURN_IF_ERROR(tx.exec(insert, {std::numeric_limits<std::int64_t>::min(),
                                            std::monostate{}, std::string("\\N"), Bytes{}}));
      TAKT_RETURN_IF_ERROR(tx.exec(insert, {std::numeric_limits<std::int64_t>::max(),
                                            std::monostate{}, std::monostate{}, std::monostate{}}));
      for (int n = 0; n < 3; ++n)
        TAKT_RETURN_IF_ERROR(append_event(
            tx, {.project = {"default"}, .verb = "x.y", .subject = {"job", std::to_string(n)}}));
      return {};
    });
    ASSERT_TRUE(filled) << filled.error().text();
  }
  Result<MoveReport> move() {
    return move_to_postgres(file(), uri_, {&kTables, 1}, system_clock());
  }
  std::int64_t count(const std::string& table) {
    std::int64_t rows = -1;
    const Status read = open(uri_)->read([&](Reader& reader) -> Status {
      TAKT_ASSIGN(const Rows found, reader.query("SELECT COUNT(*) FROM " + table));
      rows = found.at(0).integer(0);
      return {};
    });
    EXPECT_TRUE(read) << read.error().text();
    return rows;
  }

  takt::testing::TempDir folder_;
  std::string uri_;
};

TEST_F(MoveTest, every_cell_of_every_table_arrives_and_the_file_stays_as_it_was) {
  const std::string before = sha256(*read_file(file())).value;
  const auto report = move();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(sha256(*read_file(file())).value, before);
  EXPECT_EQ(count("child"), 5000);
  EXPECT_EQ(count("parent"), 2);
  EXPECT_EQ(count("kinds"), 9);
  std::int64_t rows = 0;
  for (const MovedTable& table : report->tables) rows += table.rows;
  EXPECT_EQ(report->rows, rows);
  const auto db = open(uri_);
  const auto chain = verify_event_chain(*db);
  ASSERT_TRUE(chain) << chain.error().text();
  EXPECT_TRUE(chain->is_intact()) << chain->broken_reason;
  EXPECT_EQ(chain->events, 3);
}

TEST_F(MoveTest, numbers_go_on_where_they_were) {
  ASSERT_TRUE(move());
  const auto db = open(uri_);
  std::int64_t id = 0;
  const Status written = db->write([&](Tx& tx) -> Status {
    TAKT_ASSIGN(const Rows made, tx.query("INSERT INTO child (parent) VALUES ('p') RETURNING id"));
    id = made.at(0).integer(0);
    return append_event(tx, {.project = {"default"}, .verb = "x.y", .subject = {"job", "9"}})
        .transform([](std::int64_t) {});
  });
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_EQ(id, 15'001);
  EXPECT_TRUE(verify_event_chain(*db)->is_intact());
}

TEST_F(MoveTest, a_database_in_use_is_refused_and_left_alone) {
  fill(*open(uri_));
  const auto report = move();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kConflict);
  EXPECT_NE(report.error().message.find("in use"), std::string::npos) << report.error().text();
  EXPECT_EQ(count("child"), 5000);
}

TEST_F(MoveTest, what_cannot_arrive_whole_does_not_arrive_at_all_and_a_second_try_may) {
  {
    // Text that is no UTF-8, as only a damaged file has it: PostgreSQL refuses it.
    const auto db = open(file());
    ASSERT_TRUE(db->write([](Tx& tx) -> Status {
      return tx.exec("UPDATE kinds SET t = CAST(?1 AS TEXT)", {Bytes{"\xff\xfe"}})
          .transform([](std::int64_t) {});
    }));
  }
  const auto report = move();
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("table kinds"), std::string::npos) << report.error().text();
  EXPECT_EQ(count("child"), 0);
  EXPECT_EQ(count("events"), 0);
  {
    const auto db = open(file());
    ASSERT_TRUE(db->write([](Tx& tx) -> Status {
      return tx.exec("UPDATE kinds SET t = 'mended'").transform([](std::int64_t) {});
    }));
  }
  const auto again = move();
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(count("child"), 5000);
}

TEST_F(MoveTest, another_versions_database_is_refused) {
  const Migration later{"20260301000000_later", "CREATE TABLE later (x INTEGER NOT NULL) STRICT;"};
  const std::vector<Migration> both = {kTables, later};
  const auto report = move_to_postgres(file(), uri_, both, system_clock());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kConflict);
  EXPECT_NE(report.error().hint.find("start and stop"), std::string::npos);
}

}  // namespace
}  // namespace takt::store
