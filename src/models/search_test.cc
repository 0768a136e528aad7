// SPDX-License-Identifier: Apache-2.0
// Searches over registered models and versions on both databases.
#include <gtest/gtest.h>

#include <algorithm>

#include "takt/base/testing/temp_dir.h"
#include "takt/models/migrations.h"
#include "takt/models/model_registry.h"
#include "takt/store/testing/database_pair.h"
#include "takt/track/filter.h"
#include "takt/track/migrations.h"

namespace takt::models {
namespace {

struct SearchPolicy : access::Policy {
  std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
    return access::Role::kAdmin;
  }
  Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
};

struct RegistryWorld {
  explicit RegistryWorld(store::Database& db)
      : blobs(std::move(*store::BlobStore::open(dir.path() / "blobs", db))), registry(db, *blobs) {}
  testing::TempDir dir;
  std::unique_ptr<store::BlobStore> blobs;
  ModelRegistry registry;
  ProjectId project{"default"};
  SearchPolicy policy;
  access::CanRead read = policy.as_server<access::Right::kRead>(project, UserId{"lin"});
  access::CanWrite write = policy.as_server<access::Right::kWrite>(project, UserId{"lin"});

  void model(const std::string& name, const std::map<std::string, std::string>& tags = {}) {
    const auto made = registry.create_model(write, name, "", tags);
    ASSERT_TRUE(made) << made.error().text();
  }
  void version(const std::string& model, const std::string& run = "",
               const std::map<std::string, std::string>& tags = {}) {
    const auto made = registry.add_from_source(
        write, {model, "s3://bucket/" + model, RunId{run}, "", "", "", tags});
    ASSERT_TRUE(made) << made.error().text();
  }
  RegistrySearch search(const std::string& filter, const std::vector<std::string>& order,
                        const track::FilterRules& rules, std::int64_t page) {
    RegistrySearch search;
    search.filter = *track::parse_filter(filter, rules);
    search.order = *track::parse_order(order, rules);
    search.limit = page;
    search.counts = true;
    return search;
  }
  /// "a b of 2", over all pages.
  std::string models(const std::string& filter, const std::vector<std::string>& order = {},
                     std::int64_t page = 2) {
    auto asked = search(filter, order, track::registered_model_filter_rules(), page);
    std::string names, total;
    do {
      const auto found = registry.search(read, asked);
      if (!found) return found.error().text();
      for (const FoundModel& model : found->models) names += model.model.name + " ";
      total = std::to_string(found->total);
      asked.page_token = found->next_page_token;
    } while (!asked.page_token.empty());
    return names + "of " + total;
  }
  std::string versions(const std::string& filter, const std::vector<std::string>& order = {},
                       std::int64_t page = 2) {
    auto asked = search(filter, order, track::model_version_filter_rules(), page);
    std::string names, total;
    do {
      const auto found = registry.search_versions(read, asked);
      if (!found) return found.error().text();
      for (const ModelVersion& version : found->versions) names += version.id.text() + " ";
      total = std::to_string(found->total);
      asked.page_token = found->next_page_token;
    } while (!asked.page_token.empty());
    return names + "of " + total;
  }
};

template <class Body>
void on_both_databases(Body body) {
  for (const auto& db : store::testing::open_both({track::migrations(), migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    RegistryWorld world(*db);
    body(world);
  }
}

TEST(ModelSearches, names_tags_and_boolean_operators) {
  on_both_databases([](RegistryWorld& w) {
    w.model("ant", {{"team", "vision"}});
    w.model("bee", {{"team", "text"}});
    w.model("cat");
    w.model("dog", {{"mlflow.prompt.is_prompt", "true"}});
    EXPECT_EQ(w.models(""), "ant bee cat dog of 4");
    EXPECT_EQ(w.models("", {"name DESC"}), "dog cat bee ant of 4");
    EXPECT_EQ(w.models("name LIKE '%a%'"), "ant cat of 2");
    EXPECT_EQ(w.models("name IN ('bee', 'dog') OR tags.team = 'vision'"), "ant bee dog of 3");
    EXPECT_EQ(w.models("tags.team != 'text'"), "ant of 1");
    EXPECT_EQ(w.models("NOT tags.team = 'text'"), "ant cat dog of 3");
    EXPECT_EQ(w.models("attribute.name ILIKE 'C%' AND tag.team IS NULL"), "cat of 1");
    // What clients add to every search; it finds models that do not have the tag, too.
    EXPECT_EQ(w.models("tag.`mlflow.prompt.is_prompt` != 'true'"), "ant bee cat of 3");
    EXPECT_EQ(w.models("name != 'bee' AND tag.`mlflow.prompt.is_prompt` = 'false'"),
              "ant cat of 2");
    EXPECT_EQ(w.models("tags.`mlflow.prompt.is_prompt` = 'true'"), "dog of 1");
    EXPECT_EQ(w.models("last_updated_timestamp > 0 AND NOT (name < 'cat')", {"timestamp", "name"}),
              "cat dog of 2");
  });
}

TEST(ModelSearches, each_model_comes_with_its_newest_of_each_stage) {
  on_both_databases([](RegistryWorld& w) {
    w.model("ant", {{"team", "vision"}});
    w.model("bee");
    for (int i = 0; i < 4; ++i) w.version("ant", "", {{"n", std::to_string(i + 1)}});
    ASSERT_TRUE(w.registry.set_stage(w.write, ModelVersionId{{"ant", 2}}, "Production", false));
    ASSERT_TRUE(w.registry.set_alias(w.write, "ant", "live", 2));
    ASSERT_TRUE(w.registry.remove_version(w.write, ModelVersionId{{"ant", 4}}, true));
    const auto page = w.registry.search(
        w.read, w.search("name = 'ant'", {}, track::registered_model_filter_rules(), 10));
    ASSERT_TRUE(page) << page.error().text();
    const FoundModel& found = page->models.front();
    ASSERT_EQ(found.latest_of_stages.size(), 2u);
    EXPECT_EQ(found.latest_of_stages[0].id.number, 3);
    EXPECT_EQ(found.latest_of_stages[0].tags.at("n"), "3");
    EXPECT_EQ(found.latest_of_stages[1].stage, "Production");
    EXPECT_EQ(found.latest_of_stages[1].aliases, std::vector<std::string>{"live"});
    EXPECT_EQ(found.model.aliases.at("live"), 2);
    EXPECT_EQ(found.model.tags.at("team"), "vision");
  });
}

TEST(VersionSearches, numbers_runs_sources_and_tags) {
  on_both_databases([](RegistryWorld& w) {
    w.model("ant");
    w.model("bee");
    w.version("ant", "r1", {{"k", "v"}});
    w.version("ant", "r2");
    w.version("bee");
    const std::vector<std::string> order{"name", "version_number"};
    EXPECT_EQ(w.versions("", order, 1), "ant@1 ant@2 bee@1 of 3");
    EXPECT_EQ(w.versions("version_number > 1 OR name = 'bee'", order), "ant@2 bee@1 of 2");
    EXPECT_EQ(w.versions("version_number = '2'", order), "ant@2 of 1");
    EXPECT_EQ(w.versions("run_id IN ('r1', 'r2')", {"version_number DESC"}), "ant@2 ant@1 of 2");
    EXPECT_EQ(w.versions("run_id != 'r1'", order), "ant@2 of 1") << "a version without a run";
    EXPECT_EQ(w.versions("NOT run_id = 'r1'", order), "ant@2 bee@1 of 2");
    EXPECT_EQ(w.versions("source_path ILIKE 'S3://%/bee'"), "bee@1 of 1");
    EXPECT_EQ(w.versions("tags.k = 'v' AND current_stage = 'None'"), "ant@1 of 1");
    EXPECT_EQ(w.versions("tag.`mlflow.prompt.is_prompt` != 'true'", order),
              "ant@1 ant@2 bee@1 of 3");
    EXPECT_NE(w.versions("", {}, 1).find("of 3"), std::string::npos);
  });
}

TEST(VersionSearches, pages_stay_right_while_versions_are_added) {
  on_both_databases([](RegistryWorld& w) {
    w.model("ant");
    for (int i = 0; i < 9; ++i) w.version("ant");
    auto asked = w.search("", {"version_number DESC"}, track::model_version_filter_rules(), 4);
    std::vector<std::int64_t> seen;
    do {
      const auto page = w.registry.search_versions(w.read, asked);
      ASSERT_TRUE(page) << page.error().text();
      for (const auto& version : page->versions) seen.push_back(version.id.number);
      asked.page_token = page->next_page_token;
      w.version("ant");
    } while (!asked.page_token.empty());
    EXPECT_EQ(seen, (std::vector<std::int64_t>{9, 8, 7, 6, 5, 4, 3, 2, 1}));
    asked.page_token = "garbage";
    EXPECT_EQ(w.registry.search_versions(w.read, asked).error().code, Code::kInvalid);
  });
}

TEST(ModelSearches, hundreds_of_models_with_tags_load_in_few_statements) {
  const auto db = store::testing::open_sqlite({track::migrations(), migrations()});
  RegistryWorld w(*db);
  for (int i = 0; i < 450; ++i) {
    const std::string name = "m" + std::to_string(1000 + i);
    w.model(name, {{"team", i % 2 == 0 ? "vision" : "text"}});
  }
  const auto page = w.registry.search(
      w.read, w.search("tags.team = 'vision'", {}, track::registered_model_filter_rules(), 1000));
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_EQ(page->models.size(), 225u);
  EXPECT_TRUE(std::ranges::all_of(
      page->models, [](const FoundModel& m) { return m.model.tags.at("team") == "vision"; }));
}

}  // namespace
}  // namespace takt::models
