// SPDX-License-Identifier: Apache-2.0
// The tiny ONNX files of testing/models, made by tools/make_test_models.py.
#pragma once

#include <filesystem>
#include <string_view>

namespace takt::serve::testing {

/// Tests run in the source tree's root (ctest) or anywhere in it.
inline std::filesystem::path model_path(std::string_view name) {
  std::filesystem::path root = std::filesystem::current_path();
  while (!std::filesystem::exists(root / "src/serve/testing/models") && root.has_relative_path())
    root = root.parent_path();
  return root / "src/serve/testing/models" / (std::string(name) + ".onnx");
}

}  // namespace takt::serve::testing
