// SPDX-License-Identifier: Apache-2.0
// What runs a model. One implementation now (engines/onnx.h); tests have another.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "takt/serve/tensor.h"

namespace takt::serve {

/// What a model file says of itself, and what runs it.
struct ModelInfo {
  std::vector<TensorSpec> inputs, outputs;
  std::string platform;         // "onnxruntime_onnx"
  std::string runtime_version;  // "1.23.2"
  std::string runtime_digest;   // SHA-256 of the library file
};

/// A loaded model. run() may be called from several threads at once.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const ModelInfo& info() const = 0;
  /// Inputs in the model's order, checked against its specs. Gives all outputs in the model's
  /// order. kInvalid when the model refuses the values (an index out of range), with its own words.
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) = 0;
};

}  // namespace takt::serve
