// SPDX-License-Identifier: Apache-2.0
#include "takt/base/ids.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

TEST(IdsTest, RefsAsText) {
  EXPECT_EQ(ref_of(DatasetVersionId{{"digits", 3}}).text(), "dataset/digits@3");
  EXPECT_EQ(ref_of(ModelVersionId{{"digits", 2}}).text(), "model/digits@2");
  EXPECT_EQ(ref_of(JobId{41}).text(), "job/41");
  EXPECT_EQ(ref_of(RunId{"ab"}).text(), "run/ab");
  EXPECT_EQ(ref_of(UserId{"ann"}).text(), "user/ann");
}

TEST(IdsTest, ParsesRefsAtTheFirstSlash) {
  const Ref ref = parse_ref("node/line/3/train").value();
  EXPECT_EQ(ref.kind, "node");
  EXPECT_EQ(ref.path, "line/3/train");
  for (const char* text : {"", "job", "/41", "job/"}) {
    EXPECT_EQ(parse_ref(text).error().code, Code::kInvalid) << text;
  }
}

TEST(IdsTest, ParsesSelectors) {
  VersionSelector selector = parse_version_selector("digits").value();
  EXPECT_EQ(selector.name, "digits");
  EXPECT_EQ(selector.number, 0);
  EXPECT_EQ(selector.alias, "");
  selector = parse_version_selector("digits@12").value();
  EXPECT_EQ(selector.number, 12);
  selector = parse_version_selector("digits@production").value();
  EXPECT_EQ(selector.alias, "production");
  EXPECT_EQ(selector.number, 0);
  selector = parse_version_selector("digits@latest").value();
  EXPECT_EQ(selector.alias, "");
  EXPECT_EQ(selector.number, 0);
}

TEST(IdsTest, RefusesSelectors) {
  for (const char* text : {"", "@3", "digits@", "digits@0", "digits@v3", "digits@3@4", "a b@1",
                           "digits@99999999999999999999", "digits@-1", "../x", "digits@Latest"}) {
    EXPECT_FALSE(parse_version_selector(text)) << text;
  }
  EXPECT_EQ(parse_version_selector("digits@0").error().message,
            "\"digits@0\": no such version number");
}

TEST(IdsTest, ChecksNames) {
  for (const char* name : {"a", "0", "digits-train_2.1", "A.b"}) {
    EXPECT_TRUE(check_name("dataset name", name)) << name;
  }
  EXPECT_TRUE(check_name("name", std::string(128, 'a')));
  EXPECT_FALSE(check_name("name", std::string(129, 'a')));
  for (const char* name :
       {"", ".hidden", "-x", "_x", "a/b", "a b", "a@1", "ä", "a\n", "..", "a\\b"}) {
    EXPECT_EQ(check_name("name", name).error().code, Code::kInvalid) << name;
  }
  EXPECT_EQ(check_name("dataset name", "a b").error().message,
            "dataset name \"a b\" is not allowed");
  EXPECT_EQ(check_name("name", "a\x1b[31m").error().message, "name \"a?[31m\" is not allowed");
}

TEST(IdsTest, ChecksAliases) {
  EXPECT_TRUE(check_alias("production"));
  EXPECT_TRUE(check_alias("v2-candidate"));
  for (const char* alias : {"3", "v3", "V3", "latest", "LATEST", ""}) {
    EXPECT_FALSE(check_alias(alias)) << alias;
  }
}

TEST(IdsTest, KnowsDigests) {
  EXPECT_TRUE(is_digest(std::string(64, 'a')));
  EXPECT_FALSE(is_digest(std::string(64, 'A')));
  EXPECT_FALSE(is_digest(std::string(63, 'a')));
  EXPECT_FALSE(is_digest(std::string(64, 'g')));
}

}  // namespace
}  // namespace takt
