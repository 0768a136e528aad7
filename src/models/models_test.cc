// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "takt/base/testing/temp_dir.h"
#include "takt/models/migrations.h"
#include "takt/models/model_registry.h"
#include "takt/models/register_step.h"
#include "takt/models/resolver.h"
#include "takt/models/sql.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"
#include "takt/store/testing/database_pair.h"
#include "takt/track/artifact_service.h"
#include "takt/track/migrations.h"
#include "takt/track/run_writer.h"

namespace takt::models {
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
        registry(*db, *blobs) {}
  testing::TempDir dir;
  std::unique_ptr<store::Database> db;
  std::unique_ptr<store::BlobStore> blobs;
  ModelRegistry registry;
  ProjectId project{"default"};
  OpenPolicy policy;
  access::CanRead read = policy.as_server<access::Right::kRead>(project, UserId{"lin"});
  access::CanWrite write = policy.as_server<access::Right::kWrite>(project, UserId{"lin"});
  RunId run{std::string(32, 'a')};

  content::Manifest manifest(const std::string& text) {
    const Digest digest = *blobs->add_bytes(project, text);
    return *content::make_manifest(
        {{"model.onnx", static_cast<std::int64_t>(text.size()), false, digest}});
  }
  Digest tree(const std::string& text) { return *blobs->add_tree(project, manifest(text)); }
  void make_run(const std::string& text) {
    track::NewRun asked{project, run, "e", "train", UserId{"lin"}, {}, {{"takt.job", "7"}}};
    const content::Manifest files = manifest(text);
    ASSERT_TRUE(db->write([&](store::Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(track::insert_run(tx, asked));
      return track::add_run_artifacts(tx, project, run, "model", files);
    }));
  }
  Result<ModelVersion> add(const std::string& text, std::string alias = "") {
    NewVersion version;
    version.model = "digits";
    version.tree = tree(text);
    version.alias = std::move(alias);
    return registry.add_version(write, version);
  }
};

template <class Body>
void on_both(Body body) {
  for (auto& db : store::testing::open_both({track::migrations(), migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    World world(std::move(db));
    body(world);
  }
}

TEST(ModelStatements, compile_on_both_databases) {
  for (const auto& db : store::testing::open_both({track::migrations(), migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    store::testing::check_statements(*db, sql::kAll);
  }
}

TEST(Versions, the_same_files_are_the_same_version_and_numbers_never_come_again) {
  on_both([](World& w) {
    EXPECT_EQ(w.add("one")->id.number, 1);
    EXPECT_EQ(w.add("one")->id.number, 1);
    EXPECT_EQ(w.add("two", "production")->id.number, 2);
    EXPECT_EQ(w.registry.resolve(w.read, {"digits", 0, "production"})->id.number, 2);
    EXPECT_EQ(w.registry.resolve(w.read, {"digits", 0, ""})->id.number, 2);
    ASSERT_TRUE(w.registry.remove_version(w.write, ModelVersionId{{"digits", 2}}, false));
    EXPECT_TRUE(w.registry.get(w.read, "digits")->aliases.empty());
    EXPECT_EQ(w.add("two")->id.number, 3);
    ASSERT_TRUE(w.registry.remove_model(w.write, "digits", true));
    EXPECT_EQ(w.add("one")->id.number, 4);
  });
}

TEST(Versions, racing_creates_leave_no_gap) {
  on_both([](World& w) {
    ASSERT_TRUE(w.registry.create_model(w.write, "digits", "", {}));
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 5; ++j) {
          const auto made = w.registry.add_from_source(
              w.write, {"digits", "s3://bucket/model", {}, "", "", "", {}});
          EXPECT_TRUE(made) << made.error().text();
        }
      });
    for (auto& thread : threads) thread.join();
    const auto versions = *w.registry.versions(w.read, "digits");
    ASSERT_EQ(versions.size(), 40u);
    EXPECT_EQ(versions.front().id.number, 40);
    EXPECT_EQ(versions.back().id.number, 1);
  });
}

TEST(Versions, sources_lead_to_their_files) {
  on_both([](World& w) {
    w.make_run("weights");
    ASSERT_TRUE(w.registry.create_model(w.write, "digits", "", {}));
    const auto from = [&](std::string source) {
      return w.registry.add_from_source(w.write, {"digits", std::move(source), {}, "", "", "", {}});
    };
    const auto run = from("runs:/" + w.run.value + "/model");
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(run->tree, w.tree("weights"));
    EXPECT_EQ(run->run, w.run);
    EXPECT_EQ(download_uri(*run), "mlflow-artifacts:/trees/" + run->tree.value);
    const auto copy = from("models:/digits/1");
    ASSERT_TRUE(copy) << copy.error().text();
    EXPECT_EQ(copy->tree, run->tree);
    EXPECT_EQ(copy->id.number, 2);
    const auto artifacts = from("mlflow-artifacts:/1/" + w.run.value + "/artifacts/model");
    ASSERT_TRUE(artifacts) << artifacts.error().text();
    EXPECT_EQ(artifacts->tree, run->tree);
    EXPECT_TRUE(from("s3://bucket/x")->tree.empty());
    for (const char* bad : {"file://tmp/x", "/etc", "mlflow-artifacts:/../x",
                            "mlflow-artifacts:/1/..%2f..%2fx", "runs:/x/../y", "s3://b/%2e%2e/x"})
      EXPECT_EQ(from(bad).error().code, Code::kInvalid) << bad;
    EXPECT_EQ(from("runs:/" + std::string(32, 'b') + "/x").error().code, Code::kNotFound);
    std::vector<store::Edge> edges;
    ASSERT_TRUE(w.db->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(edges, store::edges_from(reader, w.project, ref_of(run->id)));
      return {};
    }));
    ASSERT_EQ(edges.size(), 1u);
    EXPECT_EQ(edges[0].relation, "came-from");
    EXPECT_EQ(edges[0].to.text(), "run/" + w.run.value);
  });
}

