// SPDX-License-Identifier: Apache-2.0
// The protocol's traps 1-10 and 12 (docs/formats/inference.md), as far as they are JSON.
#include "takt/serve/json_tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "takt/base/rng.h"

namespace takt::serve {
namespace {

Result<InferRequest> parse(std::string text) {
  const std::size_t size = text.size();
  text.append(kJsonPadding, ' ');
  return parse_infer_json(std::string_view(text).substr(0, size));
}

Result<InferRequest> parse_input(const std::string& type, const std::string& shape,
                                 const std::string& data) {
  return parse(R"({"inputs":[{"name":"x","datatype":")" + type + R"(","shape":)" + shape +
               R"(,"data":)" + data + "}]}");
}

std::string message_of(const Result<InferRequest>& result) {
  return result ? "no error" : result.error().message;
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TEST(JsonTensor, reads_a_whole_request) {
  const auto request =
      parse(R"({"id":"a\"1","parameters":{"timeout":500,"binary_data_output":true,"mine":[1,{}]},
    "inputs":[{"name":"x","shape":[2,2],"datatype":"FP32","parameters":{"content_type":"np"},
      "data":[[1,2],[3,4.5]]}],
    "outputs":[{"name":"y","parameters":{"binary_data":false}},{"name":"z"}], "extra": null})");
  ASSERT_TRUE(request) << message_of(request);
  EXPECT_EQ(request->id, "a\"1");
  EXPECT_EQ(request->timeout_us, 500);
  EXPECT_EQ(request->is_binary, true);
  EXPECT_EQ(request->inputs[0].tensor.shape, (Shape{2, 2}));
  EXPECT_EQ(values_of<float>(request->inputs[0].tensor), (std::vector<float>{1, 2, 3, 4.5F}));
  EXPECT_EQ(request->outputs[0].is_binary, false);
  EXPECT_FALSE(request->outputs[1].is_binary);
}

TEST(JsonTensor, fields_may_come_in_any_order) {
  const auto request = parse(
      R"({"inputs":[{"data":[7],"parameters":{},"datatype":"INT8","shape":[1],"name":"x"}]})");
  ASSERT_TRUE(request) << message_of(request);
  EXPECT_EQ(values_of<std::int8_t>(request->inputs[0].tensor), std::vector<std::int8_t>{7});
}

TEST(JsonTensor, integers_out_of_range_are_refused_not_truncated) {
  EXPECT_TRUE(parse_input("INT8", "[2]", "[-128,127]"));
  EXPECT_EQ(message_of(parse_input("INT8", "[1]", "[128]")),
            "input 'x': value 0 is 128, not a valid INT8");
  EXPECT_FALSE(parse_input("UINT8", "[1]", "[-1]"));
  EXPECT_FALSE(parse_input("UINT16", "[1]", "[65536]"));
  EXPECT_FALSE(parse_input("INT32", "[1]", "[2147483648]"));
  EXPECT_FALSE(parse_input("INT64", "[1]", "[9223372036854775808]"));
  EXPECT_FALSE(parse_input("UINT64", "[1]", "[18446744073709551616]"));
  EXPECT_FALSE(parse_input("INT32", "[1]", "[1.5]"));
}

TEST(JsonTensor, sixty_four_bits_survive) {
  const auto wide = parse_input("UINT64", "[2]", "[18446744073709551615,9007199254740993]");
  ASSERT_TRUE(wide) << message_of(wide);
  EXPECT_EQ(values_of<std::uint64_t>(wide->inputs[0].tensor),
            (std::vector<std::uint64_t>{18446744073709551615U, 9007199254740993U}));
  const auto negative = parse_input("INT64", "[1]", "[-9223372036854775808]");
  ASSERT_TRUE(negative);
  EXPECT_EQ(values_of<std::int64_t>(negative->inputs[0].tensor)[0],
            std::numeric_limits<std::int64_t>::min());
}

TEST(JsonTensor, numbers_that_no_float_holds_are_refused) {
  EXPECT_FALSE(parse_input("FP32", "[1]", "[1e39]"));
  EXPECT_TRUE(parse_input("FP64", "[1]", "[1e39]"));
  EXPECT_FALSE(parse_input("FP64", "[1]", "[1e999]"));
  EXPECT_FALSE(parse_input("FP16", "[1]", "[65520]"));
  EXPECT_TRUE(parse_input("FP16", "[1]", "[65504]"));
}

TEST(JsonTensor, not_a_number_is_refused_with_the_way_out) {
  for (const std::string token : {"NaN", "Infinity", "-Infinity", "nan"}) {
    const auto request = parse_input("FP32", "[1]", "[" + token + "]");
    ASSERT_FALSE(request) << token;
    EXPECT_NE(request.error().hint.find("binary"), std::string::npos)
        << token << ": " << request.error().text();
  }
}

TEST(JsonTensor, a_scalar_has_an_empty_shape_and_one_value) {
  const auto request = parse_input("INT64", "[]", "[16000]");
  ASSERT_TRUE(request) << message_of(request);
  EXPECT_TRUE(request->inputs[0].tensor.shape.empty());
  EXPECT_FALSE(parse_input("INT64", "[]", "[]"));
}

TEST(JsonTensor, the_count_of_values_must_fit_the_shape) {
  EXPECT_EQ(message_of(parse_input("FP32", "[1,3]", "[1,2]")),
            "input 'x': 2 values given, shape [1,3] needs 3");
  EXPECT_EQ(message_of(parse_input("FP32", "[1,2]", "[1,2,3]")),
            "input 'x': more than 2 values given, shape [1,2] needs 2");
  EXPECT_TRUE(parse_input("FP32", "[0,4]", "[]"));
  EXPECT_FALSE(parse_input("FP32", "[-1]", "[1]"));
  EXPECT_FALSE(parse_input("FP32", "[4294967296,4294967296]", "[1]"));
  EXPECT_FALSE(parse_input("FP32", "[1099511627776]", "[1]"));
}

TEST(JsonTensor, texts_keep_escapes_and_empty_elements) {
  const auto request = parse_input("BYTES", "[3]", R"(["","a\u00e9\n","\u0000z"])");
  ASSERT_TRUE(request) << message_of(request);
  EXPECT_EQ(split_elements(request->inputs[0].tensor.bytes, 3),
            (std::vector<std::string_view>{"", "a\xc3\xa9\n", std::string_view("\0z", 2)}));
  EXPECT_FALSE(parse_input("BYTES", "[1]", "[1]"));
  EXPECT_FALSE(parse_input("BYTES", "[1]", "[\"\xff\"]"));
}

TEST(JsonTensor, wrong_requests_name_the_place) {
  EXPECT_EQ(message_of(parse("[]")), "request body must be a JSON object");
  EXPECT_EQ(message_of(parse("{}")), "field 'inputs' is missing");
  EXPECT_EQ(message_of(parse(R"({"inputs":3})")), "field 'inputs' must be an array");
  EXPECT_EQ(message_of(parse(R"({"inputs":[3]})")), "inputs[0] must be an object");
  EXPECT_EQ(message_of(parse(R"({"inputs":[{}]})")), "inputs[0]: field 'name' is missing");
  EXPECT_EQ(message_of(parse(R"({"inputs":[{"name":"x","shape":[1],"data":[1]}]})")),
            "input 'x': field 'datatype' is missing");
  EXPECT_EQ(message_of(parse_input("FP8", "[1]", "[1]")), "input 'x': datatype 'FP8' is unknown");
  EXPECT_EQ(message_of(parse_input("FP32", "[1]", "1")),
            "input 'x': field 'data' must be an array");
  EXPECT_EQ(message_of(parse_input("BOOL", "[1]", "[1]")),
            "input 'x': value 0 is 1, not a valid BOOL");
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse("{\"inputs\":["));
  EXPECT_FALSE(parse(R"({"inputs":[]} trailing)"));
  EXPECT_FALSE(parse_input("FP32", "[1]", std::string(40, '[') + "1" + std::string(40, ']')));
}

TEST(JsonTensor, exactly_one_of_data_and_binary_is_wanted) {
  EXPECT_EQ(message_of(parse(R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1]}]})")),
            "input 'x': neither 'data' nor 'binary_data_size' is given, one is expected");
  EXPECT_EQ(message_of(parse(R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1],"data":[1],
              "parameters":{"binary_data_size":4}}]})")),
            "input 'x': both 'data' and 'binary_data_size' are given, exactly one is expected");
  EXPECT_FALSE(parse(R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1],)"
                     R"("parameters":{"shared_memory_region":"r"}}]})"));
}

