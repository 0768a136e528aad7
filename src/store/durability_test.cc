// SPDX-License-Identifier: Apache-2.0
// What was acknowledged survives kill -9 and a power cut; what failed left nothing.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "takt/base/testing/temp_dir.h"
#include "takt/store/database.h"
#include "takt/store/testing/lossy_vfs.h"

namespace takt::store {
namespace {

constexpr Migration kNotes[] = {
    {"20260201000000_notes", "CREATE TABLE notes (id INTEGER NOT NULL PRIMARY KEY) STRICT;"}};

std::unique_ptr<Database> open_notes(const std::string& path, bool sync_full = true) {
  auto db = Database::open({.location = path, .sync_full = sync_full}, system_clock());
  TAKT_CHECK(db.has_value(), "open");
  TAKT_CHECK((*db)->migrate(kNotes).has_value(), "migrate");
  return std::move(*db);
}

Status add_note(Database& db, std::int64_t id) {
  return db.write([&](Tx& tx) -> Status {
    return tx.exec("INSERT INTO notes (id) VALUES (?1)", {id}).transform([](std::int64_t) {});
  });
}

bool has_note(Database& db, std::int64_t id) {
  bool found = false;
  const Status status = db.read([&](Reader& reader) -> Status {
    TAKT_ASSIGN(const auto row, reader.find("SELECT 1 FROM notes WHERE id = ?1", {id}));
    found = row.has_value();
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
  return found;
}

/// Four threads write notes and report each acknowledged one on the pipe, until killed.
[[noreturn]] void write_until_killed(const std::string& path, int pipe) {
  auto db = open_notes(path);
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t id = t;; id += 4) {
        if (!add_note(*db, id)) std::abort();
        if (::write(pipe, &id, sizeof id) != sizeof id) std::abort();
      }
    });
  }
  threads[0].join();
  std::abort();
}

TEST(Durability, acknowledged_writes_survive_a_killed_process) {
  const takt::testing::TempDir folder;
  const std::string path = folder.path() / "test.db";
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) write_until_killed(path, pipe[1]);
  ::close(pipe[1]);
  std::vector<std::int64_t> acknowledged;
  std::int64_t id = 0;
  while (acknowledged.size() < 500 && ::read(pipe[0], &id, sizeof id) == sizeof id) {
    acknowledged.push_back(id);
  }
  ::kill(child, SIGKILL);
  while (::read(pipe[0], &id, sizeof id) == sizeof id) acknowledged.push_back(id);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  ASSERT_GE(acknowledged.size(), 500u);

  auto db = open_notes(path);
  for (const std::int64_t known : acknowledged) ASSERT_TRUE(has_note(*db, known)) << known;
}

/// The events that are there after a process wrote three and died at the commit that `fault` names.
std::int64_t events_after_fault(const char* fault) {
  const takt::testing::TempDir folder;
  const std::string path = folder.path() / "test.db";
  {
    auto db = open_notes(path);
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("TAKT_FAULT_COMMIT", fault, 1);
    auto db = open_notes(path);
    for (std::int64_t id = 0; id < 3; ++id) {
      if (!add_note(*db, id)) std::abort();  // not counted: no event
      const Status status =
          db->write([](Tx& tx) { return tx.next_number("events").transform([](std::int64_t) {}); });
      if (!status) std::abort();
    }
    std::abort();
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  auto db = open_notes(path);
  std::int64_t next = 0;
  EXPECT_TRUE(db->write([&](Tx& tx) -> Status {
    TAKT_ASSIGN(next, tx.next_number("events"));
    return {};
  }));
  return next - 1;
}

TEST(Durability, a_fault_before_the_second_commit_leaves_one_event) {
  EXPECT_EQ(events_after_fault("before:2"), 1);
}

TEST(Durability, a_fault_after_the_second_commit_leaves_two_events) {
  EXPECT_EQ(events_after_fault("after:2"), 2);
}

/// How many of 50 acknowledged notes a power cut leaves.
int notes_after_power_cut(bool sync_full) {
  const takt::testing::TempDir folder;
  testing::LossyVfs vfs;
  {
    auto db = open_notes(folder.path() / "test.db", sync_full);
    for (std::int64_t id = 0; id < 50; ++id) EXPECT_TRUE(add_note(*db, id));
    const Status copied =
        vfs.copy_as_after_power_cut(folder.path() / "test.db", folder.path() / "cut.db");
    EXPECT_TRUE(copied) << copied.error().text();
  }
  auto db = open_notes(folder.path() / "cut.db");
  int found = 0;
  for (std::int64_t id = 0; id < 50; ++id) found += has_note(*db, id) ? 1 : 0;
  return found;
}

TEST(Durability, acknowledged_writes_survive_a_power_cut) {
  EXPECT_EQ(notes_after_power_cut(true), 50);
}

TEST(Durability, the_power_cut_of_the_test_does_lose_what_was_not_synced) {
  EXPECT_LT(notes_after_power_cut(false), 50);
}

TEST(Durability, a_commit_that_the_disk_refuses_fails_all_of_its_group) {
  const takt::testing::TempDir folder;
  testing::LossyVfs vfs;
  auto db = open_notes(folder.path() / "test.db");
  ASSERT_TRUE(add_note(*db, 1));
  vfs.fail_writes(SQLITE_FULL);
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (std::int64_t id = 10; id < 18; ++id) {
    threads.emplace_back([&, id] {
      const Status status = add_note(*db, id);
      if (!status && status.error().code == Code::kExhausted) ++refused;
    });
  }
  for (std::thread& thread : threads) thread.join();
  vfs.fail_writes(0);
  EXPECT_EQ(refused, 8);
  for (std::int64_t id = 10; id < 18; ++id) EXPECT_FALSE(has_note(*db, id)) << id;
  EXPECT_TRUE(has_note(*db, 1));
  EXPECT_TRUE(add_note(*db, 10)) << "the database works again once there is room";
}

}  // namespace
}  // namespace takt::store
