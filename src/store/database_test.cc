// SPDX-License-Identifier: Apache-2.0
#include "takt/store/database.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <latch>
#include <limits>
#include <set>
#include <thread>

#include "takt/base/file.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/store/event_log.h"
#include "takt/store/sql.h"
#include "takt/store/testing/database_pair.h"
#include "takt/store/testing/postgres_server.h"

namespace takt::store {
namespace {

constexpr Migration kThings[] = {{"20260201000000_things", R"(
  CREATE TABLE things (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    weight REAL,
    data BLOB,
    size INTEGER
  ) STRICT;
  CREATE TABLE parts (
    thing INTEGER NOT NULL REFERENCES things (id),
    number INTEGER NOT NULL CHECK (number > 0),
    PRIMARY KEY (thing, number)
  ) STRICT, WITHOUT ROWID;)"}};

constexpr std::string_view kInsert = "INSERT INTO things (name, size) VALUES (?1, ?2)";

Status insert(Database& db, const std::string& name, Cell size = {}) {
  return db.write([&](Tx& tx) -> Status {
    return tx.exec(kInsert, {name, size}).transform([](std::int64_t) {});
  });
}

Rows rows_of(Database& db, std::string_view sql, const Params& params = {}) {
  Rows rows;
  const Status status = db.read([&](Reader& reader) -> Status {
    TAKT_ASSIGN(rows, reader.query(sql, params));
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
  return rows;
}

std::int64_t count_things(Database& db) {
  return rows_of(db, "SELECT COUNT(*) FROM things").at(0).integer(0);
}

TEST(Database, the_stores_own_statements_compile) {
  for (auto& db : testing::open_both()) testing::check_statements(*db, sql::kAll);
}

TEST(Database, cells_come_back_as_they_were_bound) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    const Bytes bytes{std::string("a\0\xff\\x00'", 8)};
    const std::string text = "Grüße 'quoted' \\ 漢字";
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<Params> cases{{text, 0.1, bytes, std::numeric_limits<std::int64_t>::min()},
                                    {std::string("empty"), -inf, Bytes{}, std::int64_t{0}},
                                    {std::string("max"), 1.7976931348623157e308, std::monostate{},
                                     std::numeric_limits<std::int64_t>::max()},
                                    {std::string("tiny"), 5e-324, Bytes{"x"}, std::monostate{}},
                                    {std::string(""), inf, Bytes{"x"}, std::int64_t{-1}}};
    for (const Params& params : cases) {
      ASSERT_TRUE(db->write([&](Tx& tx) -> Status {
        return tx
            .exec("INSERT INTO things (name, weight, data, size) VALUES (?1, ?2, ?3, ?4)", params)
            .transform([](std::int64_t n) { EXPECT_EQ(n, 1); });
      }));
      const Rows rows =
          rows_of(*db, "SELECT name, weight, data, size FROM things WHERE name = ?1", {params[0]});
      ASSERT_EQ(rows.size(), 1u);
      for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[0].cell(i), params[i]) << i;
    }
    EXPECT_EQ(rows_of(*db, "SELECT id FROM things ORDER BY id").at(4).integer(0), 5);
  }
}

TEST(Database, a_null_parameter_takes_the_type_that_the_statement_implies) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(insert(*db, "a", std::int64_t{1}));
    ASSERT_TRUE(insert(*db, "b", std::int64_t{2}));
    constexpr std::string_view kFilter =
        "SELECT name FROM things WHERE (?1 IS NULL OR size = ?1) AND (?2 IS NULL OR name = ?2)";
    EXPECT_EQ(rows_of(*db, kFilter, {{}, {}}).size(), 2u);
    EXPECT_EQ(rows_of(*db, kFilter, {std::int64_t{2}, {}}).size(), 1u);
    EXPECT_EQ(rows_of(*db, kFilter, {{}, std::string("a")}).size(), 1u);
    EXPECT_EQ(rows_of(*db, kFilter, {std::int64_t{2}, std::string("a")}).size(), 0u);
    EXPECT_EQ(rows_of(*db, "SELECT ?1 IS NULL", {{}}).at(0).integer(0), 1);
    EXPECT_EQ(rows_of(*db, "SELECT name FROM things WHERE size > COALESCE(?1, 1)", {{}}).size(),
              1u);
    EXPECT_EQ(rows_of(*db, "SELECT ?1 - 60000", {std::int64_t{1'800'000'000'000}}).at(0).integer(0),
              1'799'999'940'000);
  }
}

TEST(Database, sums_averages_and_truths_have_the_same_types_on_both) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(insert(*db, "a", std::int64_t{1}));
    ASSERT_TRUE(insert(*db, "b", std::int64_t{2}));
    const Rows rows = rows_of(*db,
                              "SELECT SUM(size), AVG(size), COUNT(*), MAX(size) > 1, "
                              "EXISTS (SELECT 1 FROM things), CAST(MAX(size) AS TEXT) FROM things");
    EXPECT_EQ(rows.at(0).integer(0), 3);
    EXPECT_EQ(rows.at(0).real(1), 1.5);
    EXPECT_EQ(rows.at(0).integer(2), 2);
    EXPECT_EQ(rows.at(0).integer(3), 1);
    EXPECT_EQ(rows.at(0).integer(4), 1);
    EXPECT_EQ(rows.at(0).text(5), "2");
  }
}

