// SPDX-License-Identifier: Apache-2.0
// Searches on both databases: what filters mean, orders, pages while rows come and go, counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "takt/store/testing/database_pair.h"
#include "takt/track/filter.h"
#include "takt/track/logged_model_service.h"
#include "takt/track/migrations.h"
#include "takt/track/track_service.h"

namespace takt::track {
namespace {

struct SearchPolicy : access::Policy {
  std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
    return access::Role::kAdmin;
  }
  Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
};

struct SearchWorld {
  explicit SearchWorld(store::Database& db) : track(db), models(db) {}
  ProjectId project{"default"};
  SearchPolicy policy;
  access::CanRead read = policy.as_server<access::Right::kRead>(project, UserId{"lin"});
  access::CanWrite write = policy.as_server<access::Right::kWrite>(project, UserId{"lin"});
  TrackService track;
  LoggedModelService models;

  RunId run(std::string name, UnixMs start, const ExperimentId& experiment = {}) {
    ClientRun asked;
    asked.experiment = experiment;
    asked.name = std::move(name);
    asked.start_ms = start;
    return track.create_run(write, asked)->id;
  }
  ExperimentId experiment(std::string name, Words tags = {}) {
    Experiment asked;
    asked.name = std::move(name);
    asked.tags = std::move(tags);
    return track.create_experiment(write, asked)->id;
  }
  void log(const RunId& id, const std::map<std::string, double>& metrics, const Words& params = {},
           const Words& tags = {}) {
    Batch batch;
    for (const auto& [key, value] : metrics)
      batch.metrics.push_back({key, {1, 0, value}, "", "", ""});
    for (const auto& [key, value] : params) batch.params.emplace_back(key, value);
    for (const auto& [key, value] : tags) batch.tags.emplace_back(key, value);
    const Status logged = track.log_batch(write, id, batch);
    ASSERT_TRUE(logged) << logged.error().text();
  }
  static RunSearch search(const std::string& filter, const std::vector<std::string>& order = {}) {
    RunSearch search{.scope = {true, {}}};
    search.filter = *parse_filter(filter, run_filter_rules());
    search.order = *parse_order(order, run_filter_rules());
    return search;
  }
  /// The names that are found, joined by spaces, over all pages of `page` each.
  std::string find(RunSearch search, std::int64_t page = 100) {
    search.limit = page;
    std::string names;
    do {
      const auto found = track.search(read, search, {}, false);
      if (!found) return found.error().text();
      for (const track::Run& run : found->runs) names += (names.empty() ? "" : " ") + run.name;
      search.page_token = found->next_page_token;
    } while (!search.page_token.empty());
    return names;
  }
  std::string find(const std::string& filter, const std::vector<std::string>& order = {},
                   std::int64_t page = 100) {
    const auto parsed = parse_filter(filter, run_filter_rules());
    if (!parsed) return parsed.error().text();
    return find(search(filter, order), page);
  }
};

template <class Body>
void on_both_databases(Body body) {
  for (const auto& db : store::testing::open_both({migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    SearchWorld world(*db);
    body(world);
  }
}

TEST(RunSearches, or_not_and_parentheses_mean_what_they_say) {
  on_both_databases([](SearchWorld& w) {
    w.log(w.run("a", 1), {{"acc", 0.9}}, {{"kind", "tree"}});
    w.log(w.run("b", 2), {{"acc", 0.5}}, {{"kind", "net"}});
    w.log(w.run("c", 3), {{"loss", 0.1}}, {{"kind", "net"}});
    w.run("d", 4);
    EXPECT_EQ(w.find("metrics.acc > 0.8 OR metrics.loss < 0.2"), "c a");
    EXPECT_EQ(w.find("params.kind = 'net' AND (metrics.acc > 0.4 OR metrics.loss > 1)"), "b");
    EXPECT_EQ(w.find("params.kind = 'net' AND metrics.acc > 0.4 OR metrics.loss < 1"), "c b");
    // NOT turns the answer around, so it finds what has no value; != does not.
    EXPECT_EQ(w.find("NOT params.kind = 'net'"), "d a");
    EXPECT_EQ(w.find("params.kind != 'net'"), "a");
    EXPECT_EQ(w.find("NOT (metrics.acc > 0.1 OR metrics.loss > 0)"), "d");
    EXPECT_EQ(w.find("NOT NOT metrics.acc > 0.8"), "a");
    EXPECT_EQ(w.find("NOT end_time > 0"), "d c b a");
    EXPECT_EQ(w.find("params.kind IN ('tree', 'other')"), "a");
    EXPECT_EQ(w.find("params.kind NOT IN ('tree')"), "c b");
    EXPECT_EQ(w.find("metrics.acc IN (0.5, 7)"), "b");
    EXPECT_EQ(w.find("metrics.acc NOT IN (0.5)"), "a");
    EXPECT_EQ(w.find("start_time IN (1, 4)"), "d a");
    EXPECT_EQ(w.find("metrics.acc IS NULL AND end_time IS NULL"), "d c");
    EXPECT_EQ(w.find("metrics.acc IS NOT NULL"), "b a");
    EXPECT_EQ(w.find("status IN ('RUNNING') AND run_name NOT IN ('a', 'b')"), "d c");
    EXPECT_EQ(w.find("run_name > 'b'"), "d c");
  });
}

TEST(RunSearches, params_compare_as_numbers_and_as_texts) {
  on_both_databases([](SearchWorld& w) {
    int start = 0;
    for (const char* value :
         {"1e-3", "0.05", "10", "-2", "9", "small", "1-2", "5e-+3", "1e999", "..", "2026-11-30"})
      w.log(w.run(value, ++start), {}, {{"lr", value}});
    EXPECT_EQ(w.find("params.lr < 0.1"), "-2 0.05 1e-3");
    EXPECT_EQ(w.find("params.lr >= 9"), "9 10");
    EXPECT_EQ(w.find("params.lr > '9'"), "small");
    EXPECT_EQ(w.find("params.lr >= '2026-01-01' AND params.lr < '2027'"), "2026-11-30");
  });
}

/// One run as the oracle knows it.
struct KnownRun {
  std::string name;
  UnixMs start = 0, end = -1;
  std::map<std::string, double> metrics;
  Words params, tags;

  Held held(const Clause& clause) const {
    const auto word = [&](const Words& words) -> Held {
      const auto found = words.find(clause.key);
      return found == words.end() ? Held{} : Held{found->second};
    };
    if (clause.entity == Entity::kMetric) {
      const auto found = metrics.find(clause.key);
      return found == metrics.end() ? Held{} : Held{found->second};
    }
    if (clause.entity == Entity::kParam) return word(params);
    if (clause.entity == Entity::kTag) return word(tags);
    if (clause.key == "start_time") return static_cast<double>(start);
    if (clause.key == "end_time") return end < 0 ? Held{} : Held{static_cast<double>(end)};
    return name;
  }
};

/// Writes filters that anyone might write.
class FilterMaker {
 public:
  explicit FilterMaker(unsigned seed) : random_(seed) {}

  std::string filter(int depth) {
    const int kind = depth == 0 ? 0 : below(5);
    if (kind <= 1) return clause();
    if (kind == 2) return "NOT " + filter(depth - 1);
    const std::string left = filter(depth - 1);
    return "(" + left + (kind == 3 ? " AND " : " OR ") + filter(depth - 1) + ")";
  }
  std::vector<std::string> order() {
    std::vector<std::string> terms;
    for (const char* key : {"metrics.m1", "params.p1", "end_time", "tags.t1"})
      if (below(3) == 0) terms.push_back(std::string(key) + (below(2) == 0 ? " DESC" : ""));
    return terms;
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

 private:
  std::string of(std::initializer_list<const char*> words) {
    return *(words.begin() + below(static_cast<int>(words.size())));
  }
  std::string number() { return of({"0", "1", "-0.5", "2.5", "1e3"}); }
  std::string text() { return of({"'a'", "'b'", "'B'", "'1'", "'2.5'", "'%'", "'a%'", "'_'"}); }
  std::string joined(const std::string& name, const std::string& compare,
                     const std::string& value) {
    return name + " " + compare + " " + value;
  }
  std::string clause() {
    const std::string compare = of({"=", "!=", "<", "<=", ">", ">="});
    const std::string metric = of({"metrics.m1", "metrics.m2"});
    const std::string word = of({"params.p1", "tags.t1", "run_name"});
    switch (below(7)) {
      case 0:
        return joined(metric, compare, number());
      case 1:
        return joined(metric, of({"IN", "NOT IN"}), "(" + number() + ", 1)");
      case 2:
        return of({"metrics.m1", "params.p1", "tags.t1", "end_time"}) +
               of({" IS NULL", " IS NOT NULL"});
      case 3:
        return joined("params.p1", of({"<", ">", "<=", ">="}), number());
      case 4:
        return joined(word, of({"LIKE", "ILIKE"}), text());
      case 5:
        return joined(of({"start_time", "end_time"}), compare, number());
      default:
        return joined(word, compare, text());
    }
  }
  std::mt19937 random_;
};

/// Forty runs with values of all kinds.
std::vector<KnownRun> make_known_runs(SearchWorld& w, FilterMaker& maker) {
  const double numbers[] = {0, 1, -0.5, 2.5, 1000, std::nan(""), INFINITY, -INFINITY};
  const char* texts[] = {"a", "b", "B", "1", "2.5", "-0.5", "", "ab"};
  std::vector<KnownRun> known;
  for (int i = 0; i < 40; ++i) {
    KnownRun made{"r" + std::to_string(i), 1 + i % 7, -1, {}, {}, {}};
    if (maker.below(3) > 0) made.metrics["m1"] = numbers[maker.below(8)];
    if (maker.below(3) > 0) made.metrics["m2"] = numbers[maker.below(8)];
    if (maker.below(3) > 0) made.params["p1"] = texts[maker.below(8)];
    if (maker.below(3) > 0) made.tags["t1"] = texts[maker.below(8)];
    if (maker.below(2) > 0) made.end = maker.below(4);
    const RunId id = w.run(made.name, made.start);
    w.log(id, made.metrics, made.params, made.tags);
    const RunChange end{RunStatus::kFinished, made.end, std::nullopt};
    EXPECT_TRUE(made.end < 0 || w.track.update_run(w.write, id, end));
    known.push_back(std::move(made));
  }
  return known;
}

TEST(RunSearches, the_databases_find_what_the_clauses_say) {
  on_both_databases([](SearchWorld& w) {
    FilterMaker maker(7);
    const std::vector<KnownRun> known = make_known_runs(w, maker);
    for (int i = 0; i < 80; ++i) {
      const std::string text = maker.filter(3);
      const auto filter = parse_filter(text, run_filter_rules());
      ASSERT_TRUE(filter) << text << ": " << filter.error().text();
      std::vector<std::string> wanted, found;
      for (const KnownRun& run : known)
        if (filter_holds(*filter, [&](const Clause& c) { return clause_holds(c, run.held(c)); }))
          wanted.push_back(run.name);
      RunSearch search = SearchWorld::search(text, maker.order());
      search.limit = 1 + maker.below(20);
      search.counts = true;
      do {
        const auto page = w.track.search(w.read, search, {}, false);
        ASSERT_TRUE(page) << text << ": " << page.error().text();
        EXPECT_EQ(page->total, static_cast<std::int64_t>(wanted.size())) << text;
        for (const track::Run& run : page->runs) found.push_back(run.name);
        search.page_token = page->next_page_token;
      } while (!search.page_token.empty());
      std::ranges::sort(found);
      std::ranges::sort(wanted);
      EXPECT_EQ(found, wanted) << text;
    }
  });
}

TEST(RunSearches, numbers_come_first_then_not_a_number_then_what_is_missing) {
  on_both_databases([](SearchWorld& w) {
    w.run("missing", 1);
    w.log(w.run("nan", 2), {{"m", std::nan("")}});
    w.log(w.run("two", 3), {{"m", 2}});
    w.log(w.run("up", 4), {{"m", INFINITY}});
    w.log(w.run("one", 5), {{"m", 1}});
    w.log(w.run("down", 6), {{"m", -INFINITY}});
    for (const std::int64_t page : {1, 2, 100}) {
      EXPECT_EQ(w.find("", {"metrics.m"}, page), "down one two up nan missing");
      EXPECT_EQ(w.find("", {"metrics.m DESC"}, page), "up two one down nan missing");
    }
  });
}

TEST(RunSearches, all_experiments_or_those_named_and_none_that_is_deleted) {
  on_both_databases([](SearchWorld& w) {
    const ExperimentId one = w.experiment("one"), two = w.experiment("two"),
                       gone = w.experiment("gone");
    w.run("a", 1, one);
    w.run("b", 2, two);
    w.run("c", 3, gone);
    ASSERT_TRUE(w.track.mark_experiment(w.write, gone, true));
    EXPECT_EQ(w.find(""), "b a");
    RunSearch deleted = SearchWorld::search("");
    deleted.view = RunView::kAll;
    EXPECT_EQ(w.find(deleted), "b a");
    deleted.scope = {false, {gone.value}};
    EXPECT_EQ(w.find(deleted), "c");
    RunSearch named = SearchWorld::search("");
    named.scope = *w.track.scope_of_ids(w.read, {two.value, "987", "x"});
    EXPECT_EQ(w.find(named), "b");
    named.scope = *w.track.scope_of_ids(w.read, {"987"});
    EXPECT_EQ(w.find(named), "") << "an unknown experiment is not all of them";
    EXPECT_EQ(w.find("experiment_name LIKE 't%'"), "b");
    EXPECT_EQ(w.find("experiment_id IN ('" + one.value + "')"), "a");
    EXPECT_EQ(w.find("", {"experiment_name DESC"}), "b a");
    EXPECT_NE(w.track.scope(w.read, {"twoo"}).error().hint.find("did you mean 'two'?"),
              std::string::npos);
    const auto other = w.policy.as_server<access::Right::kRead>(ProjectId{"other"}, UserId{"eve"});
    RunSearch theirs = SearchWorld::search("");
    EXPECT_TRUE(w.track.search(other, theirs, {}, false)->runs.empty());
    theirs.scope = {false, {one.value}};
    EXPECT_TRUE(w.track.search(other, theirs, {}, false)->runs.empty());
  });
}

TEST(RunSearches, pages_neither_repeat_nor_miss_while_runs_are_added_changed_and_deleted) {
  on_both_databases([](SearchWorld& w) {
    std::vector<RunId> ids;
    std::vector<std::string> wanted;
    for (int i = 0; i < 60; ++i) {
      ids.push_back(w.run("r" + std::to_string(i), 100 + i));
      w.log(ids.back(), {{"m", i / 10}});
      wanted.push_back("r" + std::to_string(i));
    }
    std::ranges::sort(wanted);
    const std::vector<std::vector<std::string>> orders{{}, {"metrics.m DESC"}, {"start_time ASC"}};
    for (const auto& order : orders) {
      RunSearch search = SearchWorld::search("run_name LIKE 'r%'", order);
      search.limit = 7;
      std::vector<std::string> seen;
      int added = 0;
      do {
        const auto page = w.track.search(w.read, search, {}, false);
        ASSERT_TRUE(page) << page.error().text();
        for (const track::Run& run : page->runs) seen.push_back(run.name);
        search.page_token = page->next_page_token;
        // Before, amid and after the place: new runs; changes to runs that were seen, and the end
        // of the very run that the token was made of.
        for (const UnixMs start : {1, 130, 9000})
          w.log(w.run("new" + std::to_string(added++), start), {{"m", added % 7}});
        w.log(page->runs.front().id, {{"other", 1}}, {}, {{"seen", "yes"}});
        ASSERT_TRUE(w.track.mark_run(w.write, page->runs.back().id, true));
      } while (!search.page_token.empty());
      std::ranges::sort(seen);
      EXPECT_EQ(seen, wanted);
      for (const RunId& id : ids) ASSERT_TRUE(w.track.mark_run(w.write, id, false));
    }
  });
}

TEST(RunSearches, tokens_are_for_one_search_and_garbage_is_refused) {
  on_both_databases([](SearchWorld& w) {
    for (int i = 1; i < 6; ++i) w.run("r" + std::to_string(i), i);
    RunSearch search = SearchWorld::search("start_time >= 0", {"run_name"});
    search.limit = 2;
    const auto first = w.track.search(w.read, search, {}, false);
    ASSERT_FALSE(first->next_page_token.empty());
    EXPECT_EQ(first->total, -1);
    RunSearch next = search;
    next.page_token = first->next_page_token;
    next.limit = 3;  // pages may have other sizes
    const auto second = w.track.search(w.read, next, {}, false);
    EXPECT_EQ(second->runs.size(), 3u);
    EXPECT_TRUE(second->next_page_token.empty()) << "the last page";
    const std::vector<RunSearch> others{SearchWorld::search("start_time > 0", {"run_name"}),
                                        SearchWorld::search("start_time >= 0", {"run_name DESC"}),
                                        SearchWorld::search("start_time >= 0")};
    for (RunSearch wrong : others) {
      wrong.page_token = first->next_page_token;
      EXPECT_EQ(w.track.search(w.read, wrong, {}, false).error().code, Code::kInvalid);
    }
    next.scope = {false, {"0"}};
    EXPECT_EQ(w.track.search(w.read, next, {}, false).error().code, Code::kInvalid);
    for (const char* garbage : {"garbage", "e30=", "////", "eyJwIjpbMV0sInMiOiJ4In0=", "\xff"}) {
      next = search;
      next.page_token = garbage;
      const auto refused = w.track.search(w.read, next, {}, false);
      ASSERT_FALSE(refused) << garbage;
      EXPECT_EQ(refused.error().code, Code::kInvalid);
      EXPECT_NE(refused.error().message.find("Invalid page token"), std::string::npos);
    }
  });
}

TEST(RunSearches, filters_as_deep_and_long_as_allowed_run_on_the_databases) {
  const std::string clause = "params.lr < 1";
  std::string right = clause, left = clause, negated = clause;
  for (std::size_t i = 0; i < kFilterDepthMax; ++i) {
    right = "metrics.a > 1 OR end_time < 5 AND (" + right + ")";
    left = "(" + left + ") AND end_time > 5 OR metrics.a > 1";
    negated = (i % 2 == 0 ? "NOT " : "") + ("(" + negated + ")");
    if (i % 2 == 0) ++i;  // NOT is a level too
  }
  const std::function<std::string(int)> balanced = [&](int depth) {
    if (depth == 0) return clause;
    const std::string half = balanced(depth - 1);
    return "(" + half + (depth % 2 == 0 ? " AND " : " OR ") + half + ")";
  };
  std::string list = "run_name IN ('a'";
  for (std::size_t i = 1; i < kFilterListMax; ++i) list += ",'b'";
  on_both_databases([&](SearchWorld& w) {
    w.log(w.run("a", 1), {{"a", 2}}, {{"lr", "0.5"}});
    EXPECT_EQ(w.find(right), "a");
    EXPECT_EQ(w.find(left), "a");
    EXPECT_TRUE(w.find(negated) == "a" || w.find(negated).empty()) << w.find(negated);
    EXPECT_EQ(w.find(balanced(7), {"metrics.a", "params.lr"}, 1), "a");
    EXPECT_EQ(w.find(list + ")"), "a");
  });
}

TEST(RunSearches, only_the_columns_asked_for_are_loaded) {
  on_both_databases([](SearchWorld& w) {
    w.log(w.run("a", 1), {{"acc", 1}, {"loss", 2}}, {{"lr", "3"}, {"depth", "4"}}, {{"t", "5"}});
    RunColumns columns;
    for (const char* column : {"metrics.acc", "params.`lr`", "tags.none"})
      ASSERT_TRUE(add_column(columns, column));
    for (const char* wrong : {"acc", "metrics.", "colour.x", ""}) {
      RunColumns none;
      EXPECT_EQ(add_column(none, wrong).error().field, "columns") << wrong;
    }
    const RunPage page = *w.track.search(w.read, SearchWorld::search(""), columns, false);
    const track::Run& run = page.runs.front();
    EXPECT_EQ(run.metrics.size(), 1u);
    EXPECT_EQ(run.metrics.at("acc").value, 1);
    EXPECT_EQ(run.params, (Words{{"lr", "3"}}));
    EXPECT_TRUE(run.tags.empty());
  });
}

TEST(RunSearches, values_cannot_leave_their_place_in_the_statement) {
  on_both_databases([](SearchWorld& w) {
    w.log(w.run("a", 1), {}, {{"it's", "x' OR '1'='1"}});
    EXPECT_EQ(w.find("params.`it's` = 'x'' OR ''1''=''1'"), "a");
    EXPECT_EQ(w.find("params.p = ''' OR 1=1 --'"), "");
    EXPECT_EQ(w.find("params.\"); DROP TABLE runs; --\" = 'x'"), "");
    EXPECT_EQ(w.find("", {"params.`x'); DROP TABLE runs; --`"}), "a");
  });
}

TEST(ExperimentSearches, filter_order_page_and_count) {
  on_both_databases([](SearchWorld& w) {
    for (int i = 0; i < 6; ++i)
      w.experiment("e" + std::to_string(i), {{"team", i % 2 == 0 ? "vision" : "text"}});
    const ExperimentId gone = w.experiment("gone");
    ASSERT_TRUE(w.track.mark_experiment(w.write, gone, true));
    const auto find = [&](const std::string& filter, const std::vector<std::string>& order,
                          std::int64_t page, RunView view = RunView::kActive) {
      ExperimentSearch search;
      search.view = view;
      search.limit = page;
      search.counts = true;
      search.filter = *parse_filter(filter, experiment_filter_rules());
      search.order = *parse_order(order, experiment_filter_rules());
      std::string names;
      std::int64_t total = 0;
      do {
        const auto found = w.track.search_experiments(w.read, search);
        if (!found) return found.error().text();
        for (const auto& experiment : found->experiments)
          names += (names.empty() ? "" : " ") + experiment.name;
        total = found->total;
        search.page_token = found->next_page_token;
      } while (!search.page_token.empty());
      return names + " of " + std::to_string(total);
    };
    for (const std::int64_t page : {1, 4, 100}) {
      EXPECT_EQ(find("tags.team = 'vision'", {"name DESC"}, page), "e4 e2 e0 of 3");
      EXPECT_EQ(find("name LIKE 'e%' AND NOT tag.team = 'vision'", {"name"}, page),
                "e1 e3 e5 of 3");
      EXPECT_EQ(find("name = 'e1' OR name ILIKE 'E2'", {"name"}, page), "e1 e2 of 2");
      EXPECT_EQ(find("tags.team IS NULL", {}, page), "Default of 1");
      EXPECT_EQ(find("tags.team != 'text'", {"tags.team", "name"}, page), "e0 e2 e4 of 3");
      EXPECT_EQ(find("", {}, page, RunView::kDeleted), "gone of 1");
      EXPECT_EQ(find("creation_time > 0 AND experiment_id NOT IN ('0')", {"experiment_id"}, page),
                "e0 e1 e2 e3 e4 e5 of 6");
    }
    ExperimentSearch search;
    search.limit = 2;
    const auto first = w.track.search_experiments(w.read, search);
    EXPECT_TRUE(first->experiments.front().name.starts_with("e")) << "newest first";
    EXPECT_EQ(first->experiments.front().tags.count("team"), 1u);
    EXPECT_EQ(first->total, -1);
  });
}

/// Logged models of one run, found by name.
struct ModelWorld {
  explicit ModelWorld(SearchWorld& world) : w(world), run(w.run("r", 1)) {}
  SearchWorld& w;
  RunId run;
  std::string make(const std::string& name, const char* depth) {
    return w.models
        .create(w.write, {ExperimentId{"0"}, name, "", run, {{"depth", depth}}, {{"k", name}}})
        ->id;
  }
  void measure(const std::string& id, double value, const char* dataset, UnixMs time) {
    Batch batch;
    batch.metrics.push_back({"acc", {time, 0, value}, id, dataset, "d"});
    ASSERT_TRUE(w.track.log_batch(w.write, run, batch));
  }
  std::string find(const std::string& filter, const std::vector<std::string>& order,
                   const std::vector<DatasetChoice>& datasets = {}, const DatasetChoice& by = {},
                   std::int64_t page = 1) {
    LoggedModelSearch search;
    search.scope = {false, {"0"}};
    search.datasets = datasets;
    search.limit = page;
    search.filter = *parse_filter(filter, logged_model_filter_rules());
    search.order = *parse_order(order, logged_model_filter_rules());
    search.order_datasets.assign(search.order.size(), by);
    std::string names;
    do {
      const auto found = w.models.search(w.read, search);
      if (!found) return found.error().text();
      for (const auto& model : found->models) names += (names.empty() ? "" : " ") + model.name;
      search.page_token = found->next_page_token;
    } while (!search.page_token.empty());
    return names;
  }
};

TEST(LoggedModelSearches, metrics_count_on_the_chosen_datasets_and_orders_go_by_the_latest) {
  on_both_databases([](SearchWorld& world) {
    ModelWorld w(world);
    const std::string a = w.make("a", "1"), b = w.make("b", "2"), c = w.make("c", "10");
    w.measure(a, 0.9, "train", 1);
    w.measure(a, 0.1, "test", 2);
    w.measure(b, 0.5, "train", 1);
    w.measure(b, 0.6, "test", 2);
    ASSERT_TRUE(world.models.set_status(world.write, a, "LOGGED_MODEL_READY", ""));
    EXPECT_EQ(w.find("", {"metrics.acc DESC"}), "b a c");
    EXPECT_EQ(w.find("", {"metrics.acc DESC"}, {}, {"train", ""}), "a b c");
    EXPECT_EQ(w.find("", {"metrics.acc"}, {}, {"train", "d"}, 100), "b a c");
    EXPECT_EQ(w.find("metrics.acc > 0.8", {}), "a") << "any of its values";
    EXPECT_EQ(w.find("metrics.acc > 0.8", {}, {{"test", ""}}), "");
    EXPECT_EQ(w.find("", {"name"}, {{"test", "d"}}), "a b") << "measured on it";
    EXPECT_EQ(w.find("status = 'READY' OR params.depth > 5", {"name"}), "a c");
    EXPECT_EQ(w.find("attributes.name IN ('b', 'c') AND NOT tags.k = 'b'", {}), "c");
    EXPECT_EQ(w.find("model_type IS NULL AND source_run_id = '" + w.run.value + "'", {"name"}),
              "a b c");
    ASSERT_TRUE(world.models.remove(world.write, c));
    EXPECT_EQ(w.find("", {"name"}), "a b");
  });
}

}  // namespace
}  // namespace takt::track
