// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/tensor.h"

#include <bit>
#include <cstring>

namespace takt::serve {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are moved as they lie in memory");

constexpr std::array<DataTypeInfo, 14> kDataTypes{{
    {DataType::kBool, "BOOL", 1},
    {DataType::kUint8, "UINT8", 1},
    {DataType::kUint16, "UINT16", 2},
    {DataType::kUint32, "UINT32", 4},
    {DataType::kUint64, "UINT64", 8},
    {DataType::kInt8, "INT8", 1},
    {DataType::kInt16, "INT16", 2},
    {DataType::kInt32, "INT32", 4},
    {DataType::kInt64, "INT64", 8},
    {DataType::kFp16, "FP16", 2},
    {DataType::kBf16, "BF16", 2},
    {DataType::kFp32, "FP32", 4},
    {DataType::kFp64, "FP64", 8},
    {DataType::kBytes, "BYTES", 0},
}};

std::uint32_t read_length(std::string_view bytes, std::size_t at) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + at, sizeof length);
  return length;
}

/// Bytes that the first `count` elements of a checked BYTES value take.
std::size_t elements_size(std::string_view bytes, std::int64_t count) {
  std::size_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) at += 4 + read_length(bytes, at);
  return at;
}

Status check_elements(const Shape& shape, std::int64_t count, std::string_view bytes) {
  std::size_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t left = bytes.size() - at;
    if (left < 4)
      return fail(Code::kInvalid, std::to_string(i) + " BYTES elements given, shape " +
                                      shape_text(shape) + " needs " + std::to_string(count));
    const std::size_t length = read_length(bytes, at);
    if (length > left - 4)
      return fail(Code::kInvalid, "BYTES element " + std::to_string(i) + " says it has " +
                                      std::to_string(length) + " bytes, but only " +
                                      std::to_string(left - 4) + " are left");
    at += 4 + length;
  }
  if (at != bytes.size())
    return fail(Code::kInvalid, std::to_string(bytes.size() - at) +
                                    " bytes are left over after the " + std::to_string(count) +
                                    " elements that shape " + shape_text(shape) + " needs");
  return {};
}

}  // namespace

std::span<const DataTypeInfo> data_types() { return kDataTypes; }

const DataTypeInfo& data_type_info(DataType type) {
  return kDataTypes[static_cast<std::size_t>(type)];
}

std::optional<DataType> find_data_type(std::string_view name) {
  for (const DataTypeInfo& info : kDataTypes)
    if (info.name == name) return info.type;
  return std::nullopt;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

Result<std::int64_t> count_elements(const Shape& shape) {
  if (shape.size() > kRankMax)
    return fail(Code::kInvalid, "shape has " + std::to_string(shape.size()) +
                                    " dimensions, at most " + std::to_string(kRankMax) +
                                    " are allowed");
  std::int64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0)
      return fail(Code::kInvalid, "shape " + shape_text(shape) + " has a negative dimension");
    if (size == 0) {
      is_empty = true;
      continue;
    }
    if (size > kElementsMax / count)
      return fail(Code::kInvalid, "shape " + shape_text(shape) + " has more than " +
                                      std::to_string(kElementsMax) + " elements");
    count *= size;
  }
  return is_empty ? 0 : count;
}

bool shape_matches(const Shape& given, const Shape& spec) {
  if (given.size() != spec.size()) return false;
  for (std::size_t i = 0; i < spec.size(); ++i)
    if (spec[i] >= 0 && spec[i] != given[i]) return false;
  return true;
}

Tensor Tensor::own(DataType type, Shape shape, std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  return Tensor{type, std::move(shape), *owner, owner};
}

Status check_bytes(DataType type, const Shape& shape, std::string_view bytes) {
  TAKT_ASSIGN(const std::int64_t count, count_elements(shape));
  if (type == DataType::kBytes) return check_elements(shape, count, bytes);
  const DataTypeInfo& info = data_type_info(type);
  const auto needed = static_cast<std::size_t>(count) * info.size;
  if (bytes.size() != needed)
    return fail(Code::kInvalid, std::to_string(bytes.size()) + " bytes given, shape " +
                                    shape_text(shape) + " of " + std::string(info.name) +
                                    " needs " + std::to_string(needed));
  return {};
}

std::vector<std::string_view> split_elements(std::string_view bytes, std::int64_t count) {
  std::vector<std::string_view> elements;
  elements.reserve(static_cast<std::size_t>(count));
  std::size_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t length = read_length(bytes, at);
    elements.push_back(bytes.substr(at + 4, length));
    at += 4 + length;
  }
  return elements;
}

void append_element(std::string& out, std::string_view element) {
  const auto length = static_cast<std::uint32_t>(element.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out.append(element);
}

Tensor slice_rows(const Tensor& whole, std::int64_t first, std::int64_t count) {
  Tensor part{whole.type, whole.shape, {}, whole.owner};
  part.shape[0] = count;
  std::int64_t row_elements = 1;
  for (std::size_t i = 1; i < whole.shape.size(); ++i) row_elements *= whole.shape[i];
  if (whole.type == DataType::kBytes) {
    const std::size_t begin = elements_size(whole.bytes, first * row_elements);
    const std::string_view rest = whole.bytes.substr(begin);
    part.bytes = rest.substr(0, elements_size(rest, count * row_elements));
    return part;
  }
  const std::size_t row_bytes =
      static_cast<std::size_t>(row_elements) * data_type_info(whole.type).size;
  part.bytes = whole.bytes.substr(static_cast<std::size_t>(first) * row_bytes,
                                  static_cast<std::size_t>(count) * row_bytes);
  return part;
}

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1f;
  const std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00);   // NaN
  if (magnitude >= 0x47800000) return static_cast<std::uint16_t>(sign | 0x7c00);  // 65536 and more
  if (magnitude <
      0x38800000) {  // below 2^-14: adding 0.5 lets the FPU round at the subnormal's bit
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + odd) >> 13));
}

float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t float_to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace takt::serve