/// Random bits as a tensor of the type, without NaN and infinities.
std::string random_bytes(DataType type, std::size_t count, Rng& rng) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = rng.next();
    if (type == DataType::kBytes) {
      append_element(bytes, std::string(bits % 5, static_cast<char>('\x01' + bits % 126)));
      continue;
    }
    std::string element(reinterpret_cast<const char*>(&bits), data_type_info(type).size);
    if (type == DataType::kBool) element[0] &= 1;
    Tensor one = Tensor::own(type, {1}, element);
    std::string ignored;
    if (!append_json_data(ignored, one))
      --i;
    else
      bytes += element;
  }
  return bytes;
}

class JsonRoundTrip : public ::testing::TestWithParam<DataTypeInfo> {};

TEST_P(JsonRoundTrip, what_is_written_reads_back_bit_by_bit) {
  const DataTypeInfo& info = GetParam();
  Rng rng(20261130);
  for (int repeat = 0; repeat < 50; ++repeat) {
    const std::size_t count = rng.below(40);
    const Tensor sent = Tensor::own(info.type, {static_cast<std::int64_t>(count)},
                                    random_bytes(info.type, count, rng));
    std::string data;
    ASSERT_TRUE(append_json_data(data, sent));
    const auto request = parse_input(std::string(info.name), shape_text(sent.shape), data);
    ASSERT_TRUE(request) << message_of(request) << data;
    ASSERT_EQ(request->inputs[0].tensor.bytes, sent.bytes) << data;
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, JsonRoundTrip,
                         ::testing::ValuesIn(data_types().begin(), data_types().end()),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(JsonRender, floats_are_shortest) {
  const float values[] = {0.1F, 1.0F, 16777216.0F, 1e-45F, 3.4028235e38F};
  const Tensor tensor =
      Tensor::own(DataType::kFp32, {5}, {reinterpret_cast<const char*>(values), sizeof values});
  std::string out;
  ASSERT_TRUE(append_json_data(out, tensor));
  EXPECT_EQ(out, "[0.1,1,16777216,1e-45,3.4028235e+38]");
}

TEST(JsonRender, not_a_number_is_refused_with_the_way_out) {
  const double values[] = {1, std::numeric_limits<double>::quiet_NaN()};
  const Tensor tensor =
      Tensor::own(DataType::kFp64, {2}, {reinterpret_cast<const char*>(values), sizeof values});
  std::string out;
  const Status status = append_json_data(out, tensor);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "value 1 is NaN, which JSON cannot carry");
  EXPECT_NE(status.error().hint.find("binary_data"), std::string::npos);
}

TEST(JsonRender, bytes_that_are_not_text_are_refused) {
  std::string bytes;
  append_element(bytes, "\xff\xfe");
  std::string out;
  EXPECT_FALSE(append_json_data(out, Tensor::own(DataType::kBytes, {1}, bytes)));
}

TEST(JsonRender, strings_are_escaped) {
  std::string out;
  append_json_string(out, std::string_view("a\"\\\n\0é", 7));
  EXPECT_EQ(out, "\"a\\\"\\\\\\u000a\\u0000é\"");
}

}  // namespace
}  // namespace takt::serve
