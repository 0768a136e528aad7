// SPDX-License-Identifier: Apache-2.0
// append_json_data and append_json_string of json_tensor.h.
#include <charconv>
#include <cmath>
#include <cstring>

#include "takt/base/utf8.h"
#include "takt/serve/json_tensor.h"

namespace takt::serve {
namespace {

constexpr std::size_t kNumberCharsMax = 32;  // of a shortest double or a 64-bit integer

template <class T>
T element_at(std::string_view bytes, std::size_t index) {
  T element;
  std::memcpy(&element, bytes.data() + index * sizeof(T), sizeof(T));
  return element;
}

/// Appends all elements, converted by `convert` to something that std::to_chars takes.
template <class T, class Convert>
Status append_numbers(std::string& out, std::string_view bytes, Convert convert) {
  const std::size_t count = bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = convert(element_at<T>(bytes, i));
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      if (!std::isfinite(value)) [[unlikely]]
        return fail(Code::kInvalid,
                    "value " + std::to_string(i) + " is " +
                        (std::isnan(value) ? "NaN" : "infinite") + ", which JSON cannot carry",
                    "ask for this output as binary data: \"parameters\":{\"binary_data\":true}");
    }
    char text[kNumberCharsMax];
    const auto end = std::to_chars(text, text + sizeof text, value);
    if (i > 0) out += ',';
    out.append(text, static_cast<std::size_t>(end.ptr - text));
  }
  return {};
}

template <class T>
Status append_plain(std::string& out, std::string_view bytes) {
  return append_numbers<T>(out, bytes, [](T value) { return value; });
}

Status append_bools(std::string& out, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out += ',';
    out += bytes[i] != 0 ? "true" : "false";
  }
  return {};
}

Status append_texts(std::string& out, const Tensor& tensor) {
  TAKT_ASSIGN(const std::int64_t count, count_elements(tensor.shape));
  std::size_t index = 0;
  for (const std::string_view element : split_elements(tensor.bytes, count)) {
    if (find_invalid_utf8(element))
      return fail(
          Code::kInvalid,
          "BYTES element " + std::to_string(index) + " is not UTF-8 text, which JSON cannot carry",
          "ask for this output as binary data: \"parameters\":{\"binary_data\":true}");
    if (index++ > 0) out += ',';
    append_json_string(out, element);
  }
  return {};
}

Status append_elements(std::string& out, const Tensor& tensor) {
  const std::string_view bytes = tensor.bytes;
  switch (tensor.type) {
    case DataType::kBool:
      return append_bools(out, bytes);
    case DataType::kUint8:
      return append_numbers<std::uint8_t>(out, bytes,
                                          [](std::uint8_t v) { return static_cast<unsigned>(v); });
    case DataType::kInt8:
      return append_numbers<std::int8_t>(out, bytes,
                                         [](std::int8_t v) { return static_cast<int>(v); });
    case DataType::kUint16:
      return append_plain<std::uint16_t>(out, bytes);
    case DataType::kUint32:
      return append_plain<std::uint32_t>(out, bytes);
    case DataType::kUint64:
      return append_plain<std::uint64_t>(out, bytes);
    case DataType::kInt16:
      return append_plain<std::int16_t>(out, bytes);
    case DataType::kInt32:
      return append_plain<std::int32_t>(out, bytes);
    case DataType::kInt64:
      return append_plain<std::int64_t>(out, bytes);
    case DataType::kFp16:
      return append_numbers<std::uint16_t>(out, bytes, half_to_float);
    case DataType::kBf16:
      return append_numbers<std::uint16_t>(out, bytes, bfloat_to_float);
    case DataType::kFp32:
      return append_plain<float>(out, bytes);
    case DataType::kFp64:
      return append_plain<double>(out, bytes);
    case DataType::kBytes:
      return append_texts(out, tensor);
  }
  return {};
}

}  // namespace

Status append_json_data(std::string& out, const Tensor& tensor) {
  out += '[';
  TAKT_RETURN_IF_ERROR(append_elements(out, tensor));
  out += ']';
  return {};
}

void append_json_string(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 0xf];
    }
  }
  out.append(text, plain, text.size() - plain);
  out += '"';
}

}  // namespace takt::serve
