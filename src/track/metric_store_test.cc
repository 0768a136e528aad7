// SPDX-License-Identifier: Apache-2.0
#include "takt/track/metric_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "takt/base/rng.h"
#include "takt/store/testing/database_pair.h"
#include "takt/track/many_rows.h"
#include "takt/track/metric_fold_store.h"
#include "takt/track/metric_folder.h"
#include "takt/track/migrations.h"
#include "takt/track/sql.h"

namespace takt::track {
namespace {

const RunId kRun{std::string(32, 'a')};

struct ByPlace {
  bool operator()(const Point& a, const Point& b) const { return comes_before(a, b); }
};
using Model = std::map<std::string, std::set<Point, ByPlace>>;

template <class Body>
void on_both(Body body) {
  for (const auto& db : store::testing::open_both({migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    body(*db);
  }
}

bool log(store::Database& db, const std::vector<Metric>& metrics, const RunId& run = kRun) {
  bool is_full = false;
  const Status status = db.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(is_full, store_points(tx, run, metrics));
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
  return is_full;
}

bool log_many(store::Database& db, std::string key, std::int64_t from, std::int64_t to,
              const RunId& run = kRun) {
  std::vector<Metric> metrics;
  for (std::int64_t i = from; i < to; ++i)
    metrics.push_back({key, {i, i, static_cast<double>(i) / 2}, "", "", ""});
  return log(db, metrics, run);
}

bool fold(store::Database& db, const FoldLimits& limits = {}) {
  bool has_more = false;
  const Status status = db.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(has_more, fold_some(tx, limits));
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
  return has_more;
}

Result<std::vector<Point>> read_all(store::Database& db, const std::string& key, std::size_t page,
                                    const RunId& run = kRun) {
  std::vector<Point> all;
  const Status status = db.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto series, find_series(reader, run, key));
    if (!series) return {};
    while (true) {
      // Each page begins anew behind the last point, as pages of a client do.
      PointReader points(reader, *series, all.empty() ? std::nullopt : std::optional(all.back()));
      const std::size_t before = all.size();
      TAKT_RETURN_IF_ERROR(points.read(page, all));
      if (all.size() < before + page) break;
    }
    if (static_cast<std::int64_t>(all.size()) != series->points)
      return fail(Code::kInternal, "counted " + std::to_string(series->points) + ", read " +
                                       std::to_string(all.size()));
    return {};
  });
  if (!status) return std::unexpected(status.error());
  return all;
}

std::int64_t count(store::Database& db, const std::string& table) {
  std::int64_t rows = -1;
  EXPECT_TRUE(db.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto row, reader.find("SELECT COUNT(*) FROM " + table));
    rows = row->integer(0);
    return {};
  }));
  return rows;
}

/// What is stored is the model, in order, whatever the size of the pages.
void expect_model(store::Database& db, const Model& model, Rng& rng) {
  for (const auto& [key, points] : model) {
    const auto read = read_all(db, key, 1 + rng.below(700));
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_TRUE(std::ranges::equal(*read, points, is_same_point)) << key;
    ASSERT_TRUE(db.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const auto series, find_series(reader, kRun, key));
      const Point latest = *std::ranges::max_element(
          points, [](const Point& a, const Point& b) { return is_later(b, a); });
      EXPECT_TRUE(is_same_point(series->latest, latest)) << key;
      EXPECT_LE(series->folded, series->points);
      return {};
    }));
  }
}

Point any_point(Rng& rng, std::int64_t now) {
  constexpr double kValues[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 0.25, 1e300};
  const bool is_late = rng.below(5) == 0;
  const std::int64_t time =
      is_late ? static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(now) + 1)) : now;
  return {time, static_cast<std::int64_t>(rng.below(4)),
          rng.below(3) == 0 ? kValues[rng.below(std::size(kValues))] : rng.uniform()};
}

