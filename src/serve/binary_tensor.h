// SPDX-License-Identifier: Apache-2.0
// HTTP bodies of inference: JSON, then raw tensors (the protocol's binary tensor extension).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "takt/base/error.h"
#include "takt/serve/infer_request.h"

namespace takt::serve {

inline constexpr std::string_view kHeaderLengthName = "Inference-Header-Content-Length";

/// A body that is kept alive by whoever holds a view of it.
using SharedBody = std::shared_ptr<std::string>;

/// Decodes a request body. `header_length` is the header's value, empty when there is none: then
/// the whole body is JSON; "0" means that the body is the raw bytes of the model's one input.
/// Tensors are views of the body, which may be extended by some bytes of padding behind its end.
Result<InferRequest> decode_infer_body(const SharedBody& body, std::string_view header_length,
                                       const ModelInfo& info);

struct ReplyHead {
  std::string_view model_name, model_version, id;
};
struct EncodedReply {
  std::string body;
  std::optional<std::size_t> header_length;  // set when raw tensors follow the JSON
};
/// Encodes an answer: JSON, and behind it the outputs that are wanted in binary form. FP16 and BF16
/// are binary unless JSON was asked for; all others are JSON unless binary was asked for. kInvalid
/// names the output whose values JSON cannot carry.
Result<EncodedReply> encode_infer_reply(const ReplyHead& head,
                                        std::span<const InferOutput> outputs);

}  // namespace takt::serve
