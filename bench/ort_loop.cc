// SPDX-License-Identifier: Apache-2.0
// bench-ort-loop: what ONNX Runtime does without any server around it. One thread calls Run on one
// model with the same input, by the C API of the library that takt serves with (the same file,
// loaded the same way, with the same session options). Prints one line of JSON.
//
//   bench-ort-loop LIBRARY MODEL INPUT WIDTH ROWS SECONDS
//
// INPUT is the name of the one FP32 input of shape [batch, WIDTH].
#include <dlfcn.h>
#include <onnxruntime/onnxruntime_c_api.h>
#include <onnxruntime/onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsMax = 120;
constexpr int kWarmupRuns = 20;
constexpr int kOutputsMax = 16;

[[noreturn]] void die(const std::string& message) {
  std::fprintf(stderr, "bench-ort-loop: %s\n", message.c_str());
  std::exit(2);
}

const OrtApi* load_api(const char* library) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) die(::dlerror());
  using GetApiBase = const OrtApiBase* (*)();
  const auto get = reinterpret_cast<GetApiBase>(::dlsym(handle, "OrtGetApiBase"));
  if (get == nullptr) die("no OrtGetApiBase in the library");
  const OrtApi* api = get()->GetApi(ORT_API_VERSION);
  if (api == nullptr) die("the library is older than the header");
  return api;
}

double cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// One session; everything lives until the process ends.
class Model {
 public:
  Model(const char* library, const char* file) : api_(*load_api(library)) {
    OrtEnv* env = nullptr;
    check(api_.CreateEnv(ORT_LOGGING_LEVEL_ERROR, "bench", &env));
    OrtSessionOptions* options = nullptr;
    check(api_.CreateSessionOptions(&options));
    check(api_.SetIntraOpNumThreads(options, 1));
    check(api_.SetInterOpNumThreads(options, 1));
    check(api_.SetSessionExecutionMode(options, ORT_SEQUENTIAL));
    for (const char* key : {kOrtSessionOptionsConfigAllowIntraOpSpinning,
                            kOrtSessionOptionsConfigAllowInterOpSpinning})
      check(api_.AddSessionConfigEntry(options, key, "0"));
    check(api_.DisableMemPattern(options));
    check(api_.CreateSession(env, file, options, &session_));
    check(api_.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory_));
    OrtAllocator* allocator = nullptr;
    check(api_.GetAllocatorWithDefaultOptions(&allocator));
    std::size_t count = 0;
    check(api_.SessionGetOutputCount(session_, &count));
    if (count > kOutputsMax) die("the model has too many outputs");
    for (std::size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      check(api_.SessionGetOutputName(session_, i, allocator, &name));
      output_names_.push_back(name);
    }
  }

  /// A tensor made, the model run, the results freed: what each request of a server needs at least.
  void run(const char* input_name, std::vector<float>& values, std::int64_t rows,
           std::int64_t width) {
    const std::int64_t shape[] = {rows, width};
    OrtValue* input = nullptr;
    check(api_.CreateTensorWithDataAsOrtValue(memory_, values.data(), values.size() * sizeof(float),
                                              shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                              &input));
    OrtValue* outputs[kOutputsMax] = {};
    check(api_.Run(session_, nullptr, &input_name, &input, 1, output_names_.data(),
                   output_names_.size(), outputs));
    for (std::size_t i = 0; i < output_names_.size(); ++i) api_.ReleaseValue(outputs[i]);
    api_.ReleaseValue(input);
  }

 private:
  void check(OrtStatus* status) {
    if (status != nullptr) die(api_.GetErrorMessage(status));
  }

  const OrtApi& api_;
  OrtSession* session_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
  std::vector<const char*> output_names_;
};

double percentile(const std::vector<float>& sorted, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return static_cast<double>(sorted[std::min(at, sorted.size() - 1)]);
}

}  // namespace

int main(int count, char** words) {
  if (count != 7) die("arguments: LIBRARY MODEL INPUT WIDTH ROWS SECONDS");
  Model model(words[1], words[2]);
  const std::int64_t width = std::atoll(words[4]);
  const std::int64_t rows = std::atoll(words[5]);
  const double seconds_asked = std::atof(words[6]);
  if (width < 1 || rows < 1 || seconds_asked <= 0 || seconds_asked > kSecondsMax)
    die("WIDTH and ROWS must be at least 1, SECONDS at most 120");
  std::vector<float> values(static_cast<std::size_t>(rows * width));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17);
  for (int i = 0; i < kWarmupRuns; ++i) model.run(words[3], values, rows, width);

  std::vector<float> latencies_us;
  latencies_us.reserve(1 << 20);
  const double cpu_before = cpu_s();
  const Clock::time_point begun = Clock::now();
  Clock::time_point last = begun;
  do {
    model.run(words[3], values, rows, width);
    const Clock::time_point now = Clock::now();
    latencies_us.push_back(std::chrono::duration<float, std::micro>(now - last).count());
    last = now;
  } while (std::chrono::duration<double>(last - begun).count() < seconds_asked);
  const double cpu = cpu_s() - cpu_before;
  const double seconds = std::chrono::duration<double>(last - begun).count();
  std::ranges::sort(latencies_us);
  const auto runs = static_cast<double>(latencies_us.size());
  std::printf(
      "{\"runs\": %.0f, \"rows\": %lld, \"rate\": %.1f, \"rows_rate\": %.1f, \"p50_us\": %.2f, "
      "\"p99_us\": %.2f, \"cpu_us\": %.2f}\n",
      runs, static_cast<long long>(rows), runs / seconds,
      runs * static_cast<double>(rows) / seconds, percentile(latencies_us, 0.5),
      percentile(latencies_us, 0.99), cpu / runs * 1e6);
}
