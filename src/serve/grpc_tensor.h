// SPDX-License-Identifier: Apache-2.0
// Inference requests and answers as protobuf messages.
#pragma once

#include <span>

#include "takt/base/error.h"
#include "takt/serve/infer_request.h"

namespace inference {
class ModelInferRequest;
class ModelInferResponse;
}  // namespace inference

namespace takt::serve {

/// The request's tensors as views of the message, which must stay until the answer is made; typed
/// contents are copied. kInvalid names the input, what was given and what is expected.
Result<InferRequest> decode_infer_message(const inference::ModelInferRequest& message);

/// Fills outputs and raw_output_contents: always raw, as clients of this protocol read only those.
void fill_infer_message(std::span<const InferOutput> outputs,
                        inference::ModelInferResponse& message);

}  // namespace takt::serve
