// SPDX-License-Identifier: Apache-2.0
#include "takt/base/value.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

TEST(ValueTest, HoldsEachType) {
  EXPECT_TRUE(Value().is_null());
  EXPECT_TRUE(Value(true).as_bool());
  EXPECT_EQ(Value(7).as_int(), 7);
  EXPECT_EQ(Value(7).as_number(), 7.0);
  EXPECT_EQ(Value(1.5).as_number(), 1.5);
  EXPECT_EQ(Value("x").as_string(), "x");
  EXPECT_EQ(Value(Array{1, 2}).as_array().size(), 2u);
  EXPECT_EQ(Value(Object{{"a", 1}})["a"].as_int(), 1);
  EXPECT_EQ(Value("x").type_name(), "string");
  EXPECT_EQ(Value(1).type_name(), "integer");
  EXPECT_EQ(Value(1.0).type_name(), "number");
}

TEST(ValueTest, ReadsMembersWithFallbacks) {
  const Value value(
      Object{{"text", "a"}, {"count", 3}, {"share", 0.5}, {"on", true}, {"no", Value()}});
  EXPECT_EQ(value.text_or("text", "z"), "a");
  EXPECT_EQ(value.text_or("count", "z"), "z");
  EXPECT_EQ(value.int_or("count", 9), 3);
  EXPECT_EQ(value.int_or("share", 9), 9);
  EXPECT_EQ(value.number_or("count", 9), 3.0);
  EXPECT_EQ(value.number_or("share", 9), 0.5);
  EXPECT_TRUE(value.bool_or("on", false));
  EXPECT_TRUE(value.has("on"));
  EXPECT_FALSE(value.has("no"));
  EXPECT_FALSE(value.has("missing"));
  EXPECT_TRUE(Value(3)["missing"]["deeper"].is_null());
}

TEST(ValueTest, GrowsFromNull) {
  Value value;
  value["a"]["b"] = 1;
  value["list"].push_back("x");
  value["list"].push_back(2);
  EXPECT_EQ(dump_json(value), R"({"a":{"b":1},"list":["x",2]})");
}

TEST(ValueTest, IndexingANonObjectNeverAborts) {
  Value value(Array{1, 2});
  EXPECT_TRUE(std::as_const(value)["a"].is_null());
  EXPECT_TRUE(value.is_array());
  EXPECT_TRUE(value["a"].is_null());
  EXPECT_TRUE(value.is_object());
}

TEST(ValueDeathTest, WrongTypesAbort) {
  EXPECT_DEATH((void)Value(1).as_string(), "Value holds another type");
}

TEST(ValueTest, NearestName) {
  const std::vector<std::string> names = {"command", "resources", "retries", "timeout"};
  EXPECT_EQ(nearest_name("comand", names), "command");
  EXPECT_EQ(nearest_name("Resource", names), "resources");
  EXPECT_EQ(nearest_name("tiemout", names), "timeout");
  EXPECT_EQ(nearest_name("xyzzy", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'a'), names), "");
}

struct Limits {
  std::string cpu;
  std::int64_t gpus = 0;
};

Result<Limits> read_limits(const Value& value) {
  Fields fields(value, "spec.resources");
  Limits limits;
  limits.cpu = fields.amount("cpu", "100m");
  limits.gpus = fields.integer("gpus", 0, 0, 64);
  TAKT_RETURN_IF_ERROR(fields.done());
  return limits;
}

TEST(FieldsTest, ReadsWhatIsThere) {
  EXPECT_EQ(read_limits(Value(Object{{"cpu", "2"}, {"gpus", 1}}))->cpu, "2");
  EXPECT_EQ(read_limits(Value(Object{{"cpu", 2}}))->cpu, "2");
  EXPECT_EQ(read_limits(Value(Object{{"cpu", 0.5}}))->cpu, "0.5");
  EXPECT_EQ(read_limits(Value(Object{}))->cpu, "100m");
  EXPECT_EQ(read_limits(Value(Object{{"gpus", Value()}}))->gpus, 0);
}

