// SPDX-License-Identifier: Apache-2.0
#include "takt/store/lineage.h"

#include <gtest/gtest.h>

#include "takt/store/testing/database_pair.h"

namespace takt::store {
namespace {

const ProjectId kProject{"default"};
const Ref kRaw{"dataset", "raw@1"};
const Ref kTrain{"dataset", "train@1"};
const Ref kRun{"run", "9f"};
const Ref kOtherRun{"run", "77"};
const Ref kModel{"model", "digits@2"};
const Ref kNode{"node", "line/1/train"};

/// raw <- train <- run <- model, and another run that used train.
void add_line(Database& db) {
  const Status status = db.write([&](Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(add_edge(tx, kProject, kTrain, "came-from", kRaw));
    TAKT_RETURN_IF_ERROR(add_edge(tx, kProject, kRun, "used", kTrain));
    TAKT_RETURN_IF_ERROR(add_edge(tx, kProject, kOtherRun, "used", kTrain));
    TAKT_RETURN_IF_ERROR(add_edge(tx, kProject, kModel, "came-from", kRun));
    TAKT_RETURN_IF_ERROR(add_edge(tx, kProject, kModel, "came-from", kRun));
    return add_edge(tx, {"other"}, kNode, "used", kTrain);
  });
  ASSERT_TRUE(status) << status.error().text();
}

TEST(Lineage, an_edge_is_found_from_both_sides_and_stands_once) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    add_line(*db);
    ASSERT_TRUE(db->read([&](Reader& reader) -> Status {
      TAKT_ASSIGN(const auto from, edges_from(reader, kProject, kModel));
      EXPECT_EQ(from.size(), 1u);
      EXPECT_EQ(from.at(0).to, kRun);
      TAKT_ASSIGN(const auto to, edges_to(reader, kProject, kTrain));
      EXPECT_EQ(to.size(), 2u);
      return {};
    }));
  }
}

TEST(Lineage, a_walk_gives_origins_and_results_but_no_siblings) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    add_line(*db);
    ASSERT_TRUE(db->read([&](Reader& reader) -> Status {
      TAKT_ASSIGN(const auto around_run, walk_lineage(reader, kProject, kRun, 10, 100));
      EXPECT_EQ(around_run.size(), 3u);
      EXPECT_EQ(around_run.at(0).to, kTrain);
      EXPECT_EQ(around_run.at(1).to, kRaw);
      EXPECT_EQ(around_run.at(2).from, kModel);
      TAKT_ASSIGN(const auto near, walk_lineage(reader, kProject, kRun, 1, 100));
      EXPECT_EQ(near.size(), 2u);
      TAKT_ASSIGN(const auto few, walk_lineage(reader, kProject, kRaw, 10, 2));
      EXPECT_EQ(few.size(), 2u);
      return {};
    }));
  }
}

TEST(Lineage, a_word_finds_its_refs_within_the_project) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    add_line(*db);
    ASSERT_TRUE(db->read([&](Reader& reader) -> Status {
      TAKT_ASSIGN(const auto digits, find_refs(reader, kProject, "digits@2"));
      EXPECT_EQ(digits, std::vector<Ref>{kModel});
      TAKT_ASSIGN(const auto nodes, find_refs(reader, {"other"}, "1/train"));
      EXPECT_EQ(nodes, std::vector<Ref>{kNode});
      TAKT_ASSIGN(const auto elsewhere, find_refs(reader, kProject, "train"));
      EXPECT_TRUE(elsewhere.empty());
      return {};
    }));
  }
}

}  // namespace
}  // namespace takt::store
