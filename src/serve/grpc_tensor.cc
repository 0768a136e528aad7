// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/grpc_tensor.h"

#include <utility>

#include "open_inference.pb.h"

namespace takt::serve {
namespace {

using inference::InferTensorContents;

template <class Wire, class Values>
Result<std::string> pack_values(const Values& values) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(values.size()) * sizeof(Wire));
  for (const auto value : values) {
    if constexpr (std::is_integral_v<Wire> && !std::is_same_v<Wire, bool>) {
      if (!std::in_range<Wire>(value))
        return fail(Code::kInvalid,
                    "value " + std::to_string(value) + " is out of the datatype's range");
    }
    const auto element = static_cast<Wire>(value);
    bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
  }
  return bytes;
}

Result<std::string> pack_contents(DataType type, const InferTensorContents& contents) {
  switch (type) {
    case DataType::kBool:
      return pack_values<bool>(contents.bool_contents());
    case DataType::kUint8:
      return pack_values<std::uint8_t>(contents.uint_contents());
    case DataType::kUint16:
      return pack_values<std::uint16_t>(contents.uint_contents());
    case DataType::kUint32:
      return pack_values<std::uint32_t>(contents.uint_contents());
    case DataType::kUint64:
      return pack_values<std::uint64_t>(contents.uint64_contents());
    case DataType::kInt8:
      return pack_values<std::int8_t>(contents.int_contents());
    case DataType::kInt16:
      return pack_values<std::int16_t>(contents.int_contents());
    case DataType::kInt32:
      return pack_values<std::int32_t>(contents.int_contents());
    case DataType::kInt64:
      return pack_values<std::int64_t>(contents.int64_contents());
    case DataType::kFp32:
      return pack_values<float>(contents.fp32_contents());
    case DataType::kFp64:
      return pack_values<double>(contents.fp64_contents());
    case DataType::kBytes: {
      std::string bytes;
      for (const std::string& element : contents.bytes_contents()) append_element(bytes, element);
      return bytes;
    }
    case DataType::kFp16:
    case DataType::kBf16:
      break;
  }
  return fail(Code::kInvalid, std::string(data_type_info(type).name) + " has no typed contents",
              "send it in raw_input_contents");
}

Result<NamedTensor> decode_input(const inference::ModelInferRequest_InferInputTensor& message,
                                 const std::string* raw) {
  NamedTensor input;
  input.name = message.name();
  const auto type = find_data_type(message.datatype());
  if (!type) return fail(Code::kInvalid, "datatype '" + message.datatype() + "' is unknown");
  if (message.parameters().contains("shared_memory_region"))
    return fail(Code::kInvalid, "parameter 'shared_memory_region' is not supported",
                "send the tensor in the message");
  input.tensor.type = *type;
  input.tensor.shape.assign(message.shape().begin(), message.shape().end());
  if (raw != nullptr) {
    if (message.has_contents())
      return fail(Code::kInvalid,
                  "both contents and raw_input_contents are given, one is expected");
    input.tensor.bytes = *raw;
    return input;
  }
  TAKT_ASSIGN(std::string bytes, pack_contents(*type, message.contents()));
  input.tensor = Tensor::own(*type, std::move(input.tensor.shape), std::move(bytes));
  return input;
}

Status decode_outputs(const inference::ModelInferRequest& message, InferRequest& request) {
  for (const auto& output : message.outputs()) {
    for (const std::string name : {"classification", "shared_memory_region"})
      if (output.parameters().contains(name))
        return fail(Code::kInvalid,
                    "output '" + output.name() + "': parameter '" + name + "' is not supported");
    request.outputs.push_back({output.name(), std::nullopt});
  }
  return {};
}

Result<std::int64_t> decode_timeout(const inference::ModelInferRequest& message) {
  const auto found = message.parameters().find("timeout");
  if (found == message.parameters().end()) return 0;
  const inference::InferParameter& parameter = found->second;
  if (parameter.has_int64_param() && parameter.int64_param() >= 0) return parameter.int64_param();
  if (parameter.has_uint64_param() && std::in_range<std::int64_t>(parameter.uint64_param()))
    return static_cast<std::int64_t>(parameter.uint64_param());
  return fail(Code::kInvalid, "parameter 'timeout' must be a count of microseconds");
}

}  // namespace

Result<InferRequest> decode_infer_message(const inference::ModelInferRequest& message) {
  InferRequest request;
  request.id = message.id();
  TAKT_ASSIGN(request.timeout_us, decode_timeout(message));
  const bool is_raw = message.raw_input_contents_size() > 0;
  if (is_raw && message.raw_input_contents_size() != message.inputs_size())
    return fail(Code::kInvalid, std::to_string(message.raw_input_contents_size()) +
                                    " raw_input_contents given for " +
                                    std::to_string(message.inputs_size()) + " inputs");
  request.inputs.reserve(static_cast<std::size_t>(message.inputs_size()));
  for (int i = 0; i < message.inputs_size(); ++i) {
    auto input = decode_input(message.inputs(i), is_raw ? &message.raw_input_contents(i) : nullptr);
    if (!input)
      return fail(while_("input '" + message.inputs(i).name() + "'")(std::move(input).error()));
    request.inputs.push_back(std::move(*input));
  }
  TAKT_RETURN_IF_ERROR(decode_outputs(message, request));
  return request;
}

void fill_infer_message(std::span<const InferOutput> outputs,
                        inference::ModelInferResponse& message) {
  for (const InferOutput& output : outputs) {
    auto& tensor = *message.add_outputs();
    tensor.set_name(output.spec->name);
    tensor.set_datatype(std::string(data_type_info(output.tensor.type).name));
    tensor.mutable_shape()->Add(output.tensor.shape.begin(), output.tensor.shape.end());
    message.add_raw_output_contents(output.tensor.bytes.data(), output.tensor.bytes.size());
  }
}

}  // namespace takt::serve
