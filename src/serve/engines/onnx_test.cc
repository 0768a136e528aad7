// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/engines/onnx.h"

#include <gtest/gtest.h>

#include <fstream>

#include "takt/base/testing/temp_dir.h"
#include "takt/serve/testing/test_models.h"

namespace takt::serve {
namespace {

std::shared_ptr<Engine> load(const std::string& name) {
  auto engine = load_onnx(testing::model_path(name), {});
  EXPECT_TRUE(engine) << engine.error().text();
  return engine ? *engine : nullptr;
}

template <class T>
Tensor tensor_of(DataType type, Shape shape, const std::vector<T>& values) {
  return Tensor::own(type, std::move(shape),
                     {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

template <class T>
std::vector<T> values_in(const Tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::copy_n(tensor.bytes.data(), tensor.bytes.size(), reinterpret_cast<char*>(values.data()));
  return values;
}

TEST(Onnx, metadata_is_the_models_own) {
  const auto engine = load("linear");
  const ModelInfo& info = engine->info();
  ASSERT_EQ(info.inputs.size(), 1U);
  EXPECT_EQ(info.inputs[0].name, "x");
  EXPECT_EQ(info.inputs[0].shape, (Shape{-1, 4}));
  EXPECT_EQ(info.outputs[0].name, "label");
  EXPECT_EQ(info.outputs[0].type, DataType::kInt64);
  EXPECT_EQ(info.outputs[1].shape, (Shape{-1, 3}));
  EXPECT_EQ(info.platform, "onnxruntime_onnx");
  EXPECT_FALSE(info.runtime_version.empty());
  EXPECT_EQ(info.runtime_digest.size(), 64U);
  EXPECT_TRUE(load("scalar")->info().inputs[1].shape.empty());
}

TEST(Onnx, computes) {
  const auto engine = load("linear");
  const auto outputs =
      engine->run({{tensor_of<float>(DataType::kFp32, {2, 4}, {1, 0, 0, 0, 0, 0, 1, 0})}});
  ASSERT_TRUE(outputs) << outputs.error().text();
  EXPECT_EQ(values_in<std::int64_t>((*outputs)[0]), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(values_in<float>((*outputs)[1]),
            (std::vector<float>{1.1F, 0.2F, -0.7F, 0.1F, 1.2F, 1.3F}));
}

class OnnxIdentity : public ::testing::TestWithParam<DataTypeInfo> {};

TEST_P(OnnxIdentity, every_type_passes_through_unchanged) {
  const DataTypeInfo& info = GetParam();
  std::string name(info.name);
  for (char& c : name) c = static_cast<char>(std::tolower(c));
  const auto engine = load("identity_" + name);
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(engine->info().inputs[0].type, info.type);
  for (const std::int64_t rows : {0, 1, 3}) {
    std::string bytes;
    for (std::int64_t i = 0; i < rows * 2; ++i) {
      if (info.type == DataType::kBytes)
        append_element(bytes, std::string("\0\xff", static_cast<std::size_t>(i % 3)));
      else
        bytes.append(info.size, info.type == DataType::kBool ? static_cast<char>(i % 2)
                                                             : static_cast<char>(i + 1));
    }
    const auto outputs = engine->run({{Tensor::own(info.type, {rows, 2}, bytes)}});
    ASSERT_TRUE(outputs) << outputs.error().text();
    EXPECT_EQ((*outputs)[0].shape, (Shape{rows, 2}));
    EXPECT_EQ((*outputs)[0].bytes, bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, OnnxIdentity,
                         ::testing::ValuesIn(data_types().begin(), data_types().end()),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(Onnx, bytes_that_lie_unaligned_are_taken) {
  const auto engine = load("identity_fp64");
  const std::vector<double> values{1.5, -2.5};
  auto body = std::make_shared<std::string>("x");
  body->append(reinterpret_cast<const char*>(values.data()), 16);
  const auto outputs =
      engine->run({{Tensor{DataType::kFp64, {1, 2}, std::string_view(*body).substr(1), body}}});
  ASSERT_TRUE(outputs);
  EXPECT_EQ(values_in<double>((*outputs)[0]), values);
}

TEST(Onnx, values_that_the_model_refuses_are_the_callers_fault) {
  const auto engine = load("gather");
  const auto outputs = engine->run({{tensor_of<std::int64_t>(DataType::kInt64, {1}, {7})}});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, Code::kInvalid) << outputs.error().text();
}

TEST(Onnx, an_output_that_is_no_tensor_is_refused_with_the_option_to_set) {
  const auto engine = load_onnx(testing::model_path("zipmap"), {});
  ASSERT_FALSE(engine);
  EXPECT_NE(engine.error().text().find("output 'output_probability' is a sequence"),
            std::string::npos);
  EXPECT_NE(engine.error().hint.find("'zipmap': False"), std::string::npos);
}

TEST(Onnx, a_broken_file_is_refused) {
  const takt::testing::TempDir folder;
  const auto file = folder.path() / "model.onnx";
  std::ofstream(file) << "\x08\x08\x12\x04takt this is no graph";
  const auto engine = load_onnx(file, {});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, Code::kInvalid) << engine.error().text();
  EXPECT_NE(engine.error().hint.find("export"), std::string::npos);
}

}  // namespace
}  // namespace takt::serve
