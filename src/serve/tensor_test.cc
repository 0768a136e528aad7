// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/tensor.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace takt::serve {
namespace {

TEST(Tensor, every_type_is_found_by_its_name) {
  for (const DataTypeInfo& info : data_types()) {
    EXPECT_EQ(find_data_type(info.name), info.type);
    EXPECT_EQ(data_type_info(info.type).name, info.name);
  }
  EXPECT_FALSE(find_data_type("STRING"));
}

TEST(Tensor, counts_elements_and_refuses_what_overflows) {
  EXPECT_EQ(count_elements({}), 1);
  EXPECT_EQ(count_elements({2, 3}), 6);
  EXPECT_EQ(count_elements({std::numeric_limits<std::int64_t>::max(), 0}).error().code,
            Code::kInvalid);
  EXPECT_EQ(count_elements({0, 7}), 0);
  EXPECT_FALSE(count_elements({-1, 2}));
  EXPECT_FALSE(count_elements({std::int64_t{1} << 32, std::int64_t{1} << 32}));
  EXPECT_FALSE(count_elements(Shape(33, 1)));
}

TEST(Tensor, shape_matches_where_the_spec_is_open) {
  EXPECT_TRUE(shape_matches({5, 4}, {-1, 4}));
  EXPECT_FALSE(shape_matches({5, 3}, {-1, 4}));
  EXPECT_FALSE(shape_matches({5}, {-1, 4}));
  EXPECT_TRUE(shape_matches({}, {}));
}

TEST(Tensor, bytes_must_be_just_what_the_shape_needs) {
  EXPECT_TRUE(check_bytes(DataType::kFp32, {2}, std::string(8, '\0')));
  const Status bad = check_bytes(DataType::kFp32, {1, 64}, std::string(252, '\0'));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "252 bytes given, shape [1,64] of FP32 needs 256");
}

TEST(Tensor, lengths_of_elements_are_walked) {
  std::string bytes;
  append_element(bytes, "ab");
  append_element(bytes, std::string_view("\0c", 2));
  EXPECT_TRUE(check_bytes(DataType::kBytes, {2}, bytes));
  EXPECT_FALSE(check_bytes(DataType::kBytes, {1}, bytes));
  EXPECT_FALSE(check_bytes(DataType::kBytes, {3}, bytes));
  EXPECT_FALSE(check_bytes(DataType::kBytes, {2}, bytes.substr(0, bytes.size() - 1)));
  EXPECT_FALSE(check_bytes(DataType::kBytes, {1}, "\xff\xff\xff\xff"));
  EXPECT_EQ(split_elements(bytes, 2),
            (std::vector<std::string_view>{"ab", std::string_view("\0c", 2)}));
}

TEST(Tensor, rows_are_sliced_without_a_copy) {
  const Tensor whole = Tensor::own(DataType::kUint16, {3, 2}, std::string("aabbccddeeff"));
  const Tensor part = slice_rows(whole, 1, 2);
  EXPECT_EQ(part.shape, (Shape{2, 2}));
  EXPECT_EQ(part.bytes, "ccddeeff");
  EXPECT_EQ(part.bytes.data(), whole.bytes.data() + 4);
  std::string texts;
  for (const std::string_view text : {"", "one", "two", "three"}) append_element(texts, text);
  EXPECT_EQ(split_elements(slice_rows(Tensor::own(DataType::kBytes, {4}, texts), 1, 2).bytes, 2),
            (std::vector<std::string_view>{"one", "two"}));
}

TEST(Tensor, half_goes_there_and_back_for_all_bits) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide = half_to_float(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(wide))));
      continue;
    }
    ASSERT_EQ(float_to_half(wide), half) << bits;
  }
}

TEST(Tensor, half_rounds_to_nearest_even) {
  EXPECT_EQ(half_to_float(float_to_half(65504.0F)), 65504.0F);
  EXPECT_EQ(half_to_float(float_to_half(65519.0F)), 65504.0F);
  EXPECT_TRUE(std::isinf(half_to_float(float_to_half(65520.0F))));
  EXPECT_EQ(half_to_float(float_to_half(1.0F + 0x1p-11F)), 1.0F);
  EXPECT_EQ(half_to_float(float_to_half(1.0F + 3 * 0x1p-11F)), 1.0F + 0x1p-9F);
  EXPECT_EQ(half_to_float(float_to_half(0x1p-25F)), 0.0F);
  EXPECT_EQ(half_to_float(float_to_half(0x1.8p-24F)), 0x1p-23F);
  EXPECT_EQ(half_to_float(float_to_half(-0.1F)), -0.0999755859375F);
}

TEST(Tensor, bfloat_goes_there_and_back) {
  EXPECT_EQ(bfloat_to_float(float_to_bfloat(3.0F)), 3.0F);
  EXPECT_EQ(bfloat_to_float(float_to_bfloat(1.0F + 0x1p-9F)), 1.0F);
  EXPECT_TRUE(std::isnan(bfloat_to_float(float_to_bfloat(std::nanf("")))));
}

}  // namespace
}  // namespace takt::serve
