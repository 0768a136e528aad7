// SPDX-License-Identifier: Apache-2.0
// Models run by ONNX Runtime (C API, loaded at run time).
#pragma once

#include <filesystem>
#include <memory>

#include "takt/serve/engine.h"

namespace takt::serve {

struct OnnxOptions {
  int threads = 1;  // within one operator; never spinning, so that neighbours keep their share
};

/// Loads an ONNX file. kInvalid when it is another format, broken, or has an input or output that
/// the protocol cannot carry; each says what to do.
Result<std::shared_ptr<Engine>> load_onnx(const std::filesystem::path& file,
                                          const OnnxOptions& options);

}  // namespace takt::serve
