// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/infer_request.h"

#include <gtest/gtest.h>

namespace takt::serve {
namespace {

const ModelInfo kInfo{.inputs = {{"a", DataType::kFp32, {-1, 2}}, {"b", DataType::kInt8, {-1}}},
                      .outputs = {{"y", DataType::kFp32, {-1}}, {"z", DataType::kFp32, {-1}}}};
constexpr RowLimits kLimits{.is_batchable = true, .rows_max = 4};

NamedTensor tensor_a(std::int64_t rows) {
  return {"a",
          Tensor::own(DataType::kFp32, {rows, 2},
                      std::string(static_cast<std::size_t>(rows) * 8, '\0')),
          {}};
}
NamedTensor tensor_b(std::int64_t rows) {
  return {"b",
          Tensor::own(DataType::kInt8, {rows}, std::string(static_cast<std::size_t>(rows), '\0')),
          {}};
}

std::string refused(InferRequest request) {
  const auto bound = bind_request(std::move(request), kInfo, kLimits);
  return bound ? "no error" : bound.error().message;
}

TEST(InferRequest, inputs_come_out_in_the_models_order) {
  const auto bound = bind_request({.inputs = {tensor_b(3), tensor_a(3)}}, kInfo, kLimits);
  ASSERT_TRUE(bound) << bound.error().text();
  EXPECT_EQ(bound->inputs[0].type, DataType::kFp32);
  EXPECT_EQ(bound->rows, 3);
  EXPECT_EQ(bound->outputs, (std::vector<std::size_t>{0, 1}));
}

TEST(InferRequest, outputs_keep_the_order_asked_for) {
  const auto bound = bind_request({.inputs = {tensor_a(1), tensor_b(1)},
                                   .outputs = {{"z", true}, {"y", std::nullopt}},
                                   .is_binary = false},
                                  kInfo, kLimits);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->outputs, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(bound->is_binary, (std::vector<std::optional<bool>>{true, false}));
}

TEST(InferRequest, names_are_checked) {
  EXPECT_EQ(refused({.inputs = {tensor_a(1)}}),
            "input 'b' is missing; the model takes 'a' (FP32 [-1,2]), 'b' (INT8 [-1])");
  NamedTensor other = tensor_a(1);
  other.name = "c";
  EXPECT_EQ(refused({.inputs = {other}}),
            "input 'c': unknown name; the model takes 'a' (FP32 [-1,2]), 'b' (INT8 [-1])");
  EXPECT_EQ(refused({.inputs = {tensor_a(1), tensor_a(1)}}), "input 'a': given twice");
  EXPECT_EQ(refused({.inputs = {tensor_a(1), tensor_b(1)}, .outputs = {{"w", {}}}}),
            "output 'w' is unknown; the model gives 'y' (FP32 [-1]), 'z' (FP32 [-1])");
  EXPECT_EQ(refused({.inputs = {tensor_a(1), tensor_b(1)}, .outputs = {{"y", {}}, {"y", {}}}}),
            "output 'y' is asked for twice");
}

TEST(InferRequest, type_shape_and_length_are_checked) {
  NamedTensor wrong_type = tensor_b(1);
  wrong_type.tensor.type = DataType::kUint8;
  EXPECT_EQ(refused({.inputs = {wrong_type}}), "input 'b': datatype UINT8 given, INT8 expected");
  NamedTensor wrong_shape = tensor_a(1);
  wrong_shape.tensor.shape = {1, 3};
  EXPECT_EQ(refused({.inputs = {wrong_shape}}), "input 'a': shape [1,3] given, [-1,2] expected");
  NamedTensor wrong_length = tensor_a(1);
  wrong_length.tensor.shape = {2, 2};
  EXPECT_EQ(refused({.inputs = {wrong_length}}),
            "input 'a': 8 bytes given, shape [2,2] of FP32 needs 16");
}

TEST(InferRequest, rows_are_checked) {
  EXPECT_EQ(refused({.inputs = {tensor_a(5), tensor_b(5)}}),
            "input 'a': 5 rows given, at most 4 are allowed (max_batch_size)");
  EXPECT_EQ(refused({.inputs = {tensor_a(2), tensor_b(3)}}),
            "input 'b': 3 rows given, but input 'a' has 2");
  EXPECT_EQ(refused({.inputs = {tensor_a(0), tensor_b(0)}}),
            "input 'a': 0 rows given, at least 1 expected");
  EXPECT_TRUE(bind_request({.inputs = {tensor_a(5), tensor_b(3)}}, kInfo, RowLimits{}));
}

}  // namespace
}  // namespace takt::serve
