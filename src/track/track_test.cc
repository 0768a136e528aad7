// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "takt/base/testing/temp_dir.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"
#include "takt/store/testing/database_pair.h"
#include "takt/track/artifact_service.h"
#include "takt/track/logged_model_service.h"
#include "takt/track/migrations.h"
#include "takt/track/resolver.h"
#include "takt/track/run_store.h"
#include "takt/track/run_writer.h"
#include "takt/track/sql.h"
#include "takt/track/track_service.h"

namespace takt::track {
namespace {

struct OpenPolicy : access::Policy {
  std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
    return access::Role::kAdmin;
  }
  Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
};

/// One database with the services on it.
struct World {
  explicit World(store::Database& db) : track(db), models(db) {}
  ProjectId project{"default"};
  OpenPolicy policy;
  access::CanRead read = policy.as_server<access::Right::kRead>(project, UserId{"lin"});
  access::CanWrite write = policy.as_server<access::Right::kWrite>(project, UserId{"lin"});
  TrackService track;
  LoggedModelService models;

  RunId run(std::string name, UnixMs start = 1000, ExperimentId experiment = {}) {
    ClientRun asked;
    asked.experiment = std::move(experiment);
    asked.name = std::move(name);
    asked.start_ms = start;
    return track.create_run(write, asked)->id;
  }
  Status metric(const RunId& id, std::string key, double value, std::int64_t step = 0,
                UnixMs time = 1) {
    Batch batch;
    batch.metrics.push_back({std::move(key), {time, step, value}, "", "", ""});
    return track.log_batch(write, id, batch);
  }
  Status param(const RunId& id, std::string key, std::string value) {
    Batch batch;
    batch.params.emplace_back(std::move(key), std::move(value));
    return track.log_batch(write, id, batch);
  }
  /// The names of the runs found, in order, joined by a space.
  std::string find(const std::string& filter, const std::vector<std::string>& order = {},
                   std::int64_t page = 100) {
    RunSearch search;
    search.scope.is_all = true;
    const auto parsed = parse_filter(filter, run_filter_rules());
    if (!parsed) return parsed.error().message;
    search.filter = *parsed;
    search.order = *parse_order(order, run_filter_rules());
    search.limit = page;
    std::string names;
    do {
      const auto found = track.search(read, search, {}, true);
      if (!found) return found.error().message;
      for (const Run& run : found->runs) names += (names.empty() ? "" : " ") + run.name;
      search.page_token = found->next_page_token;
    } while (!search.page_token.empty());
    return names;
  }
};

template <class Body>
void on_both(Body body) {
  for (const auto& db : store::testing::open_both({migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    World world(*db);
    body(world, *db);
  }
}

TEST(TrackStatements, compile_on_both_databases) {
  for (const auto& db : store::testing::open_both({migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    store::testing::check_statements(*db, sql::kAll);
  }
}

TEST(Experiments, default_is_there_and_each_project_has_its_own) {
  on_both([](World& w, store::Database&) {
    EXPECT_EQ(w.track.experiment(w.read, ExperimentId{"0"})->name, "Default");
    const auto other = w.policy.as_server<access::Right::kRead>(ProjectId{"other"}, UserId{"lin"});
    const auto theirs = w.track.experiment(other, ExperimentId{"0"});
    ASSERT_TRUE(theirs) << theirs.error().text();
    EXPECT_EQ(theirs->name, "Default");
    EXPECT_NE(theirs->id.value, "0");
    EXPECT_EQ(w.track.experiment(w.read, theirs->id).error().code, Code::kNotFound);
  });
}

TEST(Experiments, names_stay_taken_and_runs_go_and_come_with_them) {
  on_both([](World& w, store::Database&) {
    Experiment asked;
    asked.name = "digits";
    asked.tags["owner"] = "lin";
    const auto made = w.track.create_experiment(w.write, asked);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->artifact_location, "mlflow-artifacts:/" + made->id.value);
    EXPECT_EQ(w.track.create_experiment(w.write, asked).error().code, Code::kConflict);
    const RunId kept = w.run("kept", 1, made->id), gone = w.run("gone", 2, made->id);
    ASSERT_TRUE(w.track.mark_run(w.write, gone, true));
    ASSERT_TRUE(w.track.mark_experiment(w.write, made->id, true));
    EXPECT_TRUE(w.track.run(w.read, kept)->is_deleted);
    EXPECT_EQ(w.track.create_experiment(w.write, asked).error().code, Code::kConflict);
    ClientRun run;
    run.experiment = made->id;
    EXPECT_NE(
        w.track.create_run(w.write, run).error().message.find("must be in the 'active' state"),
        std::string::npos);
    ASSERT_TRUE(w.track.mark_experiment(w.write, made->id, false));
    EXPECT_FALSE(w.track.run(w.read, kept)->is_deleted);
    EXPECT_TRUE(w.track.run(w.read, gone)->is_deleted);
    EXPECT_EQ(w.track.experiment_by_name(w.read, "digits")->tags.at("owner"), "lin");
  });
}

TEST(Runs, params_stay_as_they_were_first_logged) {
  on_both([](World& w, store::Database&) {
    const RunId id = w.run("r");
    ASSERT_TRUE(w.param(id, "lr", "0.1"));
    ASSERT_TRUE(w.param(id, "lr", "0.1"));
    Batch batch;
    batch.params = {{"new", "1"}, {"lr", "0.2"}};
    batch.metrics.push_back({"acc", {1, 0, 0.5}, "", "", ""});
    const Status changed = w.track.log_batch(w.write, id, batch);
    ASSERT_FALSE(changed);
    EXPECT_NE(changed.error().message.find("Changing param values is not allowed"),
              std::string::npos);
    const track::Run run = *w.track.run(w.read, id);
    EXPECT_EQ(run.params, (Words{{"lr", "0.1"}}));
    EXPECT_TRUE(run.metrics.empty());
    batch.params = {{"a", "1"}, {"a", "1"}};
    EXPECT_NE(
        w.track.log_batch(w.write, id, batch).error().message.find("Duplicate parameter keys"),
        std::string::npos);
  });
}

TEST(Runs, a_point_twice_is_one_point_not_a_number_too) {
  on_both([](World& w, store::Database&) {
    const RunId id = w.run("r");
    const double nan = std::nan("");
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(w.metric(id, "m", 1.0, 1, 10));
      ASSERT_TRUE(w.metric(id, "m", nan, 2, 10));
      ASSERT_TRUE(w.metric(id, "m", INFINITY, 3, 10));
      ASSERT_TRUE(w.metric(id, "m", -INFINITY, 3, 9));
      ASSERT_TRUE(w.metric(id, "m", 2.0, 3, 10));
    }
    const History history = *w.track.history(w.read, id, "m", std::nullopt, 100);
    EXPECT_EQ(history.total, 5);
    ASSERT_EQ(history.points.size(), 5u);
    EXPECT_EQ(history.points[0].value, -INFINITY);
    EXPECT_TRUE(std::isnan(history.points[2].value));
    EXPECT_EQ(history.points[4].value, INFINITY);
    EXPECT_EQ(w.track.run(w.read, id)->metrics.at("m").value, INFINITY);
    const History rest = *w.track.history(w.read, id, "m", history.points[2], 100);
    EXPECT_EQ(rest.points.size(), 2u);
  });
}

TEST(Runs, a_create_with_the_same_key_gives_the_same_run) {
  on_both([](World& w, store::Database&) {
    ClientRun asked;
    asked.idempotency_key = "k1";
    asked.tags["mlflow.runName"] = "named";
    const auto first = w.track.create_run(w.write, asked),
               second = w.track.create_run(w.write, asked);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->id, second->id);
    EXPECT_EQ(second->name, "named");
    asked.name = "other";
    asked.idempotency_key.clear();
    EXPECT_NE(w.track.create_run(w.write, asked).error().message.find("mlflow.runName"),
              std::string::npos);
  });
}

TEST(Runs, the_name_and_its_tag_go_together_and_a_deleted_run_takes_nothing) {
  on_both([](World& w, store::Database&) {
    const RunId id = w.run("old");
    ASSERT_TRUE(w.track.set_tag(w.write, id, "mlflow.runName", "tagged"));
    EXPECT_EQ(w.track.run(w.read, id)->name, "tagged");
    ASSERT_TRUE(w.track.update_run(w.write, id, {std::nullopt, std::nullopt, "renamed"}));
    EXPECT_EQ(w.track.run(w.read, id)->tags.at("mlflow.runName"), "renamed");
    EXPECT_EQ(w.track.delete_tag(w.write, id, "none").error().message,
              "No tag with name: none in run with id " + id.value);
    ASSERT_TRUE(w.track.mark_run(w.write, id, true));
    EXPECT_NE(w.metric(id, "m", 1)
                  .error()
                  .message.find("The run " + id.value + " must be in the 'active' state"),
              std::string::npos);
    EXPECT_EQ(w.track.run(w.read, RunId{"x"}).error().message, "Run with id=x not found");
  });
}

TEST(Search, filters_find_and_orders_sort_over_all_pages) {
  on_both([](World& w, store::Database&) {
    const RunId a = w.run("a", 1), b = w.run("b", 2), c = w.run("c", 3), d = w.run("d", 4);
    ASSERT_TRUE(w.metric(a, "acc", 0.5));
    ASSERT_TRUE(w.metric(b, "acc", 0.9));
    ASSERT_TRUE(w.metric(c, "acc", std::nan("")));
    ASSERT_TRUE(w.param(a, "kind", "tree"));
    ASSERT_TRUE(w.param(b, "kind", "Forest_1"));
    ASSERT_TRUE(w.track.log_inputs(
        w.write, d, {{"digits", "abc", "code", "{}", "", "", {{"mlflow.data.context", "train"}}}},
        {}));
    ASSERT_TRUE(w.track.update_run(w.write, a, {RunStatus::kFinished, 10, std::nullopt}));
    for (const std::int64_t page : {1, 2, 100}) {
      EXPECT_EQ(w.find("", {}, page), "d c b a");
      EXPECT_EQ(w.find("", {"metrics.acc DESC"}, page), "b a c d");
      EXPECT_EQ(w.find("", {"metrics.acc"}, page), "a b c d");
      EXPECT_EQ(w.find("", {"params.kind", "start_time"}, page), "b a c d");
      EXPECT_EQ(w.find("", {"end_time DESC", "run_name"}, page), "a b c d");
    }
    EXPECT_EQ(w.find("metrics.acc > 0.6"), "b");
    EXPECT_EQ(w.find("metrics.acc != 0.5"), "c b");
    EXPECT_EQ(w.find("params.kind LIKE 'tr%' AND status = 'FINISHED'"), "a");
    EXPECT_EQ(w.find("params.kind LIKE 'forest%'"), "");
    EXPECT_EQ(w.find("params.kind ILIKE 'forest%'"), "b");
    EXPECT_EQ(w.find("params.kind LIKE 'Forest\\_1'"), "");
    EXPECT_EQ(w.find("params.kind != 'tree'"), "b");
    EXPECT_EQ(w.find("params.kind IS NULL"), "d c");
    EXPECT_EQ(w.find("run_id IN ('" + a.value + "', '" + c.value + "')"), "c a");
    EXPECT_EQ(w.find("start_time >= 3"), "d c");
    EXPECT_EQ(w.find("end_time <= 10"), "a");
    EXPECT_EQ(w.find("datasets.name = 'digits' AND dataset.context IN ('train')"), "d");
    EXPECT_EQ(w.find("tags.`mlflow.runName` = 'b'"), "b");
    RunSearch search;
    search.scope.experiments = {"0"};
    search.page_token = "garbage";
    EXPECT_EQ(w.track.search(w.read, search, {}, false).error().code, Code::kInvalid);
  });
}

TEST(Search, columns_are_counted_and_chosen) {
  on_both([](World& w, store::Database&) {
    const RunId a = w.run("a", 1), b = w.run("b", 2);
    ASSERT_TRUE(w.metric(a, "acc", 0.5));
    ASSERT_TRUE(w.metric(b, "acc", 0.5));
    ASSERT_TRUE(w.param(a, "lr", "1"));
    const auto columns = *w.track.columns(w.read, {false, {"0"}});
    ASSERT_EQ(columns.size(), 3u);
    EXPECT_EQ(columns[0].key, "acc");
    EXPECT_EQ(columns[0].runs, 2);
    RunSearch search;
    search.scope.experiments = {"0"};
    RunColumns chosen;
    chosen.is_restricted = true;
    chosen.metrics = {"acc"};
    const RunPage page = *w.track.search(w.read, search, chosen, false);
    EXPECT_EQ(page.runs[1].metrics.size(), 1u);
    EXPECT_TRUE(page.runs[1].params.empty());
    EXPECT_TRUE(page.runs[1].tags.empty());
  });
}

TEST(RunWriter, a_jobs_run_is_made_once_and_ends_with_the_job) {
  on_both([](World& w, store::Database& db) {
    const RunId id{std::string(32, 'a')};
    NewRun asked{w.project,          id, "digits", "train", UserId{"lin"}, {{"lr", "0.1"}},
                 {{"takt.job", "7"}}};
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(db.write([&](store::Tx& tx) { return insert_run(tx, asked); }));
    content::Manifest tree = *content::make_manifest({{"model.onnx", 3, false, sha256("abc")}});
    ASSERT_TRUE(db.write([&](store::Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(log_run_metrics(tx, w.project, id, {{"accuracy", 0.97}}));
      TAKT_RETURN_IF_ERROR(add_run_artifacts(tx, w.project, id, "model", tree));
      TAKT_RETURN_IF_ERROR(
          store::add_edge(tx, w.project, ref_of(id), "used", *parse_ref("dataset/d@1")));
      return end_run(tx, w.project, id, RunEnd::kFailed);
    }));
    const track::Run run = *w.track.run(w.read, id);
    EXPECT_EQ(run.status, RunStatus::kFailed);
    EXPECT_EQ(run.metrics.at("accuracy").value, 0.97);
    EXPECT_EQ(run.experiment_name, "digits");
    const RunLinks links = *w.track.links(w.read, run);
    EXPECT_EQ(links.job, "job/7");
    EXPECT_EQ(links.datasets.front().text(), "dataset/d@1");
    EXPECT_EQ(links.artifact_files, 1);
    std::vector<std::string> verbs;
    ASSERT_TRUE(db.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const auto events, store::read_events(reader, 0, 10));
      for (const auto& event : events) verbs.push_back(event.verb);
      return {};
    }));
    EXPECT_EQ(verbs, (std::vector<std::string>{"experiment.created", "run.created", "run.ended"}));
    RunExplainer explainer(w.track, w.policy);
    const auto why = explainer.explain(w.project, ref_of(id));
    ASSERT_TRUE(why) << why.error().text();
    EXPECT_EQ(why->state, "failed");
    EXPECT_EQ(why->next.front(), "takt why job/7");
    EXPECT_EQ(explainer.line_card(w.project, 0)->total, 1);
  });
}

