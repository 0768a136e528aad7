// SPDX-License-Identifier: Apache-2.0
// Bodies of inference requests: JSON and binary tensors, header lengths, packed bodies. The first
// byte chooses the entry, the next two the header length.
#include <cstddef>
#include <cstdint>
#include <string>

#include "takt/net/compression.h"
#include "takt/serve/binary_tensor.h"
#include "takt/serve/json_tensor.h"

namespace {

using takt::net::Encoding;
using takt::serve::DataType;
using takt::serve::ModelInfo;
using takt::serve::Tensor;

const ModelInfo& fuzz_model() {
  static const ModelInfo info{
      .inputs = {{"x", DataType::kFp32, {-1, 2}}},
      .outputs = {{"y", DataType::kFp32, {-1, 2}}},
  };
  return info;
}

const ModelInfo& text_model() {
  static const ModelInfo info{.inputs = {{"x", DataType::kBytes, {-1}}},
                              .outputs = {{"y", DataType::kBytes, {-1}}}};
  return info;
}

/// Whatever is accepted must bind safely, and what binds must be written and read back the same.
void try_body(const std::string& text, const std::string& header_length, const ModelInfo& info) {
  auto request =
      takt::serve::decode_infer_body(std::make_shared<std::string>(text), header_length, info);
  if (!request) return;
  auto bound =
      takt::serve::bind_request(std::move(*request), info, {.is_batchable = true, .rows_max = 64});
  if (!bound) return;
  const Tensor& tensor = bound->inputs[0];
  std::string data;
  if (!takt::serve::append_json_data(data, tensor)) return;  // NaN
  std::string json = R"({"inputs":[{"name":"x","datatype":")" +
                     std::string(takt::serve::data_type_info(tensor.type).name) + R"(","shape":)" +
                     takt::serve::shape_text(tensor.shape) + R"(,"data":)" + data + "}]}";
  const std::size_t size = json.size();
  json.append(takt::serve::kJsonPadding, ' ');
  const auto again = takt::serve::parse_infer_json(std::string_view(json).substr(0, size));
  if (!again || again->inputs[0].tensor.bytes != tensor.bytes) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::string length = std::to_string(data[1] | (data[2] << 8));
  switch (data[0] % 5) {
    case 0:
      try_body(text, "", fuzz_model());
      break;
    case 1:
      try_body(text, length, fuzz_model());
      break;
    case 2:
      try_body(text, length, text_model());
      break;
    case 3:
      (void)takt::net::decompress(text, Encoding::kGzip, 1 << 16);
      break;
    default:
      (void)takt::net::decompress(text, Encoding::kDeflate, 1 << 16);
      break;
  }
  return 0;
}
