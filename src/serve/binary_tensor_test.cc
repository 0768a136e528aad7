// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/binary_tensor.h"

#include <gtest/gtest.h>

#include "takt/base/value.h"

namespace takt::serve {
namespace {

ModelInfo one_input(DataType type = DataType::kFp32, Shape shape = {-1, 2}) {
  return {.inputs = {{"x", type, std::move(shape)}}, .outputs = {{"y", type, {-1, 2}}}};
}

SharedBody shared(std::string text) { return std::make_shared<std::string>(std::move(text)); }

std::string binary_json(std::size_t first, std::size_t second) {
  return R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1],)"
         R"("parameters":{"binary_data_size":)" +
         std::to_string(first) +
         R"(}},{"name":"y","datatype":"UINT8","shape":[3],"parameters":{"binary_data_size":)" +
         std::to_string(second) + "}}]}";
}

TEST(BinaryTensor, inputs_take_their_bytes_in_order) {
  const std::string json = binary_json(4, 3);
  const SharedBody body = shared(json + "abcdefg");
  const auto request = decode_infer_body(body, std::to_string(json.size()), one_input());
  ASSERT_TRUE(request) << request.error().text();
  EXPECT_EQ(request->inputs[0].tensor.bytes, "abcd");
  EXPECT_EQ(request->inputs[1].tensor.bytes, "efg");
  EXPECT_EQ(request->inputs[1].tensor.owner, body);
}

TEST(BinaryTensor, lengths_must_add_up) {
  const std::string json = binary_json(4, 3);
  const auto decode = [&](const std::string& tail, const std::string& length) {
    const auto request = decode_infer_body(shared(json + tail), length, one_input());
    return request ? "no error" : request.error().message;
  };
  const std::string length = std::to_string(json.size());
  EXPECT_EQ(decode("abcdef", length),
            "input 'y': binary_data_size is 3, but only 2 bytes of the body are left");
  EXPECT_EQ(decode("abcdefgh", length), "1 bytes are left over behind the inputs' binary data");
  EXPECT_EQ(decode("", "99999"),
            "Inference-Header-Content-Length is 99999, but the body has only " + length + " bytes");
  EXPECT_EQ(decode("", "ten"), "Inference-Header-Content-Length is 'ten', not a count of bytes");
  EXPECT_EQ(decode("", "-1"), "Inference-Header-Content-Length is '-1', not a count of bytes");
  EXPECT_NE(decode("abcdefg", ""), "no error");
}

TEST(BinaryTensor, a_raw_body_is_the_one_input) {
  const auto request = decode_infer_body(shared(std::string(8, 'a')), "0", one_input());
  ASSERT_TRUE(request) << request.error().text();
  EXPECT_EQ(request->inputs[0].tensor.shape, (Shape{1, 2}));
  EXPECT_EQ(request->is_binary, true);
  const auto open =
      decode_infer_body(shared(std::string(12, 'a')), "0", one_input(DataType::kFp32, {-1, -1}));
  ASSERT_TRUE(open);
  EXPECT_EQ(open->inputs[0].tensor.shape, (Shape{1, 3}));
  const auto text = decode_infer_body(shared("jpeg"), "0", one_input(DataType::kBytes, {1}));
  ASSERT_TRUE(text);
  EXPECT_EQ(split_elements(text->inputs[0].tensor.bytes, 1)[0], "jpeg");
  EXPECT_FALSE(decode_infer_body(shared("a"), "0", one_input(DataType::kFp32, {-1, -1, -1})));
}

InferOutput output(const ModelInfo& info, Tensor tensor, std::optional<bool> is_binary) {
  return {&info.outputs[0], std::move(tensor), is_binary};
}

TEST(BinaryTensor, answers_are_json_unless_binary_is_asked_for) {
  const ModelInfo info = one_input(DataType::kInt32);
  const std::int32_t values[] = {1, -2};
  const Tensor tensor =
      Tensor::own(DataType::kInt32, {1, 2}, {reinterpret_cast<const char*>(values), sizeof values});
  const InferOutput plain[] = {output(info, tensor, std::nullopt)};
  const auto json = encode_infer_reply({"m", "1", ""}, plain);
  ASSERT_TRUE(json);
  EXPECT_FALSE(json->header_length);
  EXPECT_EQ(json->body,
            R"({"model_name":"m","model_version":"1","outputs":[{"name":"y","datatype":"INT32",)"
            R"("shape":[1,2],"data":[1,-2]}]})");
  const InferOutput raw[] = {output(info, tensor, true)};
  const auto binary = encode_infer_reply({"m", "1", "7"}, raw);
  ASSERT_TRUE(binary);
  const auto head = parse_json(binary->body.substr(0, *binary->header_length));
  ASSERT_TRUE(head) << head.error().text();
  EXPECT_EQ((*head)["id"].as_string(), "7");
  EXPECT_EQ((*head)["outputs"].as_array()[0]["parameters"]["binary_data_size"].as_int(), 8);
  EXPECT_FALSE((*head)["outputs"].as_array()[0].has("data"));
  EXPECT_EQ(binary->body.substr(*binary->header_length), tensor.bytes);
}

TEST(BinaryTensor, an_empty_binary_output_needs_no_header) {
  const ModelInfo info = one_input();
  const InferOutput empty[] = {output(info, Tensor::own(DataType::kFp32, {0, 2}, ""), true)};
  const auto reply = encode_infer_reply({"m", "1", ""}, empty);
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->header_length);
  EXPECT_TRUE(reply->body.contains("\"binary_data_size\":0"));
}

TEST(BinaryTensor, half_floats_are_binary_unless_json_is_asked_for) {
  const ModelInfo info = one_input(DataType::kFp16);
  const std::uint16_t one = float_to_half(1.5F);
  const Tensor tensor =
      Tensor::own(DataType::kFp16, {1}, {reinterpret_cast<const char*>(&one), sizeof one});
  const InferOutput unsaid[] = {output(info, tensor, std::nullopt)};
  EXPECT_TRUE(encode_infer_reply({"m", "1", ""}, unsaid)->header_length);
  const InferOutput asked[] = {output(info, tensor, false)};
  EXPECT_TRUE(encode_infer_reply({"m", "1", ""}, asked)->body.contains("\"data\":[1.5]"));
}

TEST(BinaryTensor, an_output_that_json_cannot_carry_is_named) {
  const ModelInfo info = one_input();
  const float nan = __builtin_nanf("");
  const InferOutput bad[] = {output(
      info, Tensor::own(DataType::kFp32, {1}, {reinterpret_cast<const char*>(&nan), sizeof nan}),
      false)};
  const auto reply = encode_infer_reply({"m", "1", ""}, bad);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "output 'y': value 0 is NaN, which JSON cannot carry");
}

}  // namespace
}  // namespace takt::serve
