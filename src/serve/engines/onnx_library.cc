// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/engines/onnx_library.h"

#include <dlfcn.h>
#include <onnxruntime/onnxruntime_c_api.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "takt/base/digest.h"
#include "takt/base/file.h"
#include "takt/base/process.h"

namespace takt::serve {
namespace {

constexpr std::size_t kLibraryBytesMax = std::size_t{2} << 30;

std::vector<std::string> library_places() {
  if (const char* named = std::getenv("TAKT_ONNXRUNTIME"); named != nullptr && *named != '\0')
    return {named};
  const std::filesystem::path bin = own_executable().parent_path();
  return {(bin / "../lib/takt/libonnxruntime.so").lexically_normal().string(),
          (bin / "../../ort/libonnxruntime.so").lexically_normal().string(), "libonnxruntime.so.1",
          "libonnxruntime.so.1.21", "libonnxruntime.so"};
}

Code code_of_status(OrtErrorCode code) {
  switch (code) {
    case ORT_INVALID_ARGUMENT:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
    case ORT_NO_MODEL:
    case ORT_NOT_IMPLEMENTED:
      return Code::kInvalid;
    case ORT_NO_SUCHFILE:
      return Code::kNotFound;
    default:
      return Code::kInternal;
  }
}

}  // namespace

Status OnnxLibrary::check(OrtStatus* status) const {
  if (status == nullptr) return {};
  Error error{code_of_status(api_->GetErrorCode(status)), api_->GetErrorMessage(status)};
  api_->ReleaseStatus(status);
  return fail(std::move(error));
}

Status OnnxLibrary::open(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(Code::kUnavailable, dlerror());
  const auto get_base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr)
    return fail(Code::kUnavailable, name + " is not ONNX Runtime (no OrtGetApiBase)");
  const OrtApiBase* base = get_base();
  version_ = base->GetVersionString();
  api_ = base->GetApi(ORT_API_VERSION);
  if (api_ == nullptr)
    return fail(Code::kUnavailable, name + " is ONNX Runtime " + version_ +
                                        ", too old: API version " +
                                        std::to_string(ORT_API_VERSION) + " (1.21) is needed");
  Dl_info where{};
  file_ = dladdr(reinterpret_cast<const void*>(get_base), &where) != 0 ? where.dli_fname : name;
  // Failures come back as statuses; a log line for each wrong request would only be noise.
  return check(api_->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "takt", &env_));
}

Result<const OnnxLibrary*> OnnxLibrary::load() {
  // One environment per process is ONNX Runtime's own rule; the first success is kept for good.
  static const Result<const OnnxLibrary*> loaded = []() -> Result<const OnnxLibrary*> {
    std::string tried;
    for (const std::string& place : library_places()) {
      std::unique_ptr<OnnxLibrary> library(new OnnxLibrary);
      const Status opened = library->open(place);
      if (opened) return library.release();
      tried += "\n  " + place + ": " + opened.error().message;
    }
    return fail(Code::kUnavailable, "no usable ONNX Runtime library; tried" + tried,
                "set TAKT_ONNXRUNTIME to a libonnxruntime.so of version 1.21 or newer");
  }();
  return loaded;
}

Result<std::string> OnnxLibrary::digest() const {
  TAKT_ASSIGN(const std::string bytes, read_file(file_, kLibraryBytesMax));
  return sha256(bytes).value;
}

}  // namespace takt::serve
