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

/// "message | hint"
std::string error_of(std::string_view text, const FilterRules& rules = run_filter_rules()) {
  const auto filter = parse_filter(text, rules);
  if (filter) return "";
  EXPECT_EQ(filter.error().field, "filter");
  return filter.error().message + " | " + filter.error().hint;
}

TEST(Filter, clauses_are_read_with_their_aliases_and_quotes) {
  const auto filter = parse_filter(
      "metrics.`val acc` >= -1.5e-2 and params.lr='0.1' AND tag.\"a.b\" iLIKE \"%x%\" AND run_id "
      "IN ('a', 'b') "
      "AND `Run name` != 'it''s' AND created < 5 AND datasets.name NOT IN ('d') AND "
      "tags.mlflow.user IS NOT NULL",
      run_filter_rules());
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_EQ(filter->kind, Filter::Kind::kAll);
  ASSERT_EQ(filter->parts.size(), 8u);
  const auto clause = [&](std::size_t i) -> const Clause& { return filter->parts[i].clause; };
  EXPECT_EQ(clause(0).entity, Entity::kMetric);
  EXPECT_EQ(clause(0).key, "val acc");
  EXPECT_EQ(std::get<double>(clause(0).value), -0.015);
  EXPECT_EQ(clause(2).key, "a.b");
  EXPECT_EQ(clause(2).compare, Compare::kILike);
  EXPECT_EQ(std::get<std::vector<std::string>>(clause(3).value),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(clause(4).key, "run_name");
  EXPECT_EQ(std::get<std::string>(clause(4).value), "it's");
  EXPECT_EQ(clause(5).key, "start_time");
  EXPECT_EQ(clause(6).compare, Compare::kNotIn);
  EXPECT_EQ(clause(7).key, "mlflow.user");
  EXPECT_TRUE(parse_filter("  ", run_filter_rules())->empty());
}

/// The filter with its structure shown: and(a or(b c)).
std::string shape(const Filter& filter) {
  if (filter.kind == Filter::Kind::kClause) return filter.clause.key;
  std::string text = filter.kind == Filter::Kind::kAll   ? "and("
                     : filter.kind == Filter::Kind::kAny ? "or("
                                                         : "not(";
  for (std::size_t i = 0; i < filter.parts.size(); ++i)
    text += (i > 0 ? " " : "") + shape(filter.parts[i]);
  return text + ")";
}

TEST(Filter, and_binds_closer_than_or_and_not_closest) {
  const auto read = [](std::string_view text) { return *parse_filter(text, run_filter_rules()); };
  EXPECT_EQ(shape(read("metrics.a>1 OR metrics.b>1 AND metrics.c>1")), "or(a and(b c))");
  EXPECT_EQ(shape(read("(metrics.a>1 or metrics.b>1) and metrics.c>1")), "and(or(a b) c)");
  EXPECT_EQ(shape(read("NOT metrics.a>1 AND metrics.b>1")), "and(not(a) b)");
  EXPECT_EQ(shape(read("not(metrics.a>1 and not metrics.b>1)")), "not(and(a not(b)))");
  EXPECT_EQ(shape(read("params.a NOT IN ('x') AND NOT params.b IN ('y')")), "and(a not(b))");
  EXPECT_EQ(shape(read("((metrics.a>1))")), "a");
  const std::string one = text_of(read("metrics.a > 1 AND NOT params.b='x'"));
  EXPECT_EQ(one, text_of(read("(metrics.a>1.0) and not (params.b = \"x\")")));
  EXPECT_NE(one, text_of(read("metrics.a > 1 OR NOT params.b='x'")));
}

TEST(Filter, errors_have_the_words_that_clients_know_and_point_at_the_mistake) {
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {"metrics.acc > '1'",
       "Expected numeric value type for metric. Found '1' | at character 15: write a number "
       "without quotes"},
      {"start_time > '1'",
       "Expected numeric value type for numeric attribute: start_time. Found '1' | at character "
       "14"},
      {"params.lr = 0.1",
       "Expected a quoted string value for parameter (e.g. 'my-value'). Got value 0.1 | at "
       "character 13: write '0.1'"},
      {"status = 3",
       "Expected a quoted string value for attributes. Got value 3 | at character 10"},
      {"params.lr = x",
       "Parameter value is either not quoted or unidentified quote types used for string value x. "
       "Use either single or double quotes. | at character 13: write 'x'"},
      {"colour.x = 'y'",
       "Invalid entity type 'colour'. Valid values are ['metric', 'parameter', 'tag', "
       "'attribute', 'dataset'] | at character 1"},
      {"metric.x > 1 AND metrix.y > 1", "at character 18: did you mean 'metrics'?"},
      {"speed > 1", "at character 1: write metrics.speed, params.speed or tags.speed"},
      {"start_tim > 1", "Invalid attribute key 'start_tim' specified. Valid keys are '{"},
      {"start_tim > 1", "at character 1: did you mean 'start_time'?"},
      {"dataset.size = 'x'", "Invalid dataset key 'size' specified. Valid keys are '{'context'"},
      {"metrics.a > 1 XOR metrics.b > 2",
       "Invalid clause(s) in filter string: 'XOR' | at character 15"},
      {"metrics.a > 1 metrics.b > 2",
       "Invalid clause(s) in filter string: 'metrics.b' | at character 15"},
      {"params.a ~ '1'", "Invalid comparator '~' not one of '{'=', '!='"},
      {"metrics.a LIKE 'x'", "Invalid comparator 'LIKE' not one of '{'=', '!='"},
      {"params.a = 'x", "the quote is not closed | at character 12: close it with '"},
      {"run_id IN ()",
       "While parsing a list in the query, expected a non-empty list of string values, but got "
       "empty list | at character 12"},
      {"run_id IN ('a', 1)",
       "expected string value, punctuation, or whitespace, but got different type in list: 1 | at "
       "character 17"},
      {"run_id IN 'a'", "but got ill-formed list. | at character 11: a list is written ('a', 'b')"},
      {"metrics.a", "Invalid clause(s) in filter string: 'metrics.a' | at character 10"},
      {"metrics.a >", "Invalid comparison clause. Expected 3 tokens found 2 | at character 12"},
      {"'a' = params.b",
       "Invalid comparison clause. Expected 'Identifier' found ''a'' | at character 1"},
      {"metrics.a > 1 AND", "a clause is missing at the end | at character 18"},
      {"(metrics.a > 1", "the parenthesis is not closed | at character 1: close it with )"},
      {"metrics.a > 1)",
       "Invalid clause(s) in filter string: ')' | at character 14: this parenthesis"},
      {"status IS NULL",
       "IS NULL / IS NOT NULL is only supported for tags and params, not for 'attribute' "
       "'status'"},
      {"experiment_id = 'x'",
       "Invalid experiment ID: 'x'. It must be an integer | at character 17"},
      {"experiment_id > '3'", "Invalid comparator '>' not one of '{'=', '!=', 'IN', 'NOT IN'}'"},
  };
  for (const auto& [text, wanted] : wrong)
    EXPECT_NE(error_of(text).find(wanted), std::string::npos) << text << "\n" << error_of(text);
}

