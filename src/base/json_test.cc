// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "takt/base/json_writer.h"
#include "takt/base/rng.h"
#include "takt/base/value.h"

namespace takt {
namespace {

std::string json_error(std::string_view text) {
  const Result<Value> value = parse_json(text);
  return value ? "parsed as " + dump_json(*value) : value.error().message;
}

TEST(JsonTest, ReadsAndWritesCanonically) {
  const auto again = [](std::string_view text) { return dump_json(parse_json(text).value()); };
  EXPECT_EQ(again(" {\"b\" : [1, 2.50, true, null], \"a\":\"x\"} "),
            R"({"a":"x","b":[1,2.5,true,null]})");
  EXPECT_EQ(again("{}"), "{}");
  EXPECT_EQ(again("[]"), "[]");
  EXPECT_EQ(again("0"), "0");
  EXPECT_EQ(again("-0"), "0");
  EXPECT_EQ(again("-0.0"), "-0.0");
  EXPECT_EQ(again("1e2"), "100.0");
  EXPECT_EQ(again("1E+2"), "100.0");
  EXPECT_EQ(again("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(again("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(again("100000000000000000000"), "1e+20");
  EXPECT_EQ(again("1e-400"), "0.0");
  EXPECT_EQ(again(R"("\"\\\/\b\f\n\r\t\u0041\u00e4\ud83d\ude00")"),
            "\"\\\"\\\\/\\u0008\\u000c\\n\\r\\tAä😀\"");
}

TEST(JsonTest, KeepsIntegersAndDoublesApart) {
  EXPECT_TRUE(parse_json("1")->is_int());
  EXPECT_TRUE(parse_json("1.0")->is_double());
  EXPECT_EQ(dump_json(Value(1.0)), "1.0");
  EXPECT_EQ(dump_json(Value(1)), "1");
  EXPECT_EQ(dump_json(Value(0.1)), "0.1");
  EXPECT_EQ(dump_json(Value(1e21)), "1e+21");
}

TEST(JsonTest, WritesWhatJsonHasNoNumberFor) {
  EXPECT_EQ(dump_json(Value(std::nan(""))), "\"NaN\"");
  EXPECT_EQ(dump_json(Value(std::numeric_limits<double>::infinity())), "\"Infinity\"");
  EXPECT_EQ(dump_json(Value(-std::numeric_limits<double>::infinity())), "\"-Infinity\"");
}

TEST(JsonTest, RandomDoublesAreExact) {
  Rng rng(20260101);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(rng.next());
    if (!std::isfinite(number)) continue;
    const Value again = parse_json(dump_json(Value(number))).value();
    ASSERT_TRUE(again.is_double());
    ASSERT_EQ(std::bit_cast<std::uint64_t>(again.as_number()),
              std::bit_cast<std::uint64_t>(number));
  }
}

TEST(JsonTest, BadUtf8IsReplacedOnTheWayOut) {
  EXPECT_EQ(dump_json(Value("a\xff"
                            "b")),
            "\"a\xef\xbf\xbd"
            "b\"");
  EXPECT_EQ(dump_json(Value(std::string_view("\0\x7f", 2))), "\"\\u0000\\u007f\"");
}

TEST(JsonTest, Pretty) {
  EXPECT_EQ(dump_json_pretty(Value(Object{{"a", Array{1, 2}}, {"b", Object{}}})),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

TEST(JsonTest, ErrorsNameLineAndColumn) {
  EXPECT_EQ(json_error(""), "line 1, column 1: the text ends early, expected a value");
  EXPECT_EQ(json_error("{\"a\": 1,}"), "line 1, column 9: expected a key in double quotes");
  EXPECT_EQ(json_error("[1, 2"), "line 1, column 6: the text ends early, expected ',' or ']'");
  EXPECT_EQ(json_error("{\n  \"a\": 1\n  \"b\": 2\n}"), "line 3, column 3: expected ',' or '}'");
  EXPECT_EQ(json_error("{\"a\":1,\n\"a\":2}"), "line 2, column 1: duplicate key \"a\"");
  EXPECT_EQ(json_error("{'a': 1}"), "line 1, column 2: expected a key in double quotes");
  EXPECT_EQ(json_error("1 2"), "line 1, column 3: text after the end of the value");
  EXPECT_EQ(json_error("01"), "line 1, column 1: a number may not begin with 0");
  EXPECT_EQ(json_error("1."), "line 1, column 3: the text ends early, expected a digit");
  EXPECT_EQ(json_error("1e999"), "line 1, column 6: number out of range");
  EXPECT_EQ(json_error("NaN"), "line 1, column 1: expected a value");
  EXPECT_EQ(json_error("-Infinity"), "line 1, column 1: expected a value");
  EXPECT_EQ(json_error("tru"), "line 1, column 1: expected a value");
  EXPECT_EQ(json_error("\"a\nb\""), "line 1, column 3: control character in a string");
  EXPECT_EQ(json_error("\"\xff\""), "line 1, column 2: not UTF-8");
  EXPECT_EQ(json_error("\"abc"), "line 1, column 5: the text ends inside a string");
  EXPECT_EQ(json_error(R"("\x")"), "line 1, column 3: unknown escape in a string");
  EXPECT_EQ(json_error(R"("\u12g4")"), "line 1, column 4: expected four hex digits");
  EXPECT_EQ(json_error(R"("\ud800")"), "line 1, column 8: half of a surrogate pair");
  EXPECT_EQ(json_error(R"("\udc00")"), "line 1, column 8: half of a surrogate pair");
  EXPECT_EQ(json_error("// c\n1"), "line 1, column 1: expected a value");
  EXPECT_EQ(json_error(std::string_view("[1]\0", 4)),
            "line 1, column 4: text after the end of the value");
}

TEST(JsonTest, LimitsHold) {
  const std::string deep = std::string(101, '[') + std::string(101, ']');
  EXPECT_EQ(json_error(deep), "line 1, column 101: nested deeper than 100 levels");
  EXPECT_TRUE(parse_json(deep.substr(1, 200)));
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
  const Result<Value> large = parse_json("[1,2,3,4,5]", {.bytes_max = 10});
  EXPECT_EQ(large.error().code, Code::kTooLarge);
  EXPECT_EQ(large.error().message, "JSON of 11 bytes is over the limit of 10");
}

TEST(JsonTest, EveryPrefixOfADocumentIsRefused) {
  const std::string text = R"({"a":[1,-2.5e3,"x\u00e4",true,false,null],"b":{"c":{}}})";
  ASSERT_TRUE(parse_json(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_json(text.substr(0, size))) << size;
  }
}

TEST(JsonTest, TheWriterGivesTheTextOfTheDump) {
  JsonWriter writer;
  writer.begin_object().key("a").begin_array().value(1.0).value(NAN).value(-INFINITY).end_array();
  writer.member("b", std::string("ä\"\n")).member("c", true).member("d", std::int64_t{-7});
  writer.key("e").begin_object().end_object().key("f").begin_array().end_array().end_object();
  const Value same = Object{{"a", Array{1.0, NAN, -INFINITY}},
                            {"b", "ä\"\n"},
                            {"c", true},
                            {"d", -7},
                            {"e", Object{}},
                            {"f", Array{}}};
  EXPECT_EQ(writer.take(), dump_json(same));
}

}  // namespace
}  // namespace takt
