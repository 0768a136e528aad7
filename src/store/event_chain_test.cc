// SPDX-License-Identifier: Apache-2.0
#include "takt/store/event_chain.h"

#include <gtest/gtest.h>

#include "takt/base/testing/temp_dir.h"
#include "takt/store/event_log.h"
#include "takt/store/testing/database_pair.h"

namespace takt::store {
namespace {

constexpr int kEvents = 7;

Event event_number(int n) {
  return {.project = {n % 2 == 0 ? "a" : "b"},
          .actor = {"ada"},
          .verb = "x.done",
          .subject = {"job", std::to_string(n)},
          .details = Object{{"n", n}}};
}

void append_all(Database& db, int count = kEvents) {
  const Status status = db.write([&](Tx& tx) -> Status {
    for (int n = 1; n <= count; ++n) TAKT_RETURN_IF_ERROR(append_event(tx, event_number(n)));
    return {};
  });
  ASSERT_TRUE(status) << status.error().text();
}

Status change(Database& db, std::string_view sql) {
  return db.write([&](Tx& tx) -> Status { return tx.exec(sql).transform([](std::int64_t) {}); });
}

ChainCheck check(Database& db, std::string expected = {}) {
  auto found = verify_event_chain(db, std::move(expected));
  EXPECT_TRUE(found) << found.error().text();
  return found.value_or(ChainCheck{});
}

TEST(EventChain, an_untouched_log_is_intact_and_names_its_head) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    EXPECT_TRUE(check(*db).is_intact()) << "an empty log";
    append_all(*db);
    const ChainCheck found = check(*db);
    EXPECT_TRUE(found.is_intact()) << found.broken_reason;
    EXPECT_EQ(found.events, kEvents);
    EXPECT_EQ(found.head_sequence, kEvents);
    ASSERT_EQ(found.head.size(), 64u);
    // A head that was kept is found again after the log has grown.
    append_all(*db, 3);
    EXPECT_EQ(check(*db, found.head).expected_sequence, kEvents);
    EXPECT_EQ(check(*db, std::string(64, '0')).expected_sequence, 0);
  }
}

TEST(EventChain, appends_of_one_transaction_and_of_many_chain_alike) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    append_all(*db, 2100);
    for (int n = 0; n < 5; ++n) append_all(*db, 1);
    const ChainCheck found = check(*db);
    EXPECT_TRUE(found.is_intact()) << found.broken_reason;
    EXPECT_EQ(found.events, 2105) << "over more than one batch";
  }
}

TEST(EventChain, every_column_of_every_event_is_covered) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    append_all(*db);
    for (const std::string column : {"project", "actor", "verb", "subject", "before_digest",
                                     "after_digest", "details", "time_ms", "hash"}) {
      for (const int n : {1, 4, kEvents}) {
        const std::string at = " WHERE sequence = " + std::to_string(n);
        const bool is_number = column == "time_ms";
        ASSERT_TRUE(change(*db, "UPDATE events SET " + column + " = " + column +
                                    (is_number ? " + 1" : " || '0'") + at));
        const ChainCheck found = check(*db);
        EXPECT_EQ(found.broken_sequence, n) << column;
        EXPECT_EQ(found.events, n - 1);
        ASSERT_TRUE(
            change(*db, "UPDATE events SET " + column + " = " +
                            (is_number ? "time_ms - 1"
                                       : "substr(" + column + ", 1, length(" + column + ") - 1)") +
                            at));
      }
    }
    EXPECT_TRUE(check(*db).is_intact()) << "all was put back";
  }
}

TEST(EventChain, a_byte_that_moves_from_one_field_to_the_next_is_found) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    append_all(*db);
    ASSERT_TRUE(change(*db, "UPDATE events SET actor = 'adax', verb = '.done' WHERE sequence = 3"));
    EXPECT_EQ(check(*db).broken_sequence, 3);
  }
}

