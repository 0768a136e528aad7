// SPDX-License-Identifier: Apache-2.0
#include "takt/store/event_log.h"

#include <gtest/gtest.h>

#include <thread>

#include "takt/store/testing/database_pair.h"
#include "takt/store/testing/postgres_server.h"

namespace takt::store {
namespace {

Event event_of(std::string project, std::string verb, Ref subject) {
  return {.project = {std::move(project)},
          .actor = {"ada"},
          .verb = std::move(verb),
          .subject = std::move(subject),
          .details = Object{{"n", 1}}};
}

Status append(Database& db, const Event& event) {
  return db.write(
      [&](Tx& tx) -> Status { return append_event(tx, event).transform([](std::int64_t) {}); });
}

std::vector<Event> events_after(Database& db, std::int64_t after, const ProjectId& project = {}) {
  std::vector<Event> events;
  const Status status = db.read([&](Reader& reader) -> Status {
    TAKT_ASSIGN(events, read_events(reader, after, 1000, project));
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
  return events;
}

TEST(EventLog, an_event_comes_back_as_it_was_appended) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    Event event = event_of("default", "dataset.version-added", {"dataset", "digits@3"});
    event.after_digest = "ab12";
    ASSERT_TRUE(append(*db, event));
    const auto events = events_after(*db, 0);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].sequence, 1);
    EXPECT_GT(events[0].time_ms, 0);
    EXPECT_EQ(events[0].project.value, "default");
    EXPECT_EQ(events[0].subject, (Ref{"dataset", "digits@3"}));
    EXPECT_EQ(events[0].after_digest, "ab12");
    EXPECT_EQ(events[0].details, (Value(Object{{"n", 1}})));
    EXPECT_EQ(to_value(events[0])["subject"].as_string(), "dataset/digits@3");
  }
}

TEST(EventLog, readers_see_one_project_or_all_and_a_subject_by_its_beginning) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(append(*db, event_of("a", "x.y", {"job", "1"})));
    ASSERT_TRUE(append(*db, event_of("b", "x.y", {"job", "12"})));
    ASSERT_TRUE(append(*db, event_of("a", "x.y", {"run", "1"})));
    EXPECT_EQ(events_after(*db, 0).size(), 3u);
    EXPECT_EQ(events_after(*db, 1, {"a"}).size(), 1u);
    ASSERT_TRUE(db->read([&](Reader& reader) -> Status {
      TAKT_ASSIGN(const auto all, recent_events(reader, {}, "", 0, 10));
      EXPECT_EQ(all.size(), 3u);
      EXPECT_EQ(all.front().sequence, 3);
      TAKT_ASSIGN(const auto of_a, recent_events(reader, {"a"}, "", 0, 10));
      EXPECT_EQ(of_a.size(), 2u);
      if (!of_a.empty()) {
        EXPECT_EQ(of_a.back().sequence, 1);
      }
      TAKT_ASSIGN(const auto jobs, recent_events(reader, {}, "job/1", 0, 10));
      EXPECT_EQ(jobs.size(), 2u);
      TAKT_ASSIGN(const auto older, recent_events(reader, {"a"}, "job/1", 2, 10));
      EXPECT_EQ(older.size(), 1u);
      TAKT_ASSIGN(const auto last, last_event_sequence(reader));
      EXPECT_EQ(last, 3);
      return {};
    }));
  }
}

TEST(EventLog, a_rolled_back_event_leaves_no_gap) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(append(*db, event_of("a", "x.y", {"job", "1"})));
    EXPECT_FALSE(db->write([&](Tx& tx) -> Status {
      TAKT_ASSIGN(const std::int64_t sequence,
                  append_event(tx, event_of("a", "x.y", {"job", "2"})));
      EXPECT_EQ(sequence, 2);
      return fail(Code::kConflict, "no");
    }));
    ASSERT_TRUE(append(*db, event_of("a", "x.y", {"job", "3"})));
    const auto events = events_after(*db, 1);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].sequence, 2);
  }
}

TEST(EventLog, cursors_are_kept) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    const auto load = [&] {
      std::int64_t at = -1;
      EXPECT_TRUE(db->read([&](Reader& reader) -> Status {
        TAKT_ASSIGN(at, load_cursor(reader, "triggers"));
        return {};
      }));
      return at;
    };
    EXPECT_EQ(load(), 0);
    for (const std::int64_t at : {7, 9}) {
      ASSERT_TRUE(db->write([&](Tx& tx) { return save_cursor(tx, "triggers", at); }));
      EXPECT_EQ(load(), at);
    }
  }
}

TEST(EventLog, details_have_a_limit) {
  auto db = testing::open_sqlite();
  Event event = event_of("a", "x.y", {"job", "1"});
  event.details = Object{{"text", std::string(100'000, 'x')}};
  const Status status = append(*db, event);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kTooLarge);
}

TEST(EventLog, a_reader_that_follows_two_writing_servers_skips_nothing) {
  auto server = testing::PostgresServer::shared();
  ASSERT_TRUE(server) << server.error().text();
  const auto uri = (*server)->create_database();
  ASSERT_TRUE(uri);
  auto one = Database::open({.location = *uri}, system_clock());
  auto two = Database::open({.location = *uri}, system_clock());
  ASSERT_TRUE(one && two);
  ASSERT_TRUE((*one)->migrate({}));
  constexpr int kEach = 100;
  std::vector<std::thread> threads;
  for (Database* db : {one->get(), one->get(), two->get(), two->get()}) {
    threads.emplace_back([db] {
      for (int i = 0; i < kEach; ++i) EXPECT_TRUE(append(*db, event_of("a", "x.y", {"job", "1"})));
    });
  }
  std::int64_t cursor = 0;
  while (cursor < 4 * kEach && !::testing::Test::HasFailure()) {
    for (const Event& event : events_after(**two, cursor)) {
      ASSERT_EQ(event.sequence, cursor + 1);
      cursor = event.sequence;
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace takt::store