TEST(Filter, each_kind_of_thing_has_its_own_words_for_what_it_does_not_know) {
  EXPECT_NE(error_of("metric.x > 1", experiment_filter_rules())
                .find("Valid entity types are ('attribute', 'tag', 'tags')"),
            std::string::npos);
  EXPECT_NE(error_of("x.y > 1", logged_model_filter_rules())
                .find("Invalid entity type: 'x'. Expected one of ['attributes', 'metrics', "
                      "'params', 'tags']."),
            std::string::npos);
  EXPECT_NE(error_of("version_number = 'x'", model_version_filter_rules())
                .find("Invalid value for numeric attribute 'version_number': 'x'"),
            std::string::npos);
  EXPECT_TRUE(parse_filter("version_number = '2'", model_version_filter_rules()));
}

TEST(Filter, size_depth_and_lists_have_limits) {
  const auto code_of = [](const std::string& text) {
    const auto filter = parse_filter(text, run_filter_rules());
    return filter ? std::optional<Code>() : filter.error().code;
  };
  const auto times = [](std::string_view text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  const std::string clause = "metrics.a > 1";
  EXPECT_EQ(code_of(std::string(kFilterBytesMax + 1, ' ')), Code::kTooLarge);
  EXPECT_EQ(code_of(times("(", kFilterDepthMax) + clause + times(")", kFilterDepthMax)),
            std::nullopt);
  EXPECT_EQ(code_of(times("(", kFilterDepthMax + 1) + clause), Code::kTooLarge);
  EXPECT_EQ(code_of(times("(", 200'000)), Code::kTooLarge);
  EXPECT_EQ(code_of(times("NOT ", 60'000)), Code::kTooLarge);
  EXPECT_EQ(code_of(clause + times(" OR metrics.a > 1", kFilterClausesMax - 1)), std::nullopt);
  EXPECT_EQ(code_of(clause + times(" OR metrics.a > 1", kFilterClausesMax)), Code::kTooLarge);
  EXPECT_EQ(code_of("params.a IN ('x'" + times(",'x'", kFilterListMax - 1) + ")"), std::nullopt);
  EXPECT_EQ(code_of("params.a IN ('x'" + times(",'x'", kFilterListMax) + ")"), Code::kTooLarge);
}

TEST(Filter, texts_that_are_numbers_compare_as_numbers) {
  const std::pair<std::string_view, double> numbers[] = {
      {"12", 12}, {"-0.5", -0.5}, {"+3", 3}, {"1e-4", 1e-4}, {"2.5E+3", 2500}, {"007", 7}};
  for (const auto& [text, number] : numbers) EXPECT_EQ(number_in_text(text), number) << text;
  for (const std::string_view text : {"", "-", "5.", ".5", "1e", "1e5x", "0x10", "1-2", "5e-+3",
                                      "1e999", "1.2.3", "nan", "inf", " 1", "--1", "1e5.0"})
    EXPECT_FALSE(number_in_text(text)) << text;
  EXPECT_TRUE(clause_holds({Entity::kParam, "lr", Compare::kLess, 0.1}, std::string("1e-2")));
  EXPECT_FALSE(clause_holds({Entity::kParam, "lr", Compare::kLess, 0.1}, std::string("small")));
  EXPECT_TRUE(
      clause_holds({Entity::kParam, "v", Compare::kLess, std::string("b")}, std::string("a")));
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
  EXPECT_NE(parse_order({"start_time", "created DESC"}, run_filter_rules())
                .error()
                .message.find("`order_by` contains duplicate fields"),
            std::string::npos);
  EXPECT_NE(parse_order({"size"}, registered_model_filter_rules())
                .error()
                .message.find("Invalid order by key 'size' specified. Valid keys are '{"),
            std::string::npos);
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