TEST(MetricStore, what_is_stored_is_read_back_before_during_and_after_folds) {
  on_both([](store::Database& db) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      SCOPED_TRACE(seed);
      ASSERT_TRUE(db.write([](store::Tx& tx) { return remove_points(tx, kRun); }));
      Rng rng(seed);
      Model model;
      std::vector<Metric> before;
      for (int round = 0; round < 40; ++round) {
        std::vector<Metric> batch;
        const std::size_t size = rng.below(3) == 0 ? 1 : 1 + rng.below(300);
        for (std::size_t i = 0; i < size; ++i) {
          const std::string key = "m" + std::to_string(rng.below(3));
          const std::int64_t now = round * 100 + static_cast<std::int64_t>(i / 3);
          batch.push_back({key, any_point(rng, now), "", "", ""});
          if (!before.empty() && rng.below(6) == 0)
            batch.push_back(before[rng.below(before.size())]);
        }
        log(db, batch);
        for (const Metric& metric : batch) model[metric.key].insert(metric.point);
        before.insert(before.end(), batch.begin(), batch.end());
        const FoldLimits limits{1 + rng.below(500), 1 + rng.below(4), 1 + rng.below(3)};
        if (rng.below(2) == 0) fold(db, limits);
        if (round % 8 != 0) continue;
        ASSERT_NO_FATAL_FAILURE(expect_model(db, model, rng));
      }
      ASSERT_TRUE(db.write([](store::Tx& tx) { return fold_ended_run(tx, kRun); }));
      while (fold(db, {500, 4, 3})) {
      }
      ASSERT_NO_FATAL_FAILURE(expect_model(db, model, rng));
      EXPECT_EQ(count(db, "metric_folds"), 0);
      EXPECT_LT(count(db, "metric_head"), 3 * 16);
      // The whole again, as clients do that log a model: nothing is new.
      for (std::size_t at = 0; at < before.size(); at += 1000)
        log(db, {before.begin() + static_cast<long>(at),
                 before.begin() + static_cast<long>(std::min(at + 1000, before.size()))});
      ASSERT_NO_FATAL_FAILURE(expect_model(db, model, rng));
      EXPECT_LT(count(db, "metric_head"), 3 * 16) << "points in chunks are not stored twice";
    }
  });
}

TEST(MetricStore, a_full_head_is_due_and_becomes_one_chunk) {
  on_both([](store::Database& db) {
    EXPECT_FALSE(log_many(db, "loss", 0, 199));
    EXPECT_FALSE(fold(db));
    EXPECT_EQ(count(db, "metric_chunks"), 0);
    EXPECT_TRUE(log_many(db, "loss", 199, 200));
    EXPECT_FALSE(log_many(db, "loss", 200, 210)) << "it was due before";
    EXPECT_FALSE(fold(db));
    EXPECT_EQ(count(db, "metric_chunks"), 2);
    EXPECT_EQ(count(db, "metric_head"), 0);
    EXPECT_EQ(read_all(db, "loss", 1000)->size(), 210u);
  });
}

