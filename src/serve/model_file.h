// SPDX-License-Identifier: Apache-2.0
// Finds the model in a folder, and tells what a file that is not ONNX is and how to export it.
#pragma once

#include <filesystem>
#include <string_view>

#include "takt/base/error.h"

namespace takt::serve {

/// The ONNX file of `path`: the file itself; of a folder, `model.onnx` anywhere in it (the one
/// nearest to the top), else its only *.onnx. kInvalid names what was found instead.
Result<std::filesystem::path> find_model_file(const std::filesystem::path& path);

/// kInvalid when the file's first bytes are those of another format; the message names the format,
/// the hint the exporter's call. ONNX has no magic of its own: passing this does not prove it is.
Status check_is_onnx(const std::filesystem::path& file);

/// A format judged by the first bytes of a file (and of a zip, its entries' names).
struct FileFormat {
  std::string_view name;      // "a Python pickle"; empty when unknown, perhaps ONNX
  std::string_view exporter;  // "skl2onnx.to_onnx(model, X[:1]) for ..."
};
FileFormat sniff_format(std::string_view head, std::string_view file_name);

}  // namespace takt::serve