TEST(LoggedModels, are_found_by_metric_on_a_dataset) {
  on_both([](World& w, store::Database&) {
    const RunId run = w.run("r");
    NewLoggedModel asked{ExperimentId{"0"}, "model",        "Agent", run,
                         {{"depth", "3"}},  {{"team", "a"}}};
    const auto first = w.models.create(w.write, asked), second = w.models.create(w.write, asked);
    ASSERT_TRUE(first && second) << first.error().text();
    EXPECT_EQ(first->artifact_uri, "mlflow-artifacts:/0/models/" + first->id + "/artifacts");
    ASSERT_TRUE(w.models.set_status(w.write, first->id, "LOGGED_MODEL_READY", ""));
    Batch batch;
    batch.metrics.push_back({"acc", {1, 0, 0.9}, first->id, "digits", "d1"});
    batch.metrics.push_back({"acc", {1, 0, 0.1}, first->id, "other", "d2"});
    batch.metrics.push_back({"acc", {1, 0, std::nan("")}, second->id, "digits", "d1"});
    ASSERT_TRUE(w.track.log_batch(w.write, run, batch));
    LoggedModelSearch search;
    search.scope.experiments = {"0"};
    search.filter = *parse_filter("metrics.acc > 0.5 AND params.depth = '3' AND status = 'READY'",
                                  logged_model_filter_rules());
    search.datasets = {{"digits", ""}};
    const auto found = w.models.search(w.read, search);
    ASSERT_TRUE(found) << found.error().text();
    ASSERT_EQ(found->models.size(), 1u);
    EXPECT_EQ(found->models[0].id, first->id);
    EXPECT_EQ(found->models[0].metrics.size(), 2u);
    ASSERT_TRUE(w.models.remove(w.write, first->id));
    EXPECT_EQ(w.models.get(w.read, first->id).error().code, Code::kNotFound);
    EXPECT_TRUE(w.models.get(w.read, first->id, true));
  });
}

