// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/engines/onnx.h"

#include <onnxruntime/onnxruntime_c_api.h>
#include <onnxruntime/onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "takt/serve/engines/onnx_library.h"
#include "takt/serve/model_file.h"

namespace takt::serve {
namespace {

/// Releases an ONNX Runtime object by its release function.
template <class T>
struct OrtRelease {
  void (*release)(T*) = nullptr;
  void operator()(T* object) const { release(object); }
};
template <class T>
using OrtOwned = std::unique_ptr<T, OrtRelease<T>>;

constexpr std::pair<DataType, ONNXTensorElementDataType> kElementTypes[] = {
    {DataType::kBool, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
    {DataType::kUint8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
    {DataType::kUint16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    {DataType::kUint32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
    {DataType::kUint64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
    {DataType::kInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
    {DataType::kInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    {DataType::kInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
    {DataType::kInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    {DataType::kFp16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
    {DataType::kBf16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
    {DataType::kFp32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
    {DataType::kFp64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    {DataType::kBytes, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING},
};

ONNXTensorElementDataType to_element_type(DataType type) {
  return kElementTypes[static_cast<std::size_t>(type)].second;
}

std::optional<DataType> from_element_type(ONNXTensorElementDataType element) {
  for (const auto& [type, known] : kElementTypes)
    if (known == element) return type;
  return std::nullopt;
}

std::string_view onnx_type_name(ONNXType type) {
  switch (type) {
    case ONNX_TYPE_SEQUENCE:
      return "a sequence";
    case ONNX_TYPE_MAP:
      return "a map";
    case ONNX_TYPE_SPARSETENSOR:
      return "a sparse tensor";
    case ONNX_TYPE_OPTIONAL:
      return "an optional value";
    default:
      return "of an unknown kind";
  }
}

/// Runs a session. Thread-safe: ONNX Runtime's Run is, and the rest is constant after load.
class OnnxEngine final : public Engine {
 public:
  OnnxEngine(const OnnxLibrary& library, const OnnxOptions& options)
      : library_(library), api_(library.api()), options_(options) {}

  Status load(const std::filesystem::path& file);
  const ModelInfo& info() const override { return info_; }
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override;

 private:
  Status create_session(const std::filesystem::path& file, bool use_memory_pattern);
  Status read_specs();
  Result<TensorSpec> read_spec(bool is_input, std::size_t index);
  Result<TensorSpec> describe(const OrtTypeInfo& type, std::string name, std::string_view what);
  bool has_dynamic_input() const;

  Result<OrtOwned<OrtValue>> make_value(const Tensor& tensor, std::vector<std::string>& copies);
  Result<OrtOwned<OrtValue>> make_strings(const Tensor& tensor);
  Result<Tensor> take_output(OrtOwned<OrtValue> value, const TensorSpec& spec);
  Result<std::string> read_strings(const OrtValue* value, std::size_t count);

  const OnnxLibrary& library_;
  const OrtApi& api_;
  OnnxOptions options_;
  OrtOwned<OrtSession> session_;
  OrtOwned<OrtMemoryInfo> memory_;
  ModelInfo info_;
  std::vector<const char*> input_names_, output_names_;
};

bool OnnxEngine::has_dynamic_input() const {
  return std::ranges::any_of(info_.inputs, [](const TensorSpec& spec) {
    return std::ranges::any_of(spec.shape, [](std::int64_t size) { return size < 0; });
  });
}

Status OnnxEngine::load(const std::filesystem::path& file) {
  OrtMemoryInfo* memory = nullptr;
  TAKT_RETURN_IF_ERROR(
      library_.check(api_.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory)));
  memory_ = {memory, {api_.ReleaseMemoryInfo}};
  // With dynamic shapes a memory pattern per shape is kept for ever, so those sessions go without.
  TAKT_RETURN_IF_ERROR(create_session(file, false));
  TAKT_RETURN_IF_ERROR(read_specs());
  if (!has_dynamic_input()) TAKT_RETURN_IF_ERROR(create_session(file, true));
  for (const TensorSpec& spec : info_.inputs) input_names_.push_back(spec.name.c_str());
  for (const TensorSpec& spec : info_.outputs) output_names_.push_back(spec.name.c_str());
  info_.platform = "onnxruntime_onnx";
  info_.runtime_version = library_.version();
  TAKT_ASSIGN(info_.runtime_digest, library_.digest());
  return {};
}

Status OnnxEngine::create_session(const std::filesystem::path& file, bool use_memory_pattern) {
  OrtSessionOptions* raw = nullptr;
  TAKT_RETURN_IF_ERROR(library_.check(api_.CreateSessionOptions(&raw)));
  const OrtOwned<OrtSessionOptions> options(raw, {api_.ReleaseSessionOptions});
  TAKT_RETURN_IF_ERROR(library_.check(api_.SetIntraOpNumThreads(raw, options_.threads)));
  TAKT_RETURN_IF_ERROR(library_.check(api_.SetInterOpNumThreads(raw, 1)));
  TAKT_RETURN_IF_ERROR(library_.check(api_.SetSessionExecutionMode(raw, ORT_SEQUENTIAL)));
  for (const char* key :
       {kOrtSessionOptionsConfigAllowIntraOpSpinning, kOrtSessionOptionsConfigAllowInterOpSpinning})
    TAKT_RETURN_IF_ERROR(library_.check(api_.AddSessionConfigEntry(raw, key, "0")));
  if (!use_memory_pattern) TAKT_RETURN_IF_ERROR(library_.check(api_.DisableMemPattern(raw)));
  OrtSession* session = nullptr;
  TAKT_RETURN_IF_ERROR(
      library_.check(api_.CreateSession(library_.env(), file.c_str(), raw, &session)));
  session_ = {session, {api_.ReleaseSession}};
  return {};
}

Status OnnxEngine::read_specs() {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  TAKT_RETURN_IF_ERROR(library_.check(api_.SessionGetInputCount(session_.get(), &inputs)));
  TAKT_RETURN_IF_ERROR(library_.check(api_.SessionGetOutputCount(session_.get(), &outputs)));
  for (std::size_t i = 0; i < inputs; ++i) {
    TAKT_ASSIGN(TensorSpec spec, read_spec(true, i));
    info_.inputs.push_back(std::move(spec));
  }
  for (std::size_t i = 0; i < outputs; ++i) {
    TAKT_ASSIGN(TensorSpec spec, read_spec(false, i));
    info_.outputs.push_back(std::move(spec));
  }
  return {};
}

Result<TensorSpec> OnnxEngine::read_spec(bool is_input, std::size_t index) {
  OrtAllocator* allocator = nullptr;
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetAllocatorWithDefaultOptions(&allocator)));
  char* raw_name = nullptr;
  TAKT_RETURN_IF_ERROR(
      library_.check((is_input ? api_.SessionGetInputName : api_.SessionGetOutputName)(
          session_.get(), index, allocator, &raw_name)));
  std::string name = raw_name;
  TAKT_RETURN_IF_ERROR(library_.check(api_.AllocatorFree(allocator, raw_name)));
  OrtTypeInfo* type = nullptr;
  TAKT_RETURN_IF_ERROR(
      library_.check((is_input ? api_.SessionGetInputTypeInfo : api_.SessionGetOutputTypeInfo)(
          session_.get(), index, &type)));
  const OrtOwned<OrtTypeInfo> owned(type, {api_.ReleaseTypeInfo});
  return describe(*type, std::move(name), is_input ? "input" : "output");
}

Result<TensorSpec> OnnxEngine::describe(const OrtTypeInfo& type, std::string name,
                                        std::string_view what) {
  const auto subject = std::string(what) + " '" + name + "'";
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetOnnxTypeFromTypeInfo(&type, &kind)));
  if (kind != ONNX_TYPE_TENSOR)
    return fail(
        Code::kInvalid,
        subject + " is " + std::string(onnx_type_name(kind)) + "; only tensors can be served",
        "for scikit-learn classifiers export with skl2onnx.to_onnx(model, X[:1], "
        "options={'zipmap': False})");
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  TAKT_RETURN_IF_ERROR(library_.check(api_.CastTypeInfoToTensorInfo(&type, &tensor)));
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetTensorElementType(tensor, &element)));
  const auto data_type = from_element_type(element);
  if (!data_type)
    return fail(Code::kInvalid,
                subject + " has ONNX element type " + std::to_string(element) +
                    ", which the Open Inference Protocol has no name for",
                "cast it to FP32 or another type of the protocol in the model");
  std::size_t rank = 0;
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetDimensionsCount(tensor, &rank)));
  TensorSpec spec{std::move(name), *data_type, Shape(rank, -1)};
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetDimensions(tensor, spec.shape.data(), rank)));
  for (std::int64_t& size : spec.shape) size = std::max<std::int64_t>(size, -1);
  return spec;
}

Result<OrtOwned<OrtValue>> OnnxEngine::make_strings(const Tensor& tensor) {
  OrtAllocator* allocator = nullptr;
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetAllocatorWithDefaultOptions(&allocator)));
  OrtValue* raw = nullptr;
  TAKT_RETURN_IF_ERROR(library_.check(
      api_.CreateTensorAsOrtValue(allocator, tensor.shape.data(), tensor.shape.size(),
                                  ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &raw)));
  OrtOwned<OrtValue> value(raw, {api_.ReleaseValue});
  TAKT_ASSIGN(const std::int64_t count, count_elements(tensor.shape));
  std::size_t index = 0;
  for (const std::string_view element : split_elements(tensor.bytes, count)) {
    char* buffer = nullptr;  // not FillStringTensor: that would end an element at its first NUL
    TAKT_RETURN_IF_ERROR(library_.check(
        api_.GetResizedStringTensorElementBuffer(raw, index++, element.size(), &buffer)));
    if (!element.empty()) std::memcpy(buffer, element.data(), element.size());
  }
  return value;
}

Result<OrtOwned<OrtValue>> OnnxEngine::make_value(const Tensor& tensor,
                                                  std::vector<std::string>& copies) {
  if (tensor.type == DataType::kBytes) return make_strings(tensor);
  static char nothing = 0;  // ONNX Runtime wants an address even for no bytes
  std::string_view bytes = tensor.bytes.empty() ? std::string_view(&nothing, 0) : tensor.bytes;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % data_type_info(tensor.type).size != 0) {
    // A tensor in the middle of an HTTP body lies where the header's length puts it.
    std::string& copy = copies.emplace_back();
    copy.reserve(std::max<std::size_t>(bytes.size(), 64));  // on the heap, hence aligned
    copy.assign(bytes);
    bytes = copy;
  }
  OrtValue* raw = nullptr;
  TAKT_RETURN_IF_ERROR(library_.check(api_.CreateTensorWithDataAsOrtValue(
      memory_.get(), const_cast<char*>(bytes.data()), bytes.size(), tensor.shape.data(),
      tensor.shape.size(), to_element_type(tensor.type), &raw)));
  return OrtOwned<OrtValue>(raw, {api_.ReleaseValue});
}

Result<std::string> OnnxEngine::read_strings(const OrtValue* value, std::size_t count) {
  std::size_t total = 0;
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetStringTensorDataLength(value, &total)));
  std::string text(total, '\0');
  std::vector<std::size_t> offsets(count);
  TAKT_RETURN_IF_ERROR(library_.check(
      api_.GetStringTensorContent(value, text.data(), total, offsets.data(), count)));
  std::string bytes;
  bytes.reserve(total + 4 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = i + 1 < count ? offsets[i + 1] : total;
    append_element(bytes, std::string_view(text).substr(offsets[i], end - offsets[i]));
  }
  return bytes;
}

