// SPDX-License-Identifier: Apache-2.0
#include "takt/track/run_diff.h"

#include <gtest/gtest.h>

#include <cmath>

#include "takt/base/testing/temp_dir.h"
#include "takt/data/dataset_service.h"
#include "takt/data/migrations.h"
#include "takt/store/testing/database_pair.h"
#include "takt/track/migrations.h"
#include "takt/track/run_writer.h"

namespace takt::track {
namespace {

struct OpenPolicy : access::Policy {
  std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
    return access::Role::kAdmin;
  }
  Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
};

struct World {
  explicit World(std::unique_ptr<store::Database> database)
      : db(std::move(database)),
        blobs(std::move(*store::BlobStore::open(dir.path() / "blobs", *db))),
        datasets(*db, *blobs),
        track(*db) {}
  testing::TempDir dir;
  std::unique_ptr<store::Database> db;
  std::unique_ptr<store::BlobStore> blobs;
  data::DatasetService datasets;
  TrackService track;
  ProjectId project{"default"};
  OpenPolicy policy;
  access::CanRead read = policy.as_server<access::Right::kRead>(project, UserId{"lin"});
  access::CanWrite write = policy.as_server<access::Right::kWrite>(project, UserId{"lin"});

  Digest tree(const std::vector<std::pair<std::string, std::string>>& files) {
    std::vector<content::Entry> entries;
    for (const auto& [path, text] : files)
      entries.push_back(
          {path, static_cast<std::int64_t>(text.size()), false, *blobs->add_bytes(project, text)});
    return *blobs->add_tree(project, *content::make_manifest(std::move(entries)));
  }
  RunId run(char id, const Words& params, const Words& tags,
            const std::map<std::string, double>& metrics) {
    const RunId made{std::string(32, id)};
    EXPECT_TRUE(db->write([&](store::Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(
          insert_run(tx, {project, made, "e", "train", UserId{"lin"}, params, tags}));
      return log_run_metrics(tx, project, made, metrics);
    }));
    return made;
  }
  RunDiff diff(const RunId& a, const RunId& b, const DiffOptions& options = {}) {
    auto found = diff_runs(track, *blobs, read, a, b, options);
    EXPECT_TRUE(found) << found.error().text();
    return found ? *found : RunDiff{};
  }
};

template <class Body>
void on_both(Body body) {
  for (auto& db : store::testing::open_both({data::migrations(), migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    World world(std::move(db));
    body(world);
  }
}

TEST(RunDiff, shows_code_environment_data_params_settings_and_metrics) {
  on_both([](World& w) {
    const Digest old_code = w.tree(
        {{"a.bin", std::string("\0\1", 2)}, {"gone.sh", "exit\n"}, {"train.py", "x = 1\ny = 2\n"}});
    const Digest new_code = w.tree(
        {{"a.bin", std::string("\0\2", 2)}, {"new.py", "pass\n"}, {"train.py", "x = 1\ny = 3\n"}});
    const Digest old_lock = *w.blobs->add_bytes(w.project, "numpy==1.26.0\npandas==2.0\n");
    const Digest new_lock = *w.blobs->add_bytes(w.project, "numpy==2.0.1\npandas==2.0\n");
    for (const char* text : {"x\n1\n2\n", "x\n1\n2\n3\n"})
      ASSERT_TRUE(w.datasets.add_version(w.write, "d", w.tree({{"d.csv", text}}), {}, ""));
    const RunId a = w.run('a', {{"lr", "0.1"}, {"k", "1"}},
                          {{"takt.code", old_code.value},
                           {"takt.environment", old_lock.value},
                           {"takt.input.train", "dataset/d@1"},
                           {"takt.input.same", "dataset/d@1"},
                           {"takt.seed", "7"},
                           {"takt.command", R"(["sh","a.sh"])"}},
                          {{"accuracy", 0.9}, {"loss", 1}, {"system/cpu", 3}});
    const RunId b = w.run('b', {{"lr", "0.2"}, {"k", "1"}, {"extra", "x"}},
                          {{"takt.code", new_code.value},
                           {"takt.environment", new_lock.value},
                           {"takt.input.train", "dataset/d@2"},
                           {"takt.input.same", "dataset/d@1"},
                           {"takt.seed", "8"},
                           {"takt.command", R"(["sh","a.sh"])"}},
                          {{"accuracy", 0.8}, {"loss", 1}, {"f1", 2}, {"system/cpu", 4}});
    const RunDiff diff = w.diff(a, b);
    ASSERT_EQ(diff.code.files.size(), 4u);
    EXPECT_EQ(diff.code.files[0].path, "a.bin");
    EXPECT_EQ(diff.code.files[0].note, "no text");
    EXPECT_EQ(diff.code.files[1].change, "removed");
    EXPECT_EQ(diff.code.files[2].change, "added");
    EXPECT_EQ(diff.code.files[3].diff, "@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3\n");
    ASSERT_EQ(diff.environment.packages.size(), 1u);
    EXPECT_EQ(diff.environment.packages[0].after, "2.0.1");
    EXPECT_EQ(diff.environment.same, 1);
    ASSERT_EQ(diff.data.size(), 1u);
    EXPECT_EQ(diff.data[0].name, "train");
    ASSERT_TRUE(diff.data[0].before_counts && diff.data[0].after_counts);
    EXPECT_EQ(diff.data[0].before_counts->rows, 2);
    EXPECT_EQ(diff.data[0].after_counts->rows, 3);
    EXPECT_EQ(diff.same_data, 1);
    ASSERT_EQ(diff.params.size(), 2u);
    EXPECT_FALSE(diff.params[0].before);
    ASSERT_EQ(diff.settings.size(), 1u);
    EXPECT_EQ(diff.settings[0].name, "seed");
    ASSERT_EQ(diff.metrics.size(), 2u);
    EXPECT_EQ(diff.metrics[0].name, "accuracy");
    EXPECT_EQ(diff.same_metrics, 1);
    EXPECT_EQ(diff.verdict, DiffVerdict::kDifferent);
    EXPECT_EQ(diff.first_difference, "code: a.bin was changed");
    const Value value = to_value(diff, {});
    EXPECT_EQ(value["metrics"]["items"].as_array()[1].text_or("name", ""), "f1");
    EXPECT_EQ(value.text_or("verdict", ""), "different");
  });
}

TEST(RunDiff, a_run_is_equal_to_itself_and_unknown_ones_are_named) {
  on_both([](World& w) {
    const RunId a = w.run('a', {{"lr", "0.1"}}, {{"takt.code", "no digest"}}, {{"m", 1}});
    const RunDiff diff = w.diff(a, a);
    EXPECT_EQ(diff.verdict, DiffVerdict::kEqual);
    EXPECT_EQ(diff.first_difference, "");
    EXPECT_EQ(diff.same_metrics, 1);
    const auto missing = diff_runs(w.track, *w.blobs, w.read, a, RunId{std::string(32, 'f')}, {});
    EXPECT_EQ(missing.error().code, Code::kNotFound);
  });
}

TEST(RunDiff, names_the_first_input_that_differs_in_the_order_of_what_weighs_most) {
  on_both([](World& w) {
    const RunId base = w.run('a', {{"lr", "1"}}, {{"takt.seed", "1"}}, {});
    EXPECT_EQ(w.diff(base, w.run('b', {{"lr", "1"}}, {{"takt.seed", "2"}}, {})).first_difference,
              "seed was 1, is 2");
    EXPECT_EQ(w.diff(base, w.run('c', {}, {{"takt.seed", "2"}}, {})).first_difference,
              "parameter lr was 1, is nothing");
    EXPECT_EQ(w.diff(base, w.run('d', {}, {{"takt.input.x", "dataset/d@9"}}, {})).first_difference,
              "data: input x was nothing, is dataset/d@9");
  });
}

RunDiff of_metrics(double before, double after, double tolerance,
                   std::vector<std::string> asked = {}) {
  RunDiff diff;
  diff.before.metrics["m"].value = before;
  diff.after.metrics["m"].value = after;
  compare_records(diff, {tolerance, std::move(asked)});
  return diff;
}

TEST(RunDiff, the_tolerance_is_relative_and_knows_what_is_no_number) {
  EXPECT_EQ(of_metrics(100, 100, 0).verdict, DiffVerdict::kEqual);
  EXPECT_EQ(of_metrics(100, 101, 0).verdict, DiffVerdict::kDifferent);
  EXPECT_EQ(of_metrics(100, 101, 0.01).verdict, DiffVerdict::kWithin);
  EXPECT_EQ(of_metrics(100, 102.1, 0.02).verdict, DiffVerdict::kDifferent);
  EXPECT_EQ(of_metrics(-1e-9, 1e-9, 0.5).verdict, DiffVerdict::kDifferent);
  EXPECT_EQ(of_metrics(NAN, NAN, 0).verdict, DiffVerdict::kEqual);
  EXPECT_EQ(of_metrics(NAN, 1, 1).verdict, DiffVerdict::kDifferent);
  EXPECT_EQ(of_metrics(INFINITY, INFINITY, 0).verdict, DiffVerdict::kEqual);
  EXPECT_EQ(of_metrics(INFINITY, 1, 1).verdict, DiffVerdict::kDifferent);
  EXPECT_EQ(of_metrics(1, 2, 0, {"other"}).verdict, DiffVerdict::kDifferent);  // nobody has it
  EXPECT_EQ(of_metrics(1, 1, 0, {"m"}).verdict, DiffVerdict::kEqual);
}

TEST(RunDiff, locks_are_compared_package_by_package) {
  const PackageChange change = compare_locks("a==1\nb==2\nc==3", "a==1\nc==4\nd==5\n");
  EXPECT_EQ(change.same, 1);
  ASSERT_EQ(change.packages.size(), 3u);
  EXPECT_EQ(change.packages[0].name, "b");
  EXPECT_FALSE(change.packages[0].after);
  EXPECT_EQ(change.packages[1].after, "4");
  EXPECT_FALSE(change.packages[2].before);
}

}  // namespace
}  // namespace takt::track