TEST(EventChain, a_removed_swapped_or_inserted_event_is_found) {
  struct Case {
    std::string name;
    std::vector<std::string> changes;
    std::int64_t broken;
  };
  const std::string copy =
      "INSERT INTO events (sequence, time_ms, project, actor, verb, subject, before_digest, "
      "after_digest, details, hash) SELECT ";
  const std::string columns =
      ", time_ms, project, actor, verb, subject, before_digest, after_digest, details, hash "
      "FROM events WHERE sequence = 7";
  const std::vector<Case> cases = {
      {"the first removed", {"DELETE FROM events WHERE sequence = 1"}, 1},
      {"one removed", {"DELETE FROM events WHERE sequence = 4"}, 4},
      {"one removed and the rest moved up",
       {"DELETE FROM events WHERE sequence = 4",
        "UPDATE events SET sequence = 4 WHERE sequence = 5",
        "UPDATE events SET sequence = 5 WHERE sequence = 6",
        "UPDATE events SET sequence = 6 WHERE sequence = 7",
        "UPDATE counters SET value = 6 WHERE name = 'events'"},
       4},
      {"the end cut", {"DELETE FROM events WHERE sequence > 5"}, 6},
      {"two swapped",
       {"UPDATE events SET sequence = 100 WHERE sequence = 2",
        "UPDATE events SET sequence = 2 WHERE sequence = 3",
        "UPDATE events SET sequence = 3 WHERE sequence = 100"},
       2},
      {"a copy at the end", {copy + "8" + columns}, 8},
      {"a copy before the first", {copy + "0" + columns}, 0},
      {"a copy far behind", {copy + "99" + columns}, 8},
  };
  for (const Case& wanted : cases) {
    for (auto& db : testing::open_both()) {
      SCOPED_TRACE(wanted.name + " on " + std::string(db->dialect()));
      append_all(*db);
      for (const std::string& sql : wanted.changes) ASSERT_TRUE(change(*db, sql));
      const ChainCheck found = check(*db);
      EXPECT_FALSE(found.is_intact());
      EXPECT_EQ(found.broken_sequence, wanted.broken) << found.broken_reason;
    }
  }
}

TEST(EventChain, a_cut_that_also_turns_the_counter_back_is_found_by_a_kept_head) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    append_all(*db);
    const std::string kept = check(*db).head;
    ASSERT_TRUE(change(*db, "DELETE FROM events WHERE sequence > 5"));
    ASSERT_TRUE(change(*db, "UPDATE counters SET value = 5 WHERE name = 'events'"));
    const ChainCheck found = check(*db, kept);
    EXPECT_TRUE(found.is_intact());
    EXPECT_EQ(found.expected_sequence, 0);
  }
}

TEST(EventChain, events_of_an_older_version_are_chained_once) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    append_all(*db, 2200);
    const std::string head = check(*db).head;
    ASSERT_TRUE(change(*db, "UPDATE events SET hash = '' WHERE sequence > 10"));
    EXPECT_EQ(check(*db).broken_sequence, 11);
    ASSERT_TRUE(chain_old_events(*db));
    EXPECT_EQ(check(*db).head, head);
    append_all(*db, 1);
    EXPECT_TRUE(check(*db).is_intact());
    // Not a second time: a log whose hashes were taken away is not chained anew.
    ASSERT_TRUE(change(*db, "UPDATE events SET hash = '' WHERE sequence > 10"));
    ASSERT_TRUE(chain_old_events(*db));
    EXPECT_EQ(check(*db).broken_sequence, 11);
  }
}

TEST(EventChain, what_a_rolled_back_write_appended_leaves_no_trace) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    append_all(*db);
    EXPECT_FALSE(db->write([](Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(append_event(tx, event_number(1)));
      return fail(Code::kInvalid, "given up");
    }));
    append_all(*db);
    const ChainCheck found = check(*db);
    EXPECT_TRUE(found.is_intact()) << found.broken_reason;
    EXPECT_EQ(found.events, 2 * kEvents);
  }
}

TEST(EventChain, its_text_is_that_of_the_format) {
  // docs/formats/event-log.md, computed by hand: printf '…' | sha256sum.
  EXPECT_EQ(chain_hash("", {1, 1000, "default", "ada", "x.done", "job/1", "", "", "{}"}),
            "750f52b374a395b3b45eace1a6036db376852dfa5831e09f3836279ae7129620");
}

}  // namespace
}  // namespace takt::store
