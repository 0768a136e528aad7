// SPDX-License-Identifier: Apache-2.0
#include "takt/store/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "takt/base/testing/temp_dir.h"
#include "takt/content/pack.h"
#include "takt/store/blobs.h"
#include "takt/store/event_log.h"
#include "takt/store/testing/postgres_server.h"

namespace takt::store {
namespace {

namespace fs = std::filesystem;

const ProjectId kCheckedProject{"default"};

ReadBytes reading(std::string text) {
  return [text, at = std::size_t{0}](std::span<char> out) mutable -> Result<std::size_t> {
    const std::size_t size = std::min(out.size(), text.size() - at);
    std::copy_n(text.data() + at, size, out.data());
    at += size;
    return size;
  };
}

/// A store with 200 packed objects in two packs, three loose ones and some events, closed.
class CheckTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    database_ = (folder_.path() / "takt.db").string();
    if (is_postgres()) {
      auto server = testing::PostgresServer::shared();
      ASSERT_TRUE(server) << server.error().text();
      auto uri = (*server)->create_database();
      ASSERT_TRUE(uri) << uri.error().text();
      database_ = *uri;
    }
    const auto db = open();
    const auto blobs = BlobStore::open(folder_.path() / "blobs", *db);
    ASSERT_TRUE(blobs) << blobs.error().text();
    for (int pack = 0; pack < 2; ++pack) {
      content::PackWriter writer;
      for (int n = 0; n < 100; ++n) {
        const std::string bytes = "object " + std::to_string(pack * 100 + n);
        writer.add(sha256(bytes), bytes);
      }
      ASSERT_TRUE((*blobs)->add_pack(kCheckedProject, reading(writer.finish())));
    }
    for (int n = 0; n < 3; ++n) {
      const auto added =
          (*blobs)->add_bytes(kCheckedProject, "loose " + std::string(5000, 'a' + n));
      ASSERT_TRUE(added) << added.error().text();
      loose_.push_back(added->value);
    }
    ASSERT_TRUE(db->write([](Tx& tx) -> Status {
      for (int n = 0; n < 2000; ++n)
        TAKT_RETURN_IF_ERROR(append_event(
            tx,
            {.project = kCheckedProject, .verb = "x.y", .subject = {"job", std::to_string(n)}}));
      return {};
    }));
  }
  void TearDown() override {
    if (!is_postgres()) return;
    EXPECT_TRUE((*testing::PostgresServer::shared())->drop_database(database_));
  }
  bool is_postgres() const { return std::string_view(GetParam()) == "postgresql"; }
  std::unique_ptr<Database> open() {
    auto db = Database::open({.location = database_}, system_clock());
    EXPECT_TRUE(db) << db.error().text();
    const Status migrated = (*db)->migrate({});
    EXPECT_TRUE(migrated) << migrated.error().text();
    return std::move(*db);
  }
  Status run(std::string_view sql) {
    return open()->write(
        [&](Tx& tx) -> Status { return tx.exec(sql).transform([](std::int64_t) {}); });
  }
  CheckReport check(std::int64_t read_blobs = -1) {
    auto report = check_store(
        {.database = database_, .blobs = folder_.path() / "blobs", .read_blobs = read_blobs},
        system_clock());
    EXPECT_TRUE(report) << report.error().text();
    return report.value_or(CheckReport{});
  }
  fs::path loose_file(int n) const {
    return folder_.path() / "blobs/loose" / loose_[n].substr(0, 2) / loose_[n].substr(2);
  }
  fs::path any_pack() const {
    return fs::directory_iterator(folder_.path() / "blobs/packs")->path();
  }
  static void flip_byte(const fs::path& file, std::int64_t offset) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(offset);
    const char byte = static_cast<char>(stream.get() ^ 0x20);
    stream.seekp(offset);
    stream.put(byte);
    ASSERT_TRUE(stream.good());
  }
  static bool mentions(const CheckReport& report, std::string_view words) {
    return std::ranges::any_of(report.problems, [&](const std::string& problem) {
      return problem.find(words) != std::string::npos;
    });
  }

  takt::testing::TempDir folder_;
  std::string database_;
  std::vector<std::string> loose_;
};

TEST_P(CheckTest, an_undamaged_store_has_no_problem) {
  const CheckReport report = check();
  EXPECT_EQ(report.problems, std::vector<std::string>{});
  EXPECT_EQ(report.dialect, GetParam());
  EXPECT_EQ(report.events, 2000);
  EXPECT_EQ(report.blobs, 203);
  EXPECT_EQ(report.packs, 2);
  EXPECT_EQ(report.blobs_read, 203);
  EXPECT_EQ(report.orphans, 0);
  EXPECT_EQ(check(10).blobs_read, 10);
  EXPECT_EQ(check(0).blobs_read, 0);
}

