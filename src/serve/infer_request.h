// SPDX-License-Identifier: Apache-2.0
// One inference request as both protocols see it, and its check against the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/base/error.h"
#include "takt/serve/engine.h"
#include "takt/serve/tensor.h"

namespace takt::serve {

struct NamedTensor {
  std::string name;
  Tensor tensor;
  /// parameters.binary_data_size: the bytes follow the JSON and are not in `tensor` yet.
  std::optional<std::size_t> binary_bytes;
};

struct OutputWish {
  std::string name;
  std::optional<bool> is_binary;  // parameters.binary_data
};

struct InferRequest {
  std::string id;  // echoed; empty: none
  std::vector<NamedTensor> inputs;
  std::vector<OutputWish> outputs;  // empty: all, in the model's order
  std::optional<bool> is_binary;    // binary_data_output, for outputs that do not say
  std::int64_t timeout_us = 0;      // 0: the server's own
};

/// One output of an answer.
struct InferOutput {
  const TensorSpec* spec = nullptr;  // of the model's info
  Tensor tensor;
  std::optional<bool> is_binary;
};

/// A request that fits the model.
struct BoundRequest {
  std::vector<Tensor> inputs;        // in the model's order
  std::vector<std::size_t> outputs;  // indices into the model's outputs, in the order asked for
  std::vector<std::optional<bool>> is_binary;  // one per entry of `outputs`
  std::int64_t rows = 1;
};

/// How many rows one request may have.
struct RowLimits {
  bool is_batchable = false;  // dimension 0 counts rows, all inputs share it
  std::int64_t rows_max = 0;  // of a batchable model; 0: no limit
};

/// Puts the inputs in the model's order. kInvalid names the input or output, what was given and
/// what is expected: unknown, missing or doubled names, type, shape, length, rows.
Result<BoundRequest> bind_request(InferRequest request, const ModelInfo& info,
                                  const RowLimits& limits);

}  // namespace takt::serve