TEST(FieldsTest, NamesTheFieldAndTheValue) {
  Error error = read_limits(Value(Object{{"gpus", 128}})).error();
  EXPECT_EQ(error.message, "spec.resources.gpus: must be 0..64, got 128");
  EXPECT_EQ(error.field, "spec.resources.gpus");
  EXPECT_EQ(error.code, Code::kInvalid);
  error = read_limits(Value(Object{{"gpus", "two"}})).error();
  EXPECT_EQ(error.message, "spec.resources.gpus: must be an integer, got text");
  error = read_limits(Value(Object{{"gpus", 1.5}})).error();
  EXPECT_EQ(error.message, "spec.resources.gpus: must be an integer, got number");
  error = read_limits(Value("all")).error();
  EXPECT_EQ(error.message, "spec.resources: must be an object, got text");
  error = read_limits(Value(Object{{"cpu", true}})).error();
  EXPECT_EQ(error.message, "spec.resources.cpu: must be text or a number, got boolean");
}

TEST(FieldsTest, RefusesUnknownFields) {
  Error error = read_limits(Value(Object{{"gpu", 1}})).error();
  EXPECT_EQ(error.text(), "spec.resources.gpu: unknown field; did you mean \"gpus\"?");
  EXPECT_EQ(error.field, "spec.resources.gpu");
  error = read_limits(Value(Object{{"disk", 1}})).error();
  EXPECT_EQ(error.text(), "spec.resources.disk: unknown field; known fields: cpu gpus");
}

TEST(FieldsTest, AnUnknownFieldGoesBeforeAMissingOne) {
  const Value value(Object{{"modle", "m@1"}});
  Fields fields(value, "spec");
  fields.text("model");
  EXPECT_EQ(fields.done().error().text(), "spec.modle: unknown field; did you mean \"model\"?");
}

TEST(FieldsTest, KeepsTheFirstError) {
  const Value value(Object{{"name", 3}, {"list", "x"}});
  Fields fields(value, "");
  EXPECT_EQ(fields.text("name"), "");
  EXPECT_TRUE(fields.array("list").empty());
  fields.reject("list", "empty");
  EXPECT_EQ(fields.done().error().message, "name: must be text, got integer");
}

TEST(FieldsTest, RequiredTextAndOtherGetters) {
  const Value value(Object{{"words", Array{"a", "b"}},
                           {"word", "c"},
                           {"mixed", Array{"a", 1}},
                           {"on", true},
                           {"share", 2},
                           {"map", Object{{"k", 1}}}});
  Fields fields(value, "spec");
  EXPECT_EQ(fields.texts("words"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fields.texts("word"), std::vector<std::string>{"c"});
  EXPECT_TRUE(fields.texts("none").empty());
  EXPECT_TRUE(fields.boolean("on", false));
  EXPECT_EQ(fields.number("share", 0), 2.0);
  EXPECT_EQ(fields.object("map").size(), 1u);
  EXPECT_TRUE(fields.any("mixed").is_array());
  EXPECT_TRUE(fields.any("nothing").is_null());
  EXPECT_TRUE(fields.done());
  EXPECT_TRUE(fields.texts("mixed").empty());
  EXPECT_EQ(fields.done().error().message, "spec.mixed[1]: must be text, got integer");

  const Value empty(Object{});
  Fields required(empty, "spec");
  EXPECT_EQ(required.text("title"), "");
  EXPECT_EQ(required.done().error().message, "spec.title: required");

  const Value share(Object{{"share", 2}});
  Fields open_range(share, "");
  EXPECT_EQ(open_range.integer("share", 0, 3, INT64_MAX), 0);
  EXPECT_EQ(open_range.done().error().message, "share: must be at least 3, got 2");

  // A misspelled field is named before what is missing because of it.
  const Value misspelled(Object{{"titel", "x"}});
  Fields both(misspelled, "spec");
  EXPECT_EQ(both.text("title"), "");
  EXPECT_EQ(both.done().error().message, "spec.titel: unknown field");
}

}  // namespace
}  // namespace takt
