// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/binary_tensor.h"

#include <charconv>

#include "takt/serve/json_tensor.h"

namespace takt::serve {
namespace {

/// Gives each binary input its part of what follows the JSON.
Status attach_binary(InferRequest& request, std::string_view rest, const SharedBody& owner) {
  std::size_t at = 0;
  for (NamedTensor& input : request.inputs) {
    if (!input.binary_bytes) continue;
    const std::size_t left = rest.size() - at;
    if (*input.binary_bytes > left)
      return fail(Code::kInvalid, "input '" + input.name + "': binary_data_size is " +
                                      std::to_string(*input.binary_bytes) + ", but only " +
                                      std::to_string(left) + " bytes of the body are left");
    input.tensor.bytes = rest.substr(at, *input.binary_bytes);
    input.tensor.owner = owner;
    at += *input.binary_bytes;
  }
  if (at != rest.size())
    return fail(
        Code::kInvalid,
        std::to_string(rest.size() - at) + " bytes are left over behind the inputs' binary data",
        "binary_data_size of the inputs and " + std::string(kHeaderLengthName) +
            " must add up to the body's length");
  return {};
}

/// The shape of a raw request's one input, from its length: batch 1, at most one more free
/// dimension.
Result<Shape> raw_shape(const TensorSpec& spec, std::size_t bytes) {
  Shape shape = spec.shape;
  if (!shape.empty() && shape[0] < 0) shape[0] = 1;
  std::int64_t* free_size = nullptr;
  std::size_t known = spec.type == DataType::kBytes ? 1 : data_type_info(spec.type).size;
  for (std::int64_t& size : shape) {
    if (size >= 0) {
      known *= static_cast<std::size_t>(size);
    } else if (free_size != nullptr || spec.type == DataType::kBytes) {
      return fail(Code::kInvalid,
                  "input '" + spec.name + "': shape " + shape_text(spec.shape) +
                      " cannot be told from a raw body",
                  "send the JSON header that names the shape");
    } else {
      free_size = &size;
    }
  }
  if (free_size != nullptr) *free_size = static_cast<std::int64_t>(known == 0 ? 0 : bytes / known);
  return shape;
}

Result<InferRequest> decode_raw(const SharedBody& body, const ModelInfo& info) {
  if (info.inputs.size() != 1)
    return fail(Code::kInvalid,
                "a raw body needs a model with one input, this one has " +
                    std::to_string(info.inputs.size()),
                "send the JSON header that names the inputs");
  const TensorSpec& spec = info.inputs.front();
  NamedTensor input{spec.name, Tensor{spec.type, {}, *body, body}, {}};
  TAKT_ASSIGN(input.tensor.shape, raw_shape(spec, body->size()));
  if (spec.type == DataType::kBytes) {  // the body is the one element
    std::string element;
    append_element(element, *body);
    input.tensor = Tensor::own(spec.type, std::move(input.tensor.shape), std::move(element));
  }
  InferRequest request;
  request.inputs.push_back(std::move(input));
  request.is_binary = true;
  return request;
}

void append_number(std::string& out, std::int64_t number) {
  char text[24];
  out.append(text,
             static_cast<std::size_t>(std::to_chars(text, text + sizeof text, number).ptr - text));
}

void append_shape(std::string& out, const Shape& shape) {
  out += '[';
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ',';
    append_number(out, shape[i]);
  }
  out += ']';
}

bool wants_binary(const InferOutput& output) {
  const bool has_json_form =
      output.tensor.type != DataType::kFp16 && output.tensor.type != DataType::kBf16;
  return output.is_binary.value_or(!has_json_form);
}

Status append_output(std::string& json, const InferOutput& output) {
  json += "{\"name\":";
  append_json_string(json, output.spec->name);
  json += ",\"datatype\":\"";
  json += data_type_info(output.tensor.type).name;
  json += "\",\"shape\":";
  append_shape(json, output.tensor.shape);
  if (wants_binary(output)) {
    json += ",\"parameters\":{\"binary_data_size\":";
    append_number(json, static_cast<std::int64_t>(output.tensor.bytes.size()));
    json += "}}";
    return {};
  }
  json += ",\"data\":";
  TAKT_RETURN_IF_ERROR(append_json_data(json, output.tensor)
                           .transform_error(while_("output '" + output.spec->name + "'")));
  json += '}';
  return {};
}

}  // namespace

Result<InferRequest> decode_infer_body(const SharedBody& body, std::string_view header_length,
                                       const ModelInfo& info) {
  std::size_t json_size = body->size();
  if (!header_length.empty()) {
    const char* end = header_length.data() + header_length.size();
    const auto parsed = std::from_chars(header_length.data(), end, json_size);
    if (parsed.ec != std::errc() || parsed.ptr != end)
      return fail(Code::kInvalid, std::string(kHeaderLengthName) + " is '" +
                                      std::string(header_length.substr(0, 40)) +
                                      "', not a count of bytes");
    if (json_size > body->size())
      return fail(Code::kInvalid, std::string(kHeaderLengthName) + " is " +
                                      std::to_string(json_size) + ", but the body has only " +
                                      std::to_string(body->size()) + " bytes");
    if (json_size == 0) return decode_raw(body, info);
  }
  body->reserve(body->size() + kJsonPadding);  // before any view is taken
  TAKT_ASSIGN(InferRequest request, parse_infer_json(std::string_view(*body).substr(0, json_size)));
  TAKT_RETURN_IF_ERROR(attach_binary(request, std::string_view(*body).substr(json_size), body));
  return request;
}

Result<EncodedReply> encode_infer_reply(const ReplyHead& head,
                                        std::span<const InferOutput> outputs) {
  EncodedReply reply;
  std::string& json = reply.body;
  json.reserve(256 + 128 * outputs.size());
  json += "{\"model_name\":";
  append_json_string(json, head.model_name);
  json += ",\"model_version\":";
  append_json_string(json, head.model_version);
  if (!head.id.empty()) {
    json += ",\"id\":";
    append_json_string(json, head.id);
  }
  json += ",\"outputs\":[";
  std::size_t binary_bytes = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i > 0) json += ',';
    TAKT_RETURN_IF_ERROR(append_output(json, outputs[i]));
    if (wants_binary(outputs[i])) binary_bytes += outputs[i].tensor.bytes.size();
  }
  json += "]}";
  if (binary_bytes == 0) return reply;
  reply.header_length = json.size();
  json.reserve(json.size() + binary_bytes);
  for (const InferOutput& output : outputs)
    if (wants_binary(output)) json += output.tensor.bytes;
  return reply;
}

}  // namespace takt::serve
