// SPDX-License-Identifier: Apache-2.0
// What searches cost: a fixed number of statements, indexes instead of scans, no point of a history
// and no row of an experiment that is not searched.
#include <gtest/gtest.h>

#include <algorithm>

#include "takt/store/testing/database_pair.h"
#include "takt/track/experiment_search_store.h"
#include "takt/track/filter.h"
#include "takt/track/logged_model_search_store.h"
#include "takt/track/migrations.h"
#include "takt/track/run_search_store.h"
#include "takt/track/run_writer.h"

namespace takt::track {
namespace {

/// Keeps what is asked of the database.
class ListeningReader : public store::Reader {
 public:
  explicit ListeningReader(store::Reader& reader) : reader_(reader) {}
  Result<store::Rows> query(std::string_view sql, const store::Params& params = {}) override {
    asked.emplace_back(std::string(sql), params);
    return reader_.query(sql, params);
  }
  /// The lines of the plans that go through a whole table.
  std::vector<std::string> scans() {
    std::vector<std::string> found;
    for (const auto& [sql, params] : asked) {
      const auto plan = reader_.query("EXPLAIN QUERY PLAN " + sql, params);
      EXPECT_TRUE(plan) << plan.error().text();
      for (const auto& row : *plan)
        if (row.text(3).starts_with("SCAN") && !row.text(3).starts_with("SCAN CONSTANT"))
          found.push_back(row.text(3) + " of " + sql);
    }
    return found;
  }
  std::vector<std::pair<std::string, store::Params>> asked;

 private:
  store::Reader& reader_;
};

const ProjectId kProject{"default"};

void make_runs(store::Database& db, int runs, int keys) {
  ASSERT_TRUE(db.write([&](store::Tx& tx) -> Status {
    for (int i = 0; i < runs; ++i) {
      std::string id = std::to_string(i);
      id.insert(0, 32 - id.size(), 'a');
      NewRun asked{kProject, RunId{id}, "e" + std::to_string(i % 100), "r" + id, UserId{"lin"},
                   {},       {}};
      std::map<std::string, double> metrics;
      for (int k = 0; k < keys; ++k) {
        asked.params["p" + std::to_string(k)] = "x";
        asked.tags["t" + std::to_string(k)] = "x";
        metrics["m" + std::to_string(k)] = k;
      }
      TAKT_RETURN_IF_ERROR(insert_run(tx, asked));
      TAKT_RETURN_IF_ERROR(log_run_metrics(tx, kProject, RunId{id}, metrics));
    }
    return {};
  }));
}

RunSearch all_runs(const std::string& filter, const std::vector<std::string>& order) {
  RunSearch search{.scope = {true, {}}};
  search.filter = *parse_filter(filter, run_filter_rules());
  search.order = *parse_order(order, run_filter_rules());
  return search;
}

TEST(SearchCost, a_page_of_full_runs_takes_few_statements_and_reads_no_history) {
  const auto db = store::testing::open_sqlite({migrations()});
  make_runs(*db, 100, 30);
  ASSERT_TRUE(db->read([&](store::Reader& reader) -> Status {
    for (const std::int64_t limit : {1, 100}) {
      ListeningReader listening(reader);
      RunSearch search = all_runs("metrics.m1 > 0 AND params.p1 = 'x'", {"metrics.m2 DESC"});
      search.limit = limit;
      search.counts = true;
      auto page = search_runs(listening, kProject, search);
      EXPECT_TRUE(page) << page.error().text();
      TAKT_RETURN_IF_ERROR(load_run_data(listening, page->runs, {}));
      TAKT_RETURN_IF_ERROR(load_run_inputs(listening, page->runs));
      EXPECT_EQ(page->runs.size(), static_cast<std::size_t>(limit));
      EXPECT_EQ(page->runs.front().metrics.size(), 30u);
      EXPECT_LE(listening.asked.size(), 8u);
      for (const auto& [sql, params] : listening.asked)
        for (std::size_t at = sql.find("metric_"); at != std::string::npos;
             at = sql.find("metric_", at + 1))
          EXPECT_TRUE(sql.substr(at).starts_with("metric_latest")) << sql;
      EXPECT_EQ(listening.scans(), std::vector<std::string>{});
    }
    return {};
  }));
}

TEST(SearchCost, runs_of_a_hundred_experiments_are_counted_in_one_statement) {
  const auto db = store::testing::open_sqlite({migrations()});
  make_runs(*db, 400, 1);
  ASSERT_TRUE(db->read([&](store::Reader& reader) -> Status {
    ListeningReader listening(reader);
    RunSearch search = all_runs("", {});
    search.limit = 1;
    search.counts = true;
    const auto page = search_runs(listening, kProject, search);
    EXPECT_EQ(page->total, 400);
    EXPECT_LE(listening.asked.size(), 3u);
    EXPECT_EQ(listening.scans(), std::vector<std::string>{});
    return {};
  }));
}

TEST(SearchCost, the_newest_runs_come_from_an_index_without_sorting) {
  const auto db = store::testing::open_sqlite({migrations()});
  make_runs(*db, 20, 1);
  ASSERT_TRUE(db->read([&](store::Reader& reader) -> Status {
    for (const RunScope& scope : {RunScope{true, {}}, RunScope{false, {"1"}}}) {
      ListeningReader listening(reader);
      RunSearch search = all_runs("", {});
      search.scope = scope;
      search.limit = 1;
      const auto first = search_runs(listening, kProject, search);
      search.page_token = first->next_page_token;
      EXPECT_TRUE(search.page_token.empty() || search_runs(listening, kProject, search));
      for (const auto& [sql, params] : listening.asked) {
        if (sql.find("ORDER BY") == std::string::npos) continue;
        const auto plan = reader.query("EXPLAIN QUERY PLAN " + sql, params);
        std::string text;
        for (const auto& row : *plan) text += row.text(3) + "\n";
        EXPECT_EQ(text.find("TEMP B-TREE"), std::string::npos) << sql << "\n" << text;
        EXPECT_NE(text.find("COVERING INDEX"), std::string::npos) << text;
      }
    }
    return {};
  }));
}

TEST(SearchCost, experiments_and_logged_models_are_found_through_indexes) {
  const auto db = store::testing::open_sqlite({migrations()});
  make_runs(*db, 5, 1);
  ASSERT_TRUE(db->read([&](store::Reader& reader) -> Status {
    ListeningReader listening(reader);
    ExperimentSearch experiments;
    experiments.filter = *parse_filter("tags.a = 'b' OR name LIKE 'e%'", experiment_filter_rules());
    experiments.counts = true;
    EXPECT_TRUE(search_experiments(listening, kProject, experiments));
    LoggedModelSearch models;
    models.scope.experiments = {"1"};
    models.filter =
        *parse_filter("metrics.a > 1 AND NOT tags.b = 'c'", logged_model_filter_rules());
    models.order = *parse_order({"metrics.a"}, logged_model_filter_rules());
    models.datasets = {{"d", ""}};
    models.counts = true;
    EXPECT_TRUE(search_logged_models(listening, kProject, models));
    EXPECT_EQ(listening.scans(), std::vector<std::string>{});
    return {};
  }));
}

}  // namespace
}  // namespace takt::track