TEST(Database, text_is_ordered_by_bytes_and_like_minds_case) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    for (const char* name : {"b", "B", "a", "ä", "A_1"}) ASSERT_TRUE(insert(*db, name));
    std::string order;
    for (const Row& row : rows_of(*db, "SELECT name FROM things ORDER BY name")) {
      order += row.text(0) + " ";
    }
    EXPECT_EQ(order, "A_1 B a b ä ");
    EXPECT_EQ(
        rows_of(*db, "SELECT name FROM things ORDER BY name COLLATE \"C\" DESC").at(0).text(0),
        "ä");
    EXPECT_EQ(rows_of(*db, "SELECT 1 FROM things WHERE name LIKE ?1", {std::string("b%")}).size(),
              1u);
  }
}

TEST(Database, what_neither_engine_can_hold_is_refused) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    const Status nul = insert(*db, std::string("a\0b", 3));
    ASSERT_FALSE(nul);
    EXPECT_EQ(nul.error().code, Code::kInvalid);
    const Status nan = insert(*db, "a", std::nan(""));
    ASSERT_FALSE(nan);
    EXPECT_EQ(nan.error().code, Code::kInvalid);
    const Status count = db->write([&](Tx& tx) -> Status {
      return tx.exec(kInsert, {std::string("a")}).transform([](std::int64_t) {});
    });
    ASSERT_FALSE(count);
    EXPECT_EQ(count.error().code, Code::kInternal);
  }
}

TEST(Database, a_violated_constraint_is_a_conflict_that_names_it) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(insert(*db, "a"));
    const Status twice = insert(*db, "a");
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().code, Code::kConflict);
    EXPECT_NE(twice.error().message.find("name"), std::string::npos) << twice.error().message;
    for (const char* part : {"INSERT INTO parts (thing, number) VALUES (99, 1)",
                             "INSERT INTO parts (thing, number) VALUES (1, 0)"}) {
      const Status broken =
          db->write([&](Tx& tx) -> Status { return tx.exec(part).transform([](std::int64_t) {}); });
      ASSERT_FALSE(broken) << part;
      EXPECT_EQ(broken.error().code, Code::kConflict);
    }
  }
}

TEST(Database, after_a_failed_statement_the_closure_fails_as_well) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(insert(*db, "a"));
    const Status status = db->write([&](Tx& tx) -> Status {
      EXPECT_TRUE(tx.exec(kInsert, {std::string("b"), {}}));
      EXPECT_FALSE(tx.exec(kInsert, {std::string("a"), {}}));
      EXPECT_FALSE(tx.exec(kInsert, {std::string("c"), {}}));
      return {};
    });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kConflict);
    EXPECT_EQ(count_things(*db), 1);
  }
}

TEST(Database, many_writers_share_commits_and_each_fails_alone) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    std::atomic<int> refused = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 30; ++i) {
          const bool should_fail = i % 3 == 2;
          const Status status = db->write([&](Tx& tx) -> Status {
            TAKT_ASSIGN(const std::int64_t number, tx.next_number("things"));
            TAKT_RETURN_IF_ERROR(
                tx.exec(kInsert, {std::to_string(t) + "/" + std::to_string(i), number}));
            if (should_fail && i % 2 == 0) return fail(Code::kDenied, "no");
            if (should_fail) TAKT_RETURN_IF_ERROR(tx.exec("INSERT INTO parts VALUES (-1, -1)"));
            return {};
          });
          EXPECT_EQ(bool(status), !should_fail);
          if (!status) ++refused;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(refused, 80);
    const Rows rows = rows_of(*db, "SELECT COUNT(*), MIN(size), MAX(size) FROM things");
    EXPECT_EQ(rows.at(0).integer(0), 160);
    EXPECT_EQ(rows.at(0).integer(1), 1);
    EXPECT_EQ(rows.at(0).integer(2), 160) << "numbers without gaps";
  }
}

TEST(Database, a_read_sees_one_snapshot_and_cannot_write) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(insert(*db, "a"));
    ASSERT_TRUE(db->read([&](Reader& reader) -> Status {
      TAKT_ASSIGN(const Rows before, reader.query("SELECT COUNT(*) FROM things"));
      EXPECT_TRUE(insert(*db, "b"));
      TAKT_ASSIGN(const Rows after, reader.query("SELECT COUNT(*) FROM things"));
      EXPECT_EQ(before.at(0).integer(0), after.at(0).integer(0));
      return {};
    }));
    EXPECT_EQ(count_things(*db), 2);
    EXPECT_FALSE(db->read([&](Reader& reader) -> Status {
      return reader.query("INSERT INTO things (name) VALUES ('c')").transform([](const Rows&) {});
    }));
    EXPECT_EQ(count_things(*db), 2) << "the reader works on after its error";
  }
}