TEST(Versions, unknown_ones_say_what_exists) {
  on_both([](World& w) {
    ASSERT_TRUE(w.add("one", "production"));
    EXPECT_EQ(w.registry.get(w.read, "digit").error().hint, "did you mean 'digits'?");
    const auto version = w.registry.resolve(w.read, {"digits", 9, ""});
    EXPECT_EQ(version.error().message, "no model version digits@9");
    EXPECT_EQ(version.error().hint, "versions that exist: 1; aliases: production (1)");
  });
}

TEST(Aliases, move_with_an_event_and_reserved_words_are_refused) {
  on_both([](World& w) {
    ASSERT_TRUE(w.add("one", "live"));
    ASSERT_TRUE(w.add("two"));
    ASSERT_TRUE(w.registry.set_alias(w.write, "digits", "live", 2));
    ASSERT_TRUE(w.registry.set_alias(w.write, "digits", "live", 2));
    for (const char* bad : {"latest", "Latest", "v1", "12", "a b", ""})
      EXPECT_FALSE(w.registry.set_alias(w.write, "digits", bad, 1)) << bad;
    EXPECT_EQ(w.registry.set_alias(w.write, "digits", "x", 7).error().message,
              "Model Version (name=digits, version=7) not found");
    ASSERT_TRUE(w.registry.delete_alias(w.write, "digits", "live"));
    ASSERT_TRUE(w.registry.delete_alias(w.write, "digits", "live"));
    std::vector<std::string> verbs;
    ASSERT_TRUE(w.db->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const auto events, store::read_events(reader, 0, 20));
      for (const auto& event : events) verbs.push_back(event.verb + " " + event.subject.text());
      return {};
    }));
    EXPECT_EQ(verbs, (std::vector<std::string>{
                         "model.created model/digits", "model.version-added model/digits@1",
                         "model.alias-set model/digits@1", "model.version-added model/digits@2",
                         "model.alias-set model/digits@2", "model.alias-deleted model/digits@2"}));
  });
}

