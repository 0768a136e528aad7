// SPDX-License-Identifier: Apache-2.0
// The ONNX Runtime library, loaded at run time. Never unloaded: tensors may outlive their model.
#pragma once

#include <filesystem>
#include <string>

#include "takt/base/error.h"

struct OrtApi;
struct OrtEnv;
struct OrtStatus;

namespace takt::serve {

/// One per process. Its functions are thread-safe, as ONNX Runtime's are.
class OnnxLibrary {
 public:
  /// Loads the first of: $TAKT_ONNXRUNTIME (only that one, when set); ../lib/takt/libonnxruntime.so
  /// beside this program's folder; build/ort/libonnxruntime.so of a build tree; the system's.
  /// kUnavailable names the places that were tried.
  static Result<const OnnxLibrary*> load();

  const OrtApi& api() const { return *api_; }
  const OrtEnv* env() const { return env_; }
  const std::string& version() const { return version_; }
  const std::filesystem::path& file() const { return file_; }
  /// SHA-256 of the file.
  Result<std::string> digest() const;

  /// Frees `status`; success when it is null.
  Status check(OrtStatus* status) const;

 private:
  OnnxLibrary() = default;
  Status open(const std::string& name);

  const OrtApi* api_ = nullptr;
  OrtEnv* env_ = nullptr;
  std::string version_;
  std::filesystem::path file_;
};

}  // namespace takt::serve
