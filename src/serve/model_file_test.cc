// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/model_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "takt/base/testing/temp_dir.h"

namespace takt::serve {
namespace {

using std::string_view_literals::operator""sv;

struct Sniffed {
  std::string_view head, file_name, format, exporter;
};

class SniffFormat : public ::testing::TestWithParam<Sniffed> {};

TEST_P(SniffFormat, names_the_format_and_the_exporter) {
  const FileFormat format = sniff_format(GetParam().head, GetParam().file_name);
  EXPECT_EQ(format.name, GetParam().format);
  EXPECT_TRUE(format.exporter.contains(GetParam().exporter)) << format.exporter;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, SniffFormat,
    ::testing::Values(
        Sniffed{"\x80\x04\x95"sv, "model.pkl", "a Python pickle", "skl2onnx.to_onnx"},
        Sniffed{"PK\x03\x04......archive/data.pkl"sv, "m.pt", "a PyTorch archive",
                "torch.onnx.export"},
        Sniffed{"PK\x03\x04..metadata.json..config.json"sv, "m.keras", "a Keras archive",
                "model.export"},
        Sniffed{"\x89HDF\r\n\x1a\n..."sv, "m.h5", "an HDF5 file (Keras)", "tf2onnx"},
        Sniffed{"\x40\0\0\0\0\0\0\0{\"a\""sv, "m.safetensors", "a safetensors file",
                "torch.onnx.export"},
        Sniffed{" {\"learner\": 1}"sv, "m.json", "an XGBoost model (JSON)", "convert_xgboost"},
        Sniffed{"{\"a\": 1}"sv, "m.json", "a JSON file", "skl2onnx"},
        Sniffed{"tree\nversion=v4"sv, "m.txt", "a LightGBM text model", "convert_lightgbm"},
        Sniffed{"\x08\x01\x12"sv, "saved_model.pb", "a TensorFlow SavedModel", "tf2onnx.convert"},
        Sniffed{"version https://git-lfs.github"sv, "model.onnx", "a Git LFS pointer",
                "git lfs pull"},
        Sniffed{""sv, "model.onnx", "an empty file", "skl2onnx"},
        Sniffed{"\x08\x08\x12\x07pytorch"sv, "model.onnx", "", ""}));

void write(const std::filesystem::path& file, std::string_view bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

struct ModelFolder : ::testing::Test {
  takt::testing::TempDir folder;
};

TEST_F(ModelFolder, the_shallowest_model_onnx_is_taken) {
  write(folder.path() / "a/b/model.onnx", "\x08");
  write(folder.path() / "z/model.onnx", "\x08");
  write(folder.path() / "other.onnx", "\x08");
  EXPECT_EQ(find_model_file(folder.path()), folder.path() / "z/model.onnx");
}

TEST_F(ModelFolder, the_only_onnx_file_is_taken) {
  write(folder.path() / "model/digits.onnx", "\x08");
  write(folder.path() / "MLmodel", "flavors:");
  EXPECT_EQ(find_model_file(folder.path()), folder.path() / "model/digits.onnx");
  write(folder.path() / "model/second.onnx", "\x08");
  EXPECT_EQ(find_model_file(folder.path()).error().hint, "name the one to serve model.onnx");
}

TEST_F(ModelFolder, a_model_of_another_kind_is_named) {
  write(folder.path() / "model.pkl", "\x80\x05....");
  const auto found = find_model_file(folder.path());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "model file model.pkl is a Python pickle, not ONNX, and cannot be served");
  EXPECT_TRUE(found.error().hint.contains("skl2onnx.to_onnx"));
}

TEST_F(ModelFolder, an_empty_or_missing_folder_is_named) {
  EXPECT_EQ(find_model_file(folder.path()).error().code, Code::kInvalid);
  EXPECT_EQ(find_model_file(folder.path() / "none").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace takt::serve