TEST(RegisterStep, registers_once_with_metrics_and_finds_the_run) {
  on_both([](World& w) {
    w.make_run("weights");
    RegisterStep step(w.registry, w.policy);
    actions::StepRequest request;
    request.project = w.project;
    request.actor = UserId{"lin"};
    request.node = *parse_ref("node/p/1/register");
    request.definition.with = *parse_yaml("{model: digits, alias: candidate}");
    const Digest tree = w.tree("weights");
    request.inputs["model"] = {actions::PortKind::kModel, {"artifact", tree.value}, tree, {}};
    request.inputs["metrics"] = {
        actions::PortKind::kJson, {}, {}, *parse_json(R"({"accuracy": 0.97, "note": "x"})")};
    ASSERT_TRUE(w.db->write([&](store::Tx& tx) {
      return store::add_edge(tx, w.project, Ref{"artifact", tree.value}, "made-by", ref_of(w.run));
    }));
    ASSERT_TRUE(step.describe(request.definition));
    for (int i = 0; i < 2; ++i) {
      const auto progress = step.poll(request);
      ASSERT_TRUE(progress) << progress.error().text();
      EXPECT_EQ(progress->state, actions::StepState::kDone);
      EXPECT_EQ(progress->outputs.at("version").ref.text(), "model/digits@1");
      EXPECT_EQ(progress->outputs.at("version").digest, tree);
    }
    const auto version = w.registry.resolve(w.read, {"digits", 0, "candidate"});
    ASSERT_TRUE(version);
    EXPECT_EQ(version->run, w.run);
    EXPECT_EQ(version->source, "runs:/" + w.run.value + "/model");
    EXPECT_EQ(version->metrics, (std::map<std::string, double>{{"accuracy", 0.97}}));
    ModelResolver resolver(w.registry, w.policy);
    EXPECT_EQ(resolver.resolve(w.project, "model/digits@candidate")->ref.text(), "model/digits@1");
    EXPECT_EQ(resolver.resolve(w.project, "digits")->digest, tree);
    ModelExplainer explainer(w.registry, w.policy);
    const auto why = explainer.explain(w.project, Ref{"model", "digits@latest"});
    ASSERT_TRUE(why) << why.error().text();
    EXPECT_EQ(why->ref.text(), "model/digits@1");
    EXPECT_EQ(explainer.line_card(w.project, 0)->total, 1);
    EXPECT_FALSE(step.describe({"register", *parse_yaml("{modle: digits}"), {}}));
  });
}

TEST(Registry, a_used_version_is_kept_unless_forced) {
  on_both([](World& w) {
    const auto version = w.add("one");
    ASSERT_TRUE(w.db->write([&](store::Tx& tx) {
      return store::add_edge(tx, w.project, *parse_ref("revision/digits/1"), "serves",
                             ref_of(version->id));
    }));
    EXPECT_EQ(w.registry.remove_version(w.write, version->id, false).error().code, Code::kConflict);
    EXPECT_EQ(w.registry.remove_model(w.write, "digits", false).error().code, Code::kConflict);
    ASSERT_TRUE(w.registry.remove_model(w.write, "digits", true));
    EXPECT_TRUE(w.registry.list(w.read)->empty());
  });
}

TEST(Registry, renaming_takes_versions_tags_and_aliases_along) {
  on_both([](World& w) {
    ASSERT_TRUE(w.add("one", "live"));
    ASSERT_TRUE(w.registry.set_model_tag(w.write, "digits", "k", "v"));
    ASSERT_TRUE(w.registry.set_version_tag(w.write, ModelVersionId{{"digits", 1}}, "k", "v"));
    const auto renamed = w.registry.rename_model(w.write, "digits", "numbers");
    ASSERT_TRUE(renamed) << renamed.error().text();
    EXPECT_EQ(renamed->aliases.at("live"), 1);
    EXPECT_EQ(renamed->tags.at("k"), "v");
    EXPECT_EQ(w.registry.resolve(w.read, {"numbers", 0, "live"})->tags.at("k"), "v");
    EXPECT_EQ(w.registry.create_model(w.write, "numbers", "", {}).error().code, Code::kConflict);
  });
}

}  // namespace
}  // namespace takt::models