TEST(Database, a_query_ends_at_its_deadline) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    const Status status =
        db->read(Deadline::after_ms(system_clock(), 50), [&](Reader& reader) -> Status {
          return reader
              .query(
                  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                  "WHERE i < 100000000) SELECT COUNT(*) FROM n")
              .transform([](const Rows&) {});
        });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kTimeout);
    EXPECT_EQ(count_things(*db), 0);
  }
}

TEST(Database, waiting_writes_are_bounded_in_number_and_time) {
  const takt::testing::TempDir folder;
  auto db = Database::open({.location = folder.path() / "t.db", .queue_max = 1}, system_clock());
  ASSERT_TRUE(db);
  std::latch is_running(1);
  std::latch may_end(1);
  std::thread first([&] {
    EXPECT_TRUE((*db)->write([&](Tx&) -> Status {
      is_running.count_down();
      may_end.wait();
      return {};
    }));
  });
  is_running.wait();
  const auto nothing = [](Tx&) -> Status { return {}; };
  const Status late = (*db)->write(Deadline::after_ms(system_clock(), 20), nothing);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kTimeout);

  // Of two more, whichever comes first waits and the other is refused.
  std::latch is_refused(1);
  std::atomic<int> done = 0;
  const auto try_write = [&] {
    const Status status = (*db)->write(nothing);
    if (status) {
      ++done;
    } else {
      EXPECT_EQ(status.error().code, Code::kUnavailable);
      is_refused.count_down();
    }
  };
  std::thread second(try_write);
  std::thread third(try_write);
  is_refused.wait();
  may_end.count_down();
  for (std::thread* thread : {&first, &second, &third}) thread->join();
  EXPECT_EQ(done, 1);
}

TEST(Database, readers_of_the_log_are_woken_by_events_only) {
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    std::atomic<int> wakes = 0;
    db->on_commit([&] { ++wakes; });
    ASSERT_TRUE(insert(*db, "a"));
    EXPECT_FALSE(db->write([](Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(append_event(tx, {.verb = "x.y", .subject = {"job", "1"}}));
      return fail(Code::kConflict, "no");
    }));
    ASSERT_TRUE(db->write([](Tx& tx) -> Status {
      return append_event(tx, {.verb = "x.y", .subject = {"job", "1"}}).transform([](std::int64_t) {
      });
    }));
    ASSERT_TRUE(insert(*db, "b"));  // the writer has come past the wake-up
    EXPECT_EQ(wakes, 1);
  }
}

TEST(Database, a_backup_is_a_database_with_all_that_was_committed) {
  const takt::testing::TempDir folder;
  for (auto& db : testing::open_both(kThings)) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(insert(*db, "a"));
    const std::string path = folder.path() / "backup.db";
    const Status status = db->backup_to(path);
    if (db->dialect() == "postgresql") {
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, Code::kInvalid);
      continue;
    }
    ASSERT_TRUE(status) << status.error().text();
    EXPECT_FALSE(db->backup_to(path)) << "an existing file is kept";
    auto copy = Database::open({.location = path}, system_clock());
    ASSERT_TRUE(copy);
    EXPECT_TRUE((*copy)->migrate(kThings));
    EXPECT_EQ(count_things(**copy), 1);
  }
}

TEST(Database, a_file_that_is_no_database_is_refused_by_name) {
  const takt::testing::TempDir folder;
  const std::string path = folder.path() / "t.db";
  ASSERT_TRUE(write_file_durably(path, std::string(5000, 'x')));
  const auto db = Database::open({.location = path}, system_clock());
  ASSERT_FALSE(db);
  EXPECT_NE(db.error().message.find(path), std::string::npos);
}

TEST(Database, a_lost_connection_is_restored_for_the_next_write_and_read) {
  auto server = testing::PostgresServer::shared();
  ASSERT_TRUE(server) << server.error().text();
  const auto uri = (*server)->create_database();
  ASSERT_TRUE(uri);
  auto db = Database::open({.location = *uri}, system_clock());
  ASSERT_TRUE(db);
  ASSERT_TRUE((*db)->migrate(kThings));
  ASSERT_TRUE(insert(**db, "a"));
  EXPECT_EQ(count_things(**db), 1);
  ASSERT_TRUE((*server)->cut_connections(*uri));
  const Status status = insert(**db, "b");
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_EQ(count_things(**db), 2);
}

TEST(Database, a_write_that_lost_its_connection_halfway_runs_again) {
  auto server = testing::PostgresServer::shared();
  ASSERT_TRUE(server) << server.error().text();
  const auto uri = (*server)->create_database();
  ASSERT_TRUE(uri);
  auto db = Database::open({.location = *uri}, system_clock());
  ASSERT_TRUE(db);
  ASSERT_TRUE((*db)->migrate(kThings));
  int runs = 0;
  const Status status = (*db)->write([&](Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(tx.exec(kInsert, {std::string("a"), {}}));
    if (++runs == 1) TAKT_RETURN_IF_ERROR((*server)->cut_connections(*uri));
    TAKT_RETURN_IF_ERROR(tx.exec(kInsert, {std::string("b"), {}}));
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(count_things(**db), 2);
}

}  // namespace
}  // namespace takt::store
