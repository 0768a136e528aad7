// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "takt/store/database.h"
#include "takt/store/testing/database_pair.h"

namespace takt::store {
namespace {

constexpr Migration kFirst{"20260201000000_first", "CREATE TABLE a (x INTEGER NOT NULL) STRICT;"};
constexpr Migration kSecond{"20260202000000_second",
                            "ALTER TABLE a ADD COLUMN y TEXT NOT NULL DEFAULT '';"};

Status migrate(Database& db, std::vector<Migration> migrations) { return db.migrate(migrations); }

bool works(Database& db, std::string_view sql) {
  return db
      .read(
          [&](Reader& reader) -> Status { return reader.query(sql).transform([](const Rows&) {}); })
      .has_value();
}

TEST(Migrate, missing_ones_are_applied_in_the_order_of_their_names) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(migrate(*db, {kSecond, kFirst}));
    EXPECT_TRUE(works(*db, "SELECT x, y FROM a"));
    ASSERT_TRUE(migrate(*db, {kFirst, kSecond})) << "again changes nothing";
  }
}

TEST(Migrate, a_later_program_adds_its_own) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(migrate(*db, {kFirst}));
    EXPECT_FALSE(works(*db, "SELECT y FROM a"));
    ASSERT_TRUE(migrate(*db, {kFirst, kSecond}));
    EXPECT_TRUE(works(*db, "SELECT y FROM a"));
  }
}

TEST(Migrate, a_newer_database_is_refused_and_named) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(migrate(*db, {kFirst, kSecond}));
    const Status status = migrate(*db, {kFirst});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kConflict);
    EXPECT_NE(status.error().message.find("second"), std::string::npos);
  }
}

TEST(Migrate, a_changed_text_is_refused) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(migrate(*db, {kFirst}));
    const Status status = migrate(*db, {{kFirst.name, "CREATE TABLE a (x TEXT) STRICT;"}});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kConflict);
  }
}

TEST(Migrate, a_broken_one_leaves_nothing_of_itself) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    const Status status = migrate(
        *db, {kFirst,
              {"20260203000000_third", "CREATE TABLE b (x INTEGER); INSERT INTO c VALUES (1);"}});
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("20260203000000_third"), std::string::npos);
    EXPECT_TRUE(works(*db, "SELECT x FROM a")) << "the one before it stays";
    EXPECT_FALSE(works(*db, "SELECT x FROM b"));
    ASSERT_TRUE(migrate(*db, {kFirst, {"20260203000000_third", "CREATE TABLE b (x INTEGER);"}}));
  }
}

TEST(Migrate, a_table_that_others_refer_to_can_be_rebuilt) {
  auto db = testing::open_sqlite();
  ASSERT_TRUE(migrate(*db, {{"1",
                             "CREATE TABLE p (id INTEGER PRIMARY KEY) STRICT;"
                             "CREATE TABLE c (p INTEGER REFERENCES p (id)) STRICT;"
                             "INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);"}}));
  const Migration first{"1",
                        "CREATE TABLE p (id INTEGER PRIMARY KEY) STRICT;"
                        "CREATE TABLE c (p INTEGER REFERENCES p (id)) STRICT;"
                        "INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);"};
  const Status dangling = migrate(*db, {first, {"2", "DELETE FROM p;"}});
  ASSERT_FALSE(dangling);
  EXPECT_NE(dangling.error().message.find("refers to a missing row"), std::string::npos);
  const Status rebuilt = migrate(*db, {first,
                                       {"2",
                                        "CREATE TABLE p2 (id INTEGER PRIMARY KEY, n TEXT) STRICT;"
                                        "INSERT INTO p2 (id) SELECT id FROM p; DROP TABLE p;"
                                        "ALTER TABLE p2 RENAME TO p;"}});
  EXPECT_TRUE(rebuilt) << rebuilt.error().text();
}

}  // namespace
}  // namespace takt::store