TEST(Artifacts, bytes_come_back_and_folders_list) {
  testing::TempDir dir;
  const auto db = store::testing::open_sqlite({migrations()});
  const auto blobs = std::move(*store::BlobStore::open(dir.path() / "blobs", *db));
  World w(*db);
  ArtifactService artifacts(*db, *blobs);
  const RunId run = w.run("r");
  const std::string root = "0/" + run.value + "/artifacts";
  const auto put = [&](const std::string& path, std::string text) {
    return artifacts.put(
        w.write, path,
        [text, at = std::size_t{0}](std::span<char> out) mutable -> Result<std::size_t> {
          const std::size_t count = std::min(out.size(), text.size() - at);
          std::copy_n(text.data() + at, count, out.data());
          at += count;
          return count;
        });
  };
  ASSERT_TRUE(put(root + "/model/MLmodel", "hello"));
  ASSERT_TRUE(put(root + "/model/data/x.bin", std::string(300'000, 'x')));
  ASSERT_TRUE(put(root + "/a.txt", "1"));
  ASSERT_TRUE(put(root + "/a.txt", "22"));
  const auto items = *artifacts.list(w.read, root);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_TRUE(items[0].is_folder);
  EXPECT_EQ(items[1].name, "a.txt");
  EXPECT_EQ(items[1].size, 2);
  EXPECT_EQ(*blobs->read_bytes(w.project, artifacts.find(w.read, root + "/a.txt")->digest), "22");
  EXPECT_EQ(artifacts.find(w.read, root + "/model").error().code, Code::kNotFound);
  EXPECT_TRUE(artifacts.list(w.read, root + "/nothing")->empty());
  EXPECT_FALSE(put(root + "/a.txt/b", "x")) << "a file cannot be a folder";
  EXPECT_FALSE(put(root + "/model", "x")) << "a folder cannot be a file";
  EXPECT_FALSE(put(root + "/../../x", "x"));
  EXPECT_EQ(put("0/" + std::string(32, 'b') + "/artifacts/x", "x").error().code, Code::kNotFound);
  ASSERT_TRUE(artifacts.remove(w.write, root + "/model"));
  EXPECT_EQ(artifacts.list(w.read, root)->size(), 1u);
}

}  // namespace
}  // namespace takt::track
