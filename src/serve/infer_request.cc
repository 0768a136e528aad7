// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/infer_request.h"

#include <utility>

namespace takt::serve {
namespace {

std::string spec_text(const TensorSpec& spec) {
  return "'" + spec.name + "' (" + std::string(data_type_info(spec.type).name) + " " +
         shape_text(spec.shape) + ")";
}

std::string specs_text(const std::vector<TensorSpec>& specs) {
  std::string text;
  for (const TensorSpec& spec : specs) text += (text.empty() ? "" : ", ") + spec_text(spec);
  return text.empty() ? "none" : text;
}

std::unexpected<Error> bad_input(const std::string& name, std::string message,
                                 std::string hint = {}) {
  return fail(Code::kInvalid, "input '" + name + "': " + std::move(message), std::move(hint),
              "inputs." + name);
}

std::size_t index_of(const std::vector<TensorSpec>& specs, std::string_view name) {
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (specs[i].name == name) return i;
  return specs.size();
}

Status check_input(const NamedTensor& input, const TensorSpec& spec) {
  const Tensor& tensor = input.tensor;
  if (tensor.type != spec.type)
    return bad_input(input.name, "datatype " + std::string(data_type_info(tensor.type).name) +
                                     " given, " + std::string(data_type_info(spec.type).name) +
                                     " expected");
  if (!shape_matches(tensor.shape, spec.shape))
    return bad_input(
        input.name,
        "shape " + shape_text(tensor.shape) + " given, " + shape_text(spec.shape) + " expected",
        spec.shape.empty() ? "" : "-1 stands for any size");
  if (Status bytes = check_bytes(tensor.type, tensor.shape, tensor.bytes); !bytes)
    return bad_input(input.name, bytes.error().message);
  return {};
}

Status check_rows(const BoundRequest& bound, const ModelInfo& info, const RowLimits& limits) {
  for (std::size_t i = 1; i < bound.inputs.size(); ++i)
    if (bound.inputs[i].rows() != bound.rows)
      return bad_input(info.inputs[i].name, std::to_string(bound.inputs[i].rows()) +
                                                " rows given, but input '" + info.inputs[0].name +
                                                "' has " + std::to_string(bound.rows));
  if (bound.rows == 0) return bad_input(info.inputs[0].name, "0 rows given, at least 1 expected");
  if (limits.rows_max > 0 && bound.rows > limits.rows_max)
    return bad_input(info.inputs[0].name,
                     std::to_string(bound.rows) + " rows given, at most " +
                         std::to_string(limits.rows_max) + " are allowed (max_batch_size)",
                     "send fewer rows per request or raise max_batch_size");
  return {};
}

Status bind_outputs(const InferRequest& request, const ModelInfo& info, BoundRequest& bound) {
  if (request.outputs.empty()) {
    for (std::size_t i = 0; i < info.outputs.size(); ++i) bound.outputs.push_back(i);
    bound.is_binary.assign(info.outputs.size(), request.is_binary);
    return {};
  }
  for (const OutputWish& wish : request.outputs) {
    const std::size_t index = index_of(info.outputs, wish.name);
    if (index == info.outputs.size())
      return fail(
          Code::kInvalid,
          "output '" + wish.name + "' is unknown; the model gives " + specs_text(info.outputs), {},
          "outputs." + wish.name);
    for (const std::size_t earlier : bound.outputs)
      if (earlier == index)
        return fail(Code::kInvalid, "output '" + wish.name + "' is asked for twice", {},
                    "outputs." + wish.name);
    bound.outputs.push_back(index);
    bound.is_binary.push_back(wish.is_binary ? wish.is_binary : request.is_binary);
  }
  return {};
}

}  // namespace

Result<BoundRequest> bind_request(InferRequest request, const ModelInfo& info,
                                  const RowLimits& limits) {
  BoundRequest bound;
  bound.inputs.resize(info.inputs.size());
  std::vector<bool> is_given(info.inputs.size(), false);
  for (NamedTensor& input : request.inputs) {
    const std::size_t index = index_of(info.inputs, input.name);
    if (index == info.inputs.size())
      return bad_input(input.name, "unknown name; the model takes " + specs_text(info.inputs));
    if (is_given[index]) return bad_input(input.name, "given twice");
    TAKT_RETURN_IF_ERROR(check_input(input, info.inputs[index]));
    is_given[index] = true;
    bound.inputs[index] = std::move(input.tensor);
  }
  for (std::size_t i = 0; i < is_given.size(); ++i)
    if (!is_given[i])
      return fail(Code::kInvalid,
                  "input '" + info.inputs[i].name + "' is missing; the model takes " +
                      specs_text(info.inputs),
                  {}, "inputs." + info.inputs[i].name);
  if (limits.is_batchable) {
    bound.rows = bound.inputs.front().rows();
    TAKT_RETURN_IF_ERROR(check_rows(bound, info, limits));
  }
  TAKT_RETURN_IF_ERROR(bind_outputs(request, info, bound));
  return bound;
}

}  // namespace takt::serve