TEST_P(CheckTest, a_store_in_use_can_be_checked) {
  const auto db = open();
  const auto blobs = BlobStore::open(folder_.path() / "blobs", *db);
  ASSERT_TRUE((*blobs)->add_bytes(kCheckedProject, "while it runs"));
  EXPECT_EQ(check().problems, std::vector<std::string>{});
}

TEST_P(CheckTest, a_changed_byte_of_a_blob_is_found_and_its_file_named) {
  flip_byte(loose_file(1), 2500);
  const CheckReport report = check();
  EXPECT_EQ(report.problems_found, 1);
  EXPECT_TRUE(mentions(report, loose_[1]));
  EXPECT_TRUE(mentions(report, loose_file(1).string()));
  EXPECT_EQ(check(0).problems_found, 0) << "which is why all are read by default";
}

TEST_P(CheckTest, a_changed_byte_of_a_pack_is_found) {
  const auto size = static_cast<std::int64_t>(fs::file_size(any_pack()));
  flip_byte(any_pack(), size / 3);
  const CheckReport report = check();
  EXPECT_EQ(report.problems_found, 1);
  EXPECT_TRUE(mentions(report, any_pack().string()));
}

TEST_P(CheckTest, missing_and_shortened_files_are_found_without_reading) {
  fs::remove(loose_file(0));
  fs::resize_file(loose_file(2), 100);
  EXPECT_EQ(check(0).problems_found, 2);
  fs::remove(any_pack());
  const CheckReport report = check(0);
  EXPECT_EQ(report.problems_found, 102) << "and each object of the pack";
  EXPECT_EQ(report.problems.size(), kCheckProblemsMax);
  EXPECT_TRUE(mentions(report, "is missing"));
}

TEST_P(CheckTest, a_blob_whose_pack_has_no_row_is_found) {
  ASSERT_TRUE(run("DELETE FROM packs WHERE id = 1"));
  EXPECT_TRUE(mentions(check(), "has no row"));
}

TEST_P(CheckTest, files_that_no_row_names_are_counted_and_harm_nothing) {
  std::ofstream(folder_.path() / "blobs/packs" / (std::string(64, 'e') + ".pack")) << "left";
  fs::create_directories(folder_.path() / "blobs/loose/ee");
  std::ofstream(folder_.path() / "blobs/loose/ee" / std::string(62, 'e')) << "left over";
  const CheckReport report = check();
  EXPECT_EQ(report.problems_found, 0);
  EXPECT_EQ(report.orphans, 2);
  EXPECT_EQ(report.orphan_bytes, 13);
}

TEST_P(CheckTest, a_changed_or_removed_event_is_found) {
  ASSERT_TRUE(run("UPDATE events SET actor = 'nobody' WHERE sequence = 1500"));
  CheckReport report = check(0);
  EXPECT_EQ(report.events, 1499);
  EXPECT_TRUE(mentions(report, "event 1500"));
  ASSERT_TRUE(run("DELETE FROM events WHERE sequence = 7"));
  EXPECT_TRUE(mentions(check(0), "event 7 is missing"));
}

INSTANTIATE_TEST_SUITE_P(BothDatabases, CheckTest, ::testing::Values("sqlite", "postgresql"));

class SqliteCheckTest : public CheckTest {};

TEST_P(SqliteCheckTest, a_page_of_garbage_is_found_wherever_it_is) {
  constexpr std::int64_t kPage = 4096;
  const auto pages = static_cast<std::int64_t>(fs::file_size(database_)) / kPage;
  ASSERT_GT(pages, 40);
  const std::string whole = *read_file(database_, std::size_t{64} << 20);
  for (std::int64_t page = 0; page < pages; page += 7) {
    std::string damaged = whole;
    for (std::int64_t i = 0; i < kPage; ++i)
      damaged[static_cast<std::size_t>(page * kPage + i)] = static_cast<char>(i * 37 + page);
    std::ofstream(database_, std::ios::binary | std::ios::trunc) << damaged;
    const CheckReport report = check(0);
    EXPECT_GT(report.problems_found, 0) << "page " << page + 1 << " of " << pages;
  }
  std::ofstream(database_, std::ios::binary | std::ios::trunc) << whole;
  EXPECT_EQ(check().problems, std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Sqlite, SqliteCheckTest, ::testing::Values("sqlite"));

TEST(CheckStore, a_database_that_is_not_there_is_no_report) {
  const takt::testing::TempDir folder;
  const auto report =
      check_store({.database = (folder.path() / "takt.db").string()}, system_clock());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kNotFound);
  EXPECT_FALSE(fs::exists(folder.path() / "takt.db"));
}

}  // namespace
}  // namespace takt::store
