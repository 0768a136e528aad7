// SPDX-License-Identifier: Apache-2.0
// Tensors as the protocol has them: a type, a shape, and bytes that someone keeps alive.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.h"

namespace takt::serve {

enum class DataType : std::uint8_t {
  kBool,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp16,
  kBf16,
  kFp32,
  kFp64,
  kBytes,
};

struct DataTypeInfo {
  DataType type;
  std::string_view name;  // on the wire: "FP32"
  std::size_t size;       // bytes of an element; 0 for BYTES, whose elements vary
};
/// All of them, in the enum's order.
std::span<const DataTypeInfo> data_types();
const DataTypeInfo& data_type_info(DataType type);
std::optional<DataType> find_data_type(std::string_view name);

/// Sizes of the dimensions; empty is a scalar. In a spec, -1 stands for any size.
using Shape = std::vector<std::int64_t>;

inline constexpr std::size_t kRankMax = 32;
/// No tensor may have more elements (the bytes are bounded by the body as well).
inline constexpr std::int64_t kElementsMax = std::int64_t{1} << 40;

/// "[1,-1,64]"
std::string shape_text(const Shape& shape);
/// Product of the dimensions; refuses negative ones, overflow and more than kElementsMax.
Result<std::int64_t> count_elements(const Shape& shape);
/// `given` has the rank and sizes of `spec`, whose -1 match anything.
bool shape_matches(const Shape& given, const Shape& spec);

/// A tensor's value in the protocol's binary form: little-endian, row-major, BOOL one byte, BYTES a
/// u32 length and that many bytes per element. `bytes` is a view; `owner` keeps it alive.
struct Tensor {
  DataType type = DataType::kFp32;
  Shape shape;
  std::string_view bytes;
  std::shared_ptr<const void> owner;

  /// A tensor that owns its bytes.
  static Tensor own(DataType type, Shape shape, std::string bytes);
  /// The size of dimension 0; 1 for a scalar.
  std::int64_t rows() const { return shape.empty() ? 1 : shape.front(); }
};

/// Name, type and shape of a model's input or output.
struct TensorSpec {
  std::string name;
  DataType type = DataType::kFp32;
  Shape shape;
};

/// The bytes are just what type and shape need: for BYTES every length is walked. The message names
/// what was given and what is needed, without the tensor's name.
Status check_bytes(DataType type, const Shape& shape, std::string_view bytes);
/// The elements of BYTES in binary form that check_bytes has passed.
std::vector<std::string_view> split_elements(std::string_view bytes, std::int64_t count);
/// Appends one BYTES element in binary form.
void append_element(std::string& out, std::string_view element);

/// Rows [first, first + count) of dimension 0, as a view of the same owner.
Tensor slice_rows(const Tensor& whole, std::int64_t first, std::int64_t count);

/// IEEE half and bfloat16 as their bits; rounding to nearest even.
float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float value);
float bfloat_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat(float value);

}  // namespace takt::serve
