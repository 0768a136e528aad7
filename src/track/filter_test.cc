// SPDX-License-Identifier: Apache-2.0
#include "takt/track/filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "takt/track/artifact_service.h"
#include "takt/track/page_token.h"
#include "takt/track/track_service.h"

namespace takt::track {
namespace {

std::string error_of(std::string_view text) {
  const auto filter = parse_filter(text, run_filter_rules());
  return filter ? "" : filter.error().message;
}

TEST(Filter, clauses_are_read_with_their_aliases_and_quotes) {
  const auto filter = parse_filter(
      "metrics.`val acc` >= -1.5e-2 and params.lr='0.1' AND tag.\"a.b\" iLIKE \"%x%\" AND run_id "
      "IN ('a', 'b') "
      "AND `Run name` != 'it''s' AND created < 5 AND datasets.name NOT IN ('d') AND "
      "tags.mlflow.user IS NOT NULL",
      run_filter_rules());
  ASSERT_TRUE(filter) << filter.error().message;
  ASSERT_EQ(filter->size(), 8u);
  EXPECT_EQ((*filter)[0].entity, Entity::kMetric);
  EXPECT_EQ((*filter)[0].key, "val acc");
  EXPECT_EQ(std::get<double>((*filter)[0].value), -0.015);
  EXPECT_EQ((*filter)[2].key, "a.b");
  EXPECT_EQ((*filter)[2].compare, Compare::kILike);
  EXPECT_EQ(std::get<std::vector<std::string>>((*filter)[3].value),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ((*filter)[4].key, "run_name");
  EXPECT_EQ(std::get<std::string>((*filter)[4].value), "it's");
  EXPECT_EQ((*filter)[5].key, "start_time");
  EXPECT_EQ((*filter)[6].compare, Compare::kNotIn);
  EXPECT_EQ((*filter)[7].key, "mlflow.user");
  EXPECT_TRUE(parse_filter("  ", run_filter_rules())->empty());
}

TEST(Filter, errors_name_the_word_that_is_wrong) {
  EXPECT_EQ(error_of("metrics.acc > '1'"), "Expected numeric value type for metric. Found '1'");
  EXPECT_NE(
      error_of("params.lr = 0.1")
          .find("Expected a quoted string value for parameter (e.g. 'my-value'). Got value 0.1"),
      std::string::npos);
  EXPECT_NE(error_of("params.lr = x").find("not quoted"), std::string::npos);
  EXPECT_NE(error_of("colour.x = 'y'").find("Invalid entity type 'colour'"), std::string::npos);
  EXPECT_NE(error_of("speed > 1").find("Invalid attribute key 'speed'"), std::string::npos);
  EXPECT_NE(error_of("metrics.a > 1 OR metrics.b > 2").find("got 'OR' at character 15"),
            std::string::npos);
  EXPECT_NE(error_of("params.a > '1'").find("Invalid comparator '>'"), std::string::npos);
  EXPECT_NE(error_of("params.a = 'x").find("not closed"), std::string::npos);
  EXPECT_NE(error_of("run_id IN ()").find("empty list"), std::string::npos);
  EXPECT_NE(error_of("run_id IN ('a', 1)").find("different type in list"), std::string::npos);
  EXPECT_NE(error_of("status IN ('RUNNING')").find("not 'status'"), std::string::npos);
  EXPECT_NE(error_of("metrics.a").find("expected a comparison after 'a', got 'the end'"),
            std::string::npos);
  EXPECT_EQ(parse_filter("x", run_filter_rules()).error().field, "filter");
  EXPECT_EQ(parse_filter(std::string(kFilterBytesMax + 1, ' '), run_filter_rules()).error().code,
            Code::kTooLarge);
}

TEST(Filter, what_is_absent_matches_is_null_only) {
  const Clause unequal{Entity::kTag, "k", Compare::kNotEqual, std::string("x")};
  EXPECT_FALSE(clause_holds(unequal, {}));
  EXPECT_TRUE(clause_holds(unequal, std::string("y")));
  EXPECT_TRUE(clause_holds({Entity::kTag, "k", Compare::kIsNull, {}}, {}));
  const Clause number{Entity::kMetric, "k", Compare::kNotEqual, 1.0};
  EXPECT_TRUE(clause_holds(number, std::nan("")));
  EXPECT_FALSE(clause_holds({Entity::kMetric, "k", Compare::kLess, 1.0}, std::nan("")));
}

TEST(Filter, like_takes_wildcards_over_characters) {
  EXPECT_TRUE(is_like("hello", "h%o", false));
  EXPECT_TRUE(is_like("hello", "_ello", false));
  EXPECT_TRUE(is_like("\u00fcber", "_ber", false));
  EXPECT_FALSE(is_like("Hello", "h%", false));
  EXPECT_TRUE(is_like("Hello", "h%", true));
  EXPECT_TRUE(is_like("", "%", false));
  EXPECT_FALSE(is_like("ab", "a", false));
}

TEST(Order, terms_have_a_direction_and_come_once) {
  const auto order = parse_order({"metrics.acc DESC", "-params.`a b`", "start_time", "tag.x asc"},
                                 run_filter_rules());
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_TRUE((*order)[0].is_descending);
  EXPECT_TRUE((*order)[1].is_descending);
  EXPECT_EQ((*order)[1].key, "a b");
  EXPECT_FALSE((*order)[2].is_descending);
  EXPECT_FALSE(parse_order({"acc", "acc"}, run_filter_rules()));
  EXPECT_FALSE(parse_order({"start_time", "created DESC"}, run_filter_rules()));
  EXPECT_NE(parse_order({"metrics.acc UP"}, run_filter_rules())
                .error()
                .message.find("Invalid ordering key"),
            std::string::npos);
}

TEST(Order, numbers_come_before_not_a_number_and_absent_in_both_directions) {
  for (const bool is_descending : {false, true}) {
    EXPECT_LT(compare_held(1.0, std::nan(""), is_descending), 0);
    EXPECT_LT(compare_held(std::nan(""), {}, is_descending), 0);
    EXPECT_EQ(compare_held({}, {}, is_descending), 0);
  }
  EXPECT_GT(compare_held(1.0, 2.0, true), 0);
  EXPECT_LT(compare_held(std::string("a"), std::string("b"), false), 0);
}

TEST(PageToken, another_search_or_garbage_is_refused) {
  const std::string token = make_page_token("search", Array{1, "x"});
  EXPECT_EQ(*read_page_token(token, "search"), Value(Array{1, "x"}));
  EXPECT_FALSE(read_page_token(token, "other"));
  EXPECT_EQ(read_page_token("garbage!", "search").error().code, Code::kInvalid);
  EXPECT_FALSE(read_page_token("e30=", "search"));
}

TEST(ArtifactPath, what_leaves_its_root_is_refused_however_it_is_written) {
  for (const std::string_view path :
       {"..", "../x", "a/../../x", "/etc/passwd", "a\\b", "..%2fx", "%2e%2e/x", "%252e%252e%252fx",
        "a#b", "a%23b", "C:/x", "a//b", "a/./b", "a%00b", "%2fetc"})
    EXPECT_FALSE(check_artifact_path(path)) << path;
  for (const std::string_view path : {"", "a", "a/b.txt", "100%.txt", "a b/\u00fc.txt"})
    EXPECT_TRUE(check_artifact_path(path)) << path;
}

TEST(ArtifactPath, places_are_told_apart) {
  const std::string run(32, 'a');
  EXPECT_EQ(parse_artifact_place("0/" + run + "/artifacts/m/x").root, "run/" + run);
  EXPECT_EQ(parse_artifact_place("0/" + run + "/artifacts/m/x").path, "m/x");
  EXPECT_EQ(parse_artifact_place("0/models/m-" + run + "/artifacts/MLmodel").root,
            "logged-model/m-" + run);
  EXPECT_EQ(parse_artifact_place("trees/" + run + run + "/x/y").tree.value, run + run);
  EXPECT_EQ(parse_artifact_place("some/where").root, "other");
  EXPECT_EQ(*path_of_artifact_uri("mlflow-artifacts://host:1/0/x/"), "0/x");
  EXPECT_FALSE(path_of_artifact_uri("mlflow-artifacts:/../x"));
}

}  // namespace
}  // namespace takt::track