Result<Tensor> OnnxEngine::take_output(OrtOwned<OrtValue> value, const TensorSpec& spec) {
  OrtTensorTypeAndShapeInfo* raw_shape = nullptr;
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetTensorTypeAndShape(value.get(), &raw_shape)));
  const OrtOwned<OrtTensorTypeAndShapeInfo> shape(raw_shape, {api_.ReleaseTensorTypeAndShapeInfo});
  std::size_t rank = 0;
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetDimensionsCount(raw_shape, &rank)));
  Tensor tensor{spec.type, Shape(rank), {}, nullptr};
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetDimensions(raw_shape, tensor.shape.data(), rank)));
  TAKT_ASSIGN(const std::int64_t count, count_elements(tensor.shape));
  if (spec.type == DataType::kBytes) {
    TAKT_ASSIGN(std::string bytes, read_strings(value.get(), static_cast<std::size_t>(count)));
    return Tensor::own(spec.type, std::move(tensor.shape), std::move(bytes));
  }
  void* data = nullptr;
  TAKT_RETURN_IF_ERROR(library_.check(api_.GetTensorMutableData(value.get(), &data)));
  tensor.bytes = {static_cast<const char*>(data),
                  static_cast<std::size_t>(count) * data_type_info(spec.type).size};
  tensor.owner = std::shared_ptr<const OrtValue>(std::move(value));
  return tensor;
}

