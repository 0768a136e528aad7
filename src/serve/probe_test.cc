// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/probe.h"

#include <gtest/gtest.h>

#include "takt/serve/engines/onnx.h"
#include "takt/serve/testing/fake_engine.h"
#include "takt/serve/testing/test_models.h"

namespace takt::serve {
namespace {

BatchProfile probe(const std::string& model, ProbeOptions options = {.rows_max = 8}) {
  const auto engine = load_onnx(testing::model_path(model), {});
  EXPECT_TRUE(engine) << engine.error().text();
  return probe_model(**engine, options, system_clock());
}

TEST(Probe, models_whose_rows_are_independent_are_batchable) {
  for (const std::string model : {"linear", "add_two", "gather", "divide", "identity_bytes",
                                  "identity_fp16", "identity_bool"}) {
    const BatchProfile profile = probe(model);
    EXPECT_TRUE(profile.is_batchable) << model << ": " << profile.reason;
    EXPECT_TRUE(profile.is_warm);
  }
}

TEST(Probe, rows_that_depend_on_each_other_are_found) {
  const BatchProfile profile = probe("softmax_rows");
  EXPECT_FALSE(profile.is_batchable);
  EXPECT_EQ(profile.reason, "output 'y' of a row depends on the other rows");
}

TEST(Probe, a_scalar_input_is_not_batchable_but_warm) {
  const BatchProfile profile = probe("scalar");
  EXPECT_FALSE(profile.is_batchable);
  EXPECT_EQ(profile.reason, "input 'factor' has shape [], whose first dimension is fixed");
  EXPECT_TRUE(profile.is_warm);
}

TEST(Probe, batching_can_be_off) {
  EXPECT_EQ(probe("linear", {.rows_max = 0}).reason, "batching is off");
}

TEST(Probe, each_size_up_to_the_largest_is_warmed) {
  testing::FakeEngine engine(
      {.inputs = {{"x", DataType::kFp32, {-1, -1}}}, .outputs = {{"y", DataType::kFp32, {-1, -1}}}},
      testing::echo);
  const BatchProfile profile = probe_model(engine, {.rows_max = 6}, system_clock());
  std::vector<std::int64_t> rows;
  for (const RunTime& time : profile.times) rows.push_back(time.rows);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{1, 2, 4, 6}));
}

TEST(Probe, a_model_that_refuses_made_up_values_is_not_batched) {
  testing::FakeEngine engine(
      {.inputs = {{"x", DataType::kFp32, {-1}}}, .outputs = {{"y", DataType::kFp32, {-1}}}},
      [](auto) { return fail(Code::kInvalid, "no"); });
  const BatchProfile profile = probe_model(engine, {}, system_clock());
  EXPECT_FALSE(profile.is_batchable);
  EXPECT_FALSE(profile.is_warm);
}

TEST(Probe, the_fewest_rows_near_the_best_time_per_row_are_chosen) {
  // A network of convolutions on a CPU: batching gains little, then loses to the caches.
  EXPECT_EQ(choose_rows({{1, 500}, {2, 940}, {4, 1904}, {8, 4232}, {16, 9096}}), 2);
  // A tiny model: the call costs more than the rows.
  EXPECT_EQ(choose_rows({{1, 10}, {2, 11}, {4, 12}, {8, 16}, {16, 24}}), 16);
  EXPECT_EQ(choose_rows({{1, 657}, {2, 1283}, {4, 2600}}), 1);
  EXPECT_EQ(choose_rows({}), 1);
}

TEST(Probe, quick_sizes_end_at_the_first_that_is_not) {
  EXPECT_EQ(count_quick_rows({{1, 5}, {2, 9}, {4, 51}, {8, 20}}), 2);
  EXPECT_EQ(count_quick_rows({{1, 51}}), 0);
  EXPECT_EQ(probe("add_two").rows_quick, 0) << "its time depends on an open dimension";
  EXPECT_EQ(probe("scalar").rows_quick, 0);
}

}  // namespace
}  // namespace takt::serve
