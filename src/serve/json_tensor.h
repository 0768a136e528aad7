// SPDX-License-Identifier: Apache-2.0
// Inference requests and answers as JSON (docs/formats/inference.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "takt/base/error.h"
#include "takt/serve/infer_request.h"

namespace takt::serve {

/// Bytes that must be readable (not owned, not meaningful) behind the JSON text given to the
/// parser.
inline constexpr std::size_t kJsonPadding = 64;

/// Parses an inference request. `json` must be followed by kJsonPadding readable bytes. Inputs with
/// binary_data_size come without bytes; attach_binary gives them. Integers out of their type's
/// range, numbers that overflow a float, NaN and Infinity are refused, never rounded silently to
/// others.
Result<InferRequest> parse_infer_json(std::string_view json);

/// Appends the tensor's elements as a flat JSON array: shortest texts that read back exactly.
/// kInvalid for NaN, infinities and BYTES that are not UTF-8: JSON has no form for them.
Status append_json_data(std::string& out, const Tensor& tensor);
/// Appends `text` as a JSON string; it must be UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace takt::serve
