// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/model_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <vector>

namespace takt::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 4096;
constexpr std::size_t kFilesMax = 10'000;

constexpr std::string_view kSklearnCall =
    "export it where it was trained: onnx_model = skl2onnx.to_onnx(model, X[:1], "
    "options={'zipmap': "
    "False}) for scikit-learn, torch.onnx.export(model, example, 'model.onnx') for PyTorch";
constexpr std::string_view kTorchCall =
    "call torch.onnx.export(model, example_inputs, 'model.onnx')";
constexpr std::string_view kKerasCall =
    "call model.export('model.onnx', format='onnx') (Keras 3) or tf2onnx.convert.from_keras(model)";
constexpr std::string_view kBoosterCall =
    "call onnxmltools.convert_xgboost(model, ...) or onnxmltools.convert_lightgbm(model, ...)";
constexpr std::string_view kWeightsCall =
    "it holds weights without a graph: build the model in Python, load them, and call "
    "torch.onnx.export(model, example_inputs, 'model.onnx')";
constexpr std::string_view kTensorFlowCall =
    "call python -m tf2onnx.convert --saved-model FOLDER --output model.onnx";

struct Magic {
  std::string_view bytes;
  std::size_t at;
  FileFormat format;
};

using std::string_view_literals::operator""sv;
constexpr std::array kMagics{
    Magic{"\x89HDF\r\n\x1a\n"sv, 0, {"an HDF5 file (Keras)", kKerasCall}},
    Magic{"TFL3"sv,
          4,
          {"a TensorFlow Lite model",
           "call python -m tf2onnx.convert --tflite FILE --output model.onnx"}},
    Magic{"GGUF"sv, 0, {"a GGUF file", kWeightsCall}},
    Magic{"\x93NUMPY"sv, 0, {"a NumPy array", kSklearnCall}},
    Magic{"\x1f\x8b"sv, 0, {"a gzip archive", "unpack it, and add the model.onnx that it holds"}},
    Magic{"tree\n"sv, 0, {"a LightGBM text model", kBoosterCall}},
    Magic{"{L"sv, 0, {"an XGBoost model (UBJSON)", kBoosterCall}},
    Magic{"version https://git-lfs"sv,
          0,
          {"a Git LFS pointer", "fetch the file itself with git lfs pull"}},
    Magic{"<?xml"sv, 0, {"an XML file (OpenVINO, PMML)", kSklearnCall}},
    Magic{"x\x9c"sv, 0, {"a compressed joblib pickle", kSklearnCall}},
};

FileFormat sniff_zip(std::string_view head) {
  if (head.find("config.json") != head.npos && head.find("metadata.json") != head.npos)
    return {"a Keras archive", kKerasCall};
  if (head.find(".npy") != head.npos) return {"a NumPy archive", kSklearnCall};
  if (head.find("data.pkl") != head.npos || head.find("/version") != head.npos)
    return {"a PyTorch archive", kTorchCall};
  return {"a zip archive", kTorchCall};
}

bool is_safetensors(std::string_view head) {
  // u64 length of a JSON header, then the header.
  return head.size() > 9 && head[8] == '{' && head.substr(5, 3) == "\0\0\0"sv;
}

FileFormat sniff_text(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start == head.npos || (head[start] != '{' && head[start] != '[')) return {};
  if (head.find("\"learner\"") != head.npos) return {"an XGBoost model (JSON)", kBoosterCall};
  return {"a JSON file", kSklearnCall};
}

bool is_model_extension(const fs::path& file) {
  static constexpr std::array kExtensions{
      ".pkl"sv, ".pickle"sv,      ".joblib"sv, ".pt"sv,     ".pth"sv, ".h5"sv,   ".keras"sv,
      ".bin"sv, ".safetensors"sv, ".pb"sv,     ".tflite"sv, ".ubj"sv, ".gguf"sv, ".bst"sv};
  return std::ranges::find(kExtensions, file.extension().string()) != kExtensions.end();
}

Result<std::string> read_head(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(Code::kNotFound, "model file " + file.string() + " cannot be opened");
  std::string head(kHeadBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

int depth_of(const fs::path& file) {
  return static_cast<int>(std::distance(file.begin(), file.end()));
}

struct Found {
  std::vector<fs::path> named;   // model.onnx
  std::vector<fs::path> onnx;    // *.onnx
  std::vector<fs::path> others;  // by extension a model of another kind
  std::size_t files = 0;
};

Result<Found> walk_folder(const fs::path& folder) {
  Found found;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    if (++found.files > kFilesMax)
      return fail(Code::kTooLarge, "model folder " + folder.string() + " has more than " +
                                       std::to_string(kFilesMax) + " files");
    const fs::path& file = it->path();
    if (file.filename() == "model.onnx") found.named.push_back(file);
    if (file.extension() == ".onnx")
      found.onnx.push_back(file);
    else if (is_model_extension(file))
      found.others.push_back(file);
  }
  if (error)
    return fail(Code::kNotFound, "model folder " + folder.string() + ": " + error.message());
  const auto shallow_first = [](const fs::path& a, const fs::path& b) {
    return std::pair(depth_of(a), a) < std::pair(depth_of(b), b);
  };
  std::ranges::sort(found.named, shallow_first);
  std::ranges::sort(found.onnx, shallow_first);
  std::ranges::sort(found.others, shallow_first);
  return found;
}

}  // namespace

FileFormat sniff_format(std::string_view head, std::string_view file_name) {
  if (head.empty()) return {"an empty file", kSklearnCall};
  if (head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
    return {"a Python pickle", kSklearnCall};
  if (head.starts_with("PK\x03\x04")) return sniff_zip(head);
  for (const Magic& magic : kMagics)
    if (head.size() >= magic.at && head.substr(magic.at).starts_with(magic.bytes))
      return magic.format;
  if (is_safetensors(head)) return {"a safetensors file", kWeightsCall};
  if (file_name == "saved_model.pb") return {"a TensorFlow SavedModel", kTensorFlowCall};
  return sniff_text(head);
}

Result<fs::path> find_model_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return path;
  if (!fs::is_directory(path, error))
    return fail(Code::kNotFound, "there is no model at " + path.string(),
                "give an ONNX file or a folder that holds one");
  TAKT_ASSIGN(const Found found, walk_folder(path));
  if (!found.named.empty()) return found.named.front();
  if (found.onnx.size() == 1) return found.onnx.front();
  if (found.onnx.size() > 1)
    return fail(Code::kInvalid,
                "model folder " + path.string() + " has " + std::to_string(found.onnx.size()) +
                    " ONNX files (" + found.onnx[0].filename().string() + ", " +
                    found.onnx[1].filename().string() + ", ...) and none is called model.onnx",
                "name the one to serve model.onnx");
  if (!found.others.empty()) {
    TAKT_RETURN_IF_ERROR(check_is_onnx(found.others.front()));
    return fail(Code::kInvalid,
                "model folder " + path.string() + " has no ONNX file; found " +
                    found.others.front().filename().string(),
                std::string(kSklearnCall));
  }
  return fail(Code::kInvalid,
              "model folder " + path.string() + " has no ONNX file among its " +
                  std::to_string(found.files) + " files",
              std::string(kSklearnCall));
}

Status check_is_onnx(const fs::path& file) {
  TAKT_ASSIGN(const std::string head, read_head(file));
  const FileFormat format = sniff_format(head, file.filename().string());
  if (format.name.empty()) return {};
  return fail(Code::kInvalid,
              "model file " + file.filename().string() + " is " + std::string(format.name) +
                  ", not ONNX, and cannot be served",
              std::string(format.exporter));
}

}  // namespace takt::serve