TEST(MetricStore, a_step_does_no_more_than_its_limits) {
  on_both([](store::Database& db) {
    for (int i = 0; i < 5; ++i) log_many(db, "k" + std::to_string(i), 0, 1000);
    EXPECT_TRUE(fold(db, {300, 32, 16}));
    EXPECT_EQ(count(db, "metric_head"), 4700);
    EXPECT_TRUE(fold(db, {100'000, 32, 2}));
    EXPECT_EQ(count(db, "metric_folds"), 3);
    EXPECT_FALSE(fold(db, {100'000, 32, 16}));
    EXPECT_EQ(count(db, "metric_head"), 0);
    // Points between all chunks: each step rewrites as many as it may.
    std::vector<Metric> between;
    for (std::int64_t i = 0; i < 1000; i += 4) between.push_back({"k0", {i, i, -1}, "", "", ""});
    EXPECT_TRUE(log(db, between));
    EXPECT_TRUE(fold(db, {100'000, 2, 16}));
    EXPECT_GT(count(db, "metric_head"), 0);
    EXPECT_EQ(read_all(db, "k0", 77)->size(), 1250u);
    while (fold(db, {100'000, 2, 16})) {
    }
    EXPECT_EQ(count(db, "metric_head"), 0);
    EXPECT_EQ(read_all(db, "k0", 77)->size(), 1250u);
  });
}

TEST(MetricStore, a_fold_that_does_not_commit_changes_nothing) {
  on_both([](store::Database& db) {
    log_many(db, "loss", 0, 500);
    fold(db, {250, 32, 16});
    const auto before = *read_all(db, "loss", 1000);
    const std::int64_t head = count(db, "metric_head"), chunks = count(db, "metric_chunks");
    EXPECT_FALSE(db.write([](store::Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(fold_some(tx));
      return fail(Code::kInternal, "given up");
    }));
    EXPECT_EQ(count(db, "metric_head"), head);
    EXPECT_EQ(count(db, "metric_chunks"), chunks);
    EXPECT_EQ(count(db, "metric_folds"), 1);
    EXPECT_TRUE(std::ranges::equal(before, *read_all(db, "loss", 1000), is_same_point));
    EXPECT_FALSE(*MetricFolder(db).step());
    EXPECT_EQ(count(db, "metric_head"), 0);
  });
}

TEST(MetricStore, many_points_at_one_time_are_in_order_over_chunks_and_pages) {
  on_both([](store::Database& db) {
    std::vector<Metric> metrics;
    for (std::int64_t i = 0; i < 900; ++i)
      metrics.push_back({"m", {5, i / 300, static_cast<double>(i % 300)}, "", "", ""});
    std::ranges::reverse(metrics);
    log(db, metrics);
    while (fold(db)) {
    }
    const auto read = read_all(db, "m", 13);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_TRUE(std::ranges::is_sorted(*read, comes_before));
    EXPECT_EQ(read->size(), 900u);
  });
}

TEST(MetricStore, a_broken_chunk_is_named_and_stops_no_other_series) {
  on_both([](store::Database& db) {
    log_many(db, "bad", 0, 1000);
    while (fold(db)) {
    }
    ASSERT_TRUE(db.write([](store::Tx& tx) -> Status {
      return tx.exec("UPDATE metric_chunks SET data = ?1 WHERE last_ms = 399", {store::Bytes{"no"}})
          .transform([](std::int64_t) {});
    }));
    EXPECT_EQ(read_all(db, "bad", 1000).error().code, Code::kInternal);
    std::vector<Metric> late;
    for (std::int64_t i = 0; i < 400; ++i)
      late.push_back({"bad", {i < 100 ? 150 : i < 200 ? 300 : 1000 + i, i, -2}, "", "", ""});
    EXPECT_TRUE(log(db, late));
    log_many(db, "good", 0, 300);
    while (fold(db)) {
    }
    EXPECT_EQ(read_all(db, "good", 1000)->size(), 300u);
    EXPECT_EQ(count(db, "metric_folds"), 0);
  });
}

TEST(MetricStore, a_run_of_many_metrics_stores_and_finds_each) {
  on_both([](store::Database& db) {
    for (int from = 0; from < 3000; from += 1000) {
      std::vector<Metric> metrics;
      for (int i = from; i < from + 1000; ++i)
        metrics.push_back({"m" + std::to_string(i), {1, 0, 1.0 * i}, "", "", ""});
      log(db, metrics);
      log(db, metrics);
    }
    EXPECT_EQ(count(db, "metric_latest"), 3000);
    EXPECT_EQ(count(db, "metric_head"), 3000);
    EXPECT_EQ(read_all(db, "m2999", 10)->front().value, 2999);
    ASSERT_TRUE(db.write([](store::Tx& tx) { return remove_points(tx, kRun); }));
    EXPECT_EQ(count(db, "metric_head"), 0);
  });
}

TEST(MetricStore, rows_of_an_earlier_version_become_head_rows_and_are_folded) {
  const auto all = migrations();
  const auto is_old = [](const store::Migration& m) { return m.name < "20261130001000"; };
  std::vector<store::Migration> old;
  std::ranges::copy_if(all, std::back_inserter(old), is_old);
  ASSERT_LT(old.size(), all.size());
  for (const auto& db : store::testing::open_both({store::testing::Migrations(old)})) {
    SCOPED_TRACE(db->dialect());
    ASSERT_TRUE(db->write([](store::Tx& tx) -> Status {
      for (const std::string key : {"a", "b"})
        for (std::int64_t i = 0; i < (key == "a" ? 450 : 3); ++i)
          TAKT_RETURN_IF_ERROR(
              tx.exec("INSERT INTO metric_points (run, key, timestamp_ms, step, is_nan, value) "
                      "VALUES (?1, ?2, ?3, ?3, ?4, 0.0)",
                      {kRun.value, key, i, std::int64_t{i % 2}}));
      for (const auto& [key, points] : {std::pair{"a", 450}, {"b", 3}})
        TAKT_RETURN_IF_ERROR(tx.exec(
            "INSERT INTO metric_latest (run, key, timestamp_ms, step, is_nan, value, points) "
            "VALUES (?1, ?2, 1, 1, 0, 0.0, ?3)",
            {kRun.value, std::string(key), std::int64_t{points}}));
      return {};
    }));
    const Status migrated = db->migrate(all);
    ASSERT_TRUE(migrated) << migrated.error().text();
    EXPECT_EQ(count(*db, "metric_head"), 453);
    EXPECT_EQ(read_all(*db, "a", 100)->size(), 450u);
    log_many(*db, "c", 0, 1);
    while (fold(*db)) {
    }
    EXPECT_EQ(count(*db, "metric_head"), 4);
    EXPECT_EQ(read_all(*db, "a", 100)->size(), 450u);
    EXPECT_TRUE(std::isnan(read_all(*db, "b", 100)->at(1).value));
    EXPECT_EQ(read_all(*db, "c", 100)->size(), 1u);
  }
}

TEST(ManyRows, come_in_four_sizes_that_compile_on_both_databases) {
  const ManyRows insert(sql::kInsertHead), latest(sql::kStoreLatest), find(sql::kFindManySeries);
  on_both([&](store::Database& db) {
    for (const std::size_t size : {1, 4, 16, 64})
      store::testing::check_statements(db, std::vector<store::testing::NamedStatement>{
                                               {"insert_head", insert.text_for(size)},
                                               {"store_latest", latest.text_for(size)},
                                               {"find_many_series", find.text_for(size)}});
  });
  EXPECT_EQ(find.text_for(5).substr(find.text_for(5).find("(VALUES")),
            "(VALUES (?1, ?2), (?3, ?4), (?5, ?6), (?7, ?8));");
}

}  // namespace
}  // namespace takt::track