Result<std::vector<Tensor>> OnnxEngine::run(std::span<const Tensor> inputs) {
  TAKT_CHECK(inputs.size() == input_names_.size(),
             "inputs are checked against the model before they run");
  std::vector<std::string> copies;
  copies.reserve(inputs.size());  // views into them must stay
  std::vector<OrtOwned<OrtValue>> owned;
  owned.reserve(inputs.size() + output_names_.size());
  std::vector<OrtValue*> values;
  values.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    TAKT_ASSIGN(OrtOwned<OrtValue> value, make_value(input, copies));
    values.push_back(value.get());
    owned.push_back(std::move(value));
  }
  std::vector<OrtValue*> results(output_names_.size(), nullptr);
  const Status ran =
      library_.check(api_.Run(session_.get(), nullptr, input_names_.data(), values.data(),
                              values.size(), output_names_.data(), results.size(), results.data()));
  std::vector<OrtOwned<OrtValue>> results_owned;
  results_owned.reserve(results.size());
  for (OrtValue* result : results)
    results_owned.emplace_back(result, OrtRelease<OrtValue>{api_.ReleaseValue});
  TAKT_RETURN_IF_ERROR(ran);
  std::vector<Tensor> outputs;
  outputs.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    TAKT_ASSIGN(Tensor output, take_output(std::move(results_owned[i]), info_.outputs[i]));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace

Result<std::shared_ptr<Engine>> load_onnx(const std::filesystem::path& file,
                                          const OnnxOptions& options) {
  TAKT_RETURN_IF_ERROR(check_is_onnx(file));
  TAKT_ASSIGN(const OnnxLibrary* library, OnnxLibrary::load());
  auto engine = std::make_shared<OnnxEngine>(*library, options);
  if (Status loaded = engine->load(file); !loaded) {
    Error error = std::move(loaded).error();
    error.message = "loading model file " + file.filename().string() + ": " + error.message;
    if (error.hint.empty() && error.code == Code::kInvalid)
      error.hint =
          "export it anew with torch.onnx.export, skl2onnx.to_onnx or another ONNX exporter, and "
          "try it "
          "with onnx.checker.check_model";
    return fail(std::move(error));
  }
  return engine;
}

}  // namespace takt::serve
