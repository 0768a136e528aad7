// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/reproduce.h"

#include <gtest/gtest.h>

#include "takt/access/migrations.h"
#include "takt/base/digest.h"
#include "takt/data/migrations.h"
#include "takt/jobs/job_store.h"
#include "takt/jobs/migrations.h"
#include "takt/jobs/transitions.h"
#include "takt/store/lineage.h"
#include "takt/store/testing/database_pair.h"
#include "takt/track/migrations.h"
#include "takt/track/run_store.h"
#include "takt/track/run_writer.h"

namespace takt::jobs {
namespace {

struct World {
  explicit World(std::unique_ptr<store::Database> database) : db(std::move(database)) {}
  std::unique_ptr<store::Database> db;
  ProjectId project{"default"};
  const Digest tree = sha256("tree");

  Job submit(const JobSpec& spec, const std::map<std::string, actions::PortValue>& inputs,
             const RunId& reproduces = {}) {
    Job job;
    job.project = project;
    job.spec = spec;
    job.submitted_by = UserId{"lin"};
    job.run.value = random_hex(16);
    job.inputs = inputs;
    job.reproduces = reproduces;
    EXPECT_TRUE(db->write([&](store::Tx& tx) { return write_submitted(tx, job); }));
    return job;
  }
  Job train() {
    const auto spec = parse_job_spec(
        "train", *parse_yaml("command: [sh, train.sh]\nparams: {lr: 0.1, k: 2}\nseed: 7\n"
                             "inputs: {data: numbers, model: {ref: model/m@live}}\n"
                             "env: {A: b}\ncode: " +
                             sha256("code").value));
    EXPECT_TRUE(spec) << spec.error().text();
    return submit(*spec,
                  {{"data", {actions::PortKind::kDataset, {"dataset", "numbers@3"}, tree, {}}},
                   {"model", {actions::PortKind::kModelVersion, {"model", "m@4"}, tree, {}}}});
  }
  Result<Submission> again(const RunId& run, const std::string& changes = "{}") {
    Submission submission;
    TAKT_RETURN_IF_ERROR(db->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(submission, reproduction_of(reader, project, run, *parse_yaml(changes)));
      return {};
    }));
    return submission;
  }
};

template <class Body>
void on_both(Body body) {
  for (auto& db : store::testing::open_both(
           {access::migrations(), data::migrations(), track::migrations(), migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    World world(std::move(db));
    body(world);
  }
}

TEST(Reproduce, takes_the_record_with_the_versions_that_were_used_then) {
  on_both([](World& w) {
    const Job first = w.train();
    const auto again = w.again(first.run);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(to_value(again->spec), to_value(first.spec));
    EXPECT_EQ(again->spec.name, "train");
    EXPECT_EQ(again->inputs.at("data").ref.text(), "dataset/numbers@3");
    EXPECT_EQ(again->inputs.at("model").ref.text(), "model/m@4");
    EXPECT_EQ(again->reproduces, first.run);
    EXPECT_EQ(again->owner, "");
  });
}

TEST(Reproduce, the_new_run_is_linked_to_the_old_one) {
  on_both([](World& w) {
    const Job first = w.train();
    const Job second = w.submit(first.spec, first.inputs, first.run);
    std::vector<std::string> relations;
    ASSERT_TRUE(w.db->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const auto edges, store::edges_from(reader, w.project, ref_of(second.run)));
      for (const auto& edge : edges) relations.push_back(edge.relation + " " + edge.to.text());
      TAKT_ASSIGN(const auto tag, track::find_tag(reader, second.run, "takt.reproduces"));
      EXPECT_EQ(tag, first.run.value);
      TAKT_ASSIGN(const auto command, track::find_tag(reader, second.run, "takt.command"));
      EXPECT_EQ(command, R"(["sh","train.sh"])");
      return {};
    }));
    EXPECT_NE(std::ranges::find(relations, "reproduces run/" + first.run.value), relations.end());
  });
}

TEST(Reproduce, what_is_changed_replaces_the_record_and_nothing_else) {
  on_both([](World& w) {
    const Job first = w.train();
    const auto again =
        w.again(first.run, "{params: {lr: 0.2}, inputs: {data: numbers@4}, seed: 8}");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->spec.params.at("lr"), Value(0.2));
    EXPECT_EQ(again->spec.params.at("k"), Value(2));
    EXPECT_EQ(again->spec.seed, 8);
    EXPECT_FALSE(again->inputs.contains("data"));  // to be resolved anew
    EXPECT_TRUE(again->inputs.contains("model"));
    EXPECT_EQ(w.again(first.run, "{command: [sh]}").error().field, "command");
    EXPECT_EQ(w.again(first.run, "{seed: many}").error().field, "spec.seed");
  });
}

TEST(Reproduce, runs_that_no_job_made_are_refused) {
  on_both([](World& w) {
    EXPECT_EQ(w.again(RunId{std::string(32, 'e')}).error().code, Code::kNotFound);
    const RunId bare{std::string(32, 'b')};
    ASSERT_TRUE(w.db->write([&](store::Tx& tx) -> Status {
      return track::insert_run(tx, {w.project, bare, "e", "script", UserId{"lin"}, {}, {}});
    }));
    const auto refused = w.again(bare);
    EXPECT_EQ(refused.error().code, Code::kConflict);
    EXPECT_NE(refused.error().message.find("not made by a job"), std::string::npos);
  });
}

}  // namespace
}  // namespace takt::jobs
