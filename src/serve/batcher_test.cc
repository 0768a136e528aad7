// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/batcher.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "takt/base/rng.h"
#include "takt/base/testing/manual_clock.h"
#include "takt/serve/testing/fake_engine.h"

namespace takt::serve {
namespace {

using testing::FakeEngine;
using Outputs = Result<std::vector<Tensor>>;

ModelInfo echo_info() {
  return {.inputs = {{"x", DataType::kUint8, {-1, -1}}},
          .outputs = {{"y", DataType::kUint8, {-1, -1}}}};
}

/// An engine whose first run waits until it is let go, so that a test can fill the queue.
struct HeldEngine {
  std::promise<void> release;
  std::promise<void> entered;
  std::shared_ptr<FakeEngine> engine;

  explicit HeldEngine(FakeEngine::Run run = testing::echo) {
    auto held = std::make_shared<std::atomic<bool>>(true);
    auto gate = release.get_future().share();
    engine = std::make_shared<FakeEngine>(echo_info(),
                                          [this, held, gate, run](std::span<const Tensor> inputs) {
                                            if (held->exchange(false)) {
                                              entered.set_value();
                                              gate.wait();
                                            }
                                            return run(inputs);
                                          });
  }
};

struct Sent {
  std::string bytes;
  std::future<Outputs> answer;
};

InferJob make_job(std::string bytes, std::int64_t rows, std::promise<Outputs> promise) {
  const auto width = static_cast<std::int64_t>(bytes.size()) / rows;
  InferJob job;
  job.inputs.push_back(Tensor::own(DataType::kUint8, {rows, width}, std::move(bytes)));
  job.rows = rows;
  job.done = [promise = std::move(promise)](Outputs outputs) mutable {
    promise.set_value(std::move(outputs));
  };
  return job;
}

Sent send(
    Batcher& batcher, const std::string& bytes, std::int64_t rows,
    const std::function<void(InferJob&)>& change = [](InferJob&) {}) {
  std::promise<Outputs> promise;
  Sent sent{bytes, promise.get_future()};
  InferJob job = make_job(bytes, rows, std::move(promise));
  change(job);
  EXPECT_TRUE(batcher.submit(std::move(job)));
  return sent;
}

struct BatcherTest : ::testing::Test {
  takt::testing::ManualClock clock;
  ServeMetrics metrics;
  BatcherOptions options{.limits = {.rows_max = 8}, .is_batchable = true};
};

TEST_F(BatcherTest, requests_that_wait_are_run_together_and_each_gets_its_rows) {
  HeldEngine held;
  Batcher batcher(held.engine, options, clock, metrics);
  std::vector<Sent> sent;
  sent.push_back(send(batcher, "aa", 1));
  held.entered.get_future().wait();
  sent.push_back(send(batcher, "bbcc", 2));
  sent.push_back(send(batcher, "dd", 1));
  sent.push_back(send(batcher, "eee", 1));  // another width
  held.release.set_value();
  for (Sent& one : sent) {
    const Outputs outputs = one.answer.get();
    ASSERT_TRUE(outputs);
    EXPECT_EQ((*outputs)[0].bytes, one.bytes);
  }
  EXPECT_EQ(held.engine->rows(), (std::vector<std::int64_t>{1, 3, 1}));
}

TEST_F(BatcherTest, random_requests_get_just_their_own_rows_back) {
  const std::uint64_t seed = 7;
  Rng rng(seed);
  for (int round = 0; round < 50; ++round) {
    auto engine = std::make_shared<FakeEngine>(echo_info(), testing::echo);
    options.limits.rows_max = static_cast<std::int64_t>(1 + rng.below(10));
    options.threads = static_cast<int>(1 + rng.below(3));
    options.quick_rows_max = static_cast<std::int64_t>(rng.below(4));
    std::vector<Sent> sent;
    {
      Batcher batcher(engine, options, clock, metrics);
      for (std::size_t i = 0; i < 40; ++i) {
        const auto rows = static_cast<std::int64_t>(1 + rng.below(5));
        std::string bytes;
        const std::size_t size = static_cast<std::size_t>(rows) * (1 + rng.below(2));
        for (std::size_t k = 0; k < size; ++k) bytes += static_cast<char>(rng.next());
        sent.push_back(send(batcher, bytes, rows));
      }
    }
    for (Sent& one : sent) {
      const Outputs outputs = one.answer.get();
      ASSERT_TRUE(outputs) << "seed " << seed << " round " << round;
      ASSERT_EQ((*outputs)[0].bytes, one.bytes) << "seed " << seed << " round " << round;
    }
    for (const std::int64_t rows : engine->rows())
      EXPECT_LE(rows, std::max<std::int64_t>(options.limits.rows_max, 5));
  }
}

TEST_F(BatcherTest, nobody_fails_for_anothers_values) {
  HeldEngine held([](std::span<const Tensor> inputs) -> Outputs {
    if (inputs[0].bytes.contains('X')) return fail(Code::kInvalid, "X is no value");
    return testing::echo(inputs);
  });
  Batcher batcher(held.engine, options, clock, metrics);
  Sent first = send(batcher, "a", 1);
  held.entered.get_future().wait();
  Sent good = send(batcher, "b", 1);
  Sent bad = send(batcher, "X", 1);
  held.release.set_value();
  EXPECT_TRUE(first.answer.get());
  EXPECT_TRUE(good.answer.get());
  EXPECT_EQ(bad.answer.get().error().message, "X is no value");
}

TEST_F(BatcherTest, a_full_queue_refuses) {
  options.queue_requests_max = 2;
  HeldEngine held;
  Batcher batcher(held.engine, options, clock, metrics);
  Sent running = send(batcher, "a", 1);
  held.entered.get_future().wait();
  Sent second = send(batcher, "b", 1);
  Sent third = send(batcher, "c", 1);
  const Status refused = batcher.submit(make_job("d", 1, {}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kExhausted);
  held.release.set_value();
  EXPECT_TRUE(third.answer.get());
}

TEST_F(BatcherTest, a_request_past_its_deadline_is_not_run) {
  HeldEngine held;
  Batcher batcher(held.engine, options, clock, metrics);
  Sent running = send(batcher, "a", 1);
  held.entered.get_future().wait();
  Sent late = send(batcher, "b", 1, [&](InferJob& job) { job.deadline = clock.mono() + 1000; });
  Sent gone = send(batcher, "c", 1, [](InferJob& job) { job.is_cancelled = [] { return true; }; });
  Sent patient =
      send(batcher, "d", 1, [&](InferJob& job) { job.deadline = clock.mono() + 1'000'000; });
  clock.advance_ms(5);
  held.release.set_value();
  const Outputs outputs = late.answer.get();
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, Code::kTimeout);
  EXPECT_FALSE(gone.answer.get());
  EXPECT_TRUE(patient.answer.get());
  EXPECT_EQ(held.engine->rows(), (std::vector<std::int64_t>{1, 1}));
}

TEST_F(BatcherTest, stop_answers_what_waits_and_refuses_what_comes) {
  options.limits.delay_us = 60'000'000;  // would wait for company for a minute
  auto engine = std::make_shared<FakeEngine>(echo_info(), testing::echo);
  Batcher batcher(engine, options, clock, metrics);
  Sent waiting = send(batcher, "a", 1);
  batcher.stop();
  EXPECT_TRUE(waiting.answer.get());
  EXPECT_EQ(batcher.submit(make_job("b", 1, {})).error().code, Code::kUnavailable);
}

TEST_F(BatcherTest, a_full_batch_does_not_wait_for_its_delay) {
  options.limits = {.rows_max = 3, .delay_us = 60'000'000};
  auto engine = std::make_shared<FakeEngine>(echo_info(), testing::echo);
  Batcher batcher(engine, options, clock, metrics);
  Sent first = send(batcher, "a", 1);
  Sent second = send(batcher, "bc", 2);
  EXPECT_TRUE(first.answer.get());
  EXPECT_TRUE(second.answer.get());
  EXPECT_EQ(engine->rows(), std::vector<std::int64_t>{3});
}

TEST_F(BatcherTest, a_model_that_is_not_batchable_runs_each_alone) {
  options.is_batchable = false;
  HeldEngine held;
  Batcher batcher(held.engine, options, clock, metrics);
  Sent first = send(batcher, "a", 1);
  held.entered.get_future().wait();
  Sent second = send(batcher, "b", 1);
  Sent third = send(batcher, "c", 1);
  held.release.set_value();
  EXPECT_TRUE(third.answer.get());
  EXPECT_EQ(held.engine->rows(), (std::vector<std::int64_t>{1, 1, 1}));
}

TEST_F(BatcherTest, small_requests_of_a_quick_model_run_where_they_are_submitted) {
  options.quick_rows_max = 2;
  std::vector<std::thread::id> threads;
  auto engine = std::make_shared<FakeEngine>(echo_info(), [&](std::span<const Tensor> inputs) {
    threads.push_back(std::this_thread::get_id());
    return testing::echo(inputs);
  });
  Batcher batcher(engine, options, clock, metrics);
  EXPECT_TRUE(send(batcher, "ab", 2).answer.get());
  EXPECT_TRUE(send(batcher, "abc", 3).answer.get());
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_NE(threads[1], std::this_thread::get_id());
  batcher.stop();
  EXPECT_EQ(batcher.submit(make_job("b", 1, {})).error().code, Code::kUnavailable);
}

TEST_F(BatcherTest, a_leader_that_comes_later_runs_all_that_has_gathered) {
  options.quick_rows_max = 8;
  auto engine = std::make_shared<FakeEngine>(echo_info(), testing::echo);
  Batcher batcher(engine, options, clock, metrics);
  std::vector<std::function<void()>> later;
  std::vector<Sent> sent;
  for (const std::string bytes : {"a", "b", "c"}) {
    std::promise<Outputs> promise;
    sent.push_back({bytes, promise.get_future()});
    ASSERT_TRUE(batcher.submit(make_job(bytes, 1, std::move(promise)),
                               [&](auto task) { later.push_back(std::move(task)); }));
  }
  ASSERT_EQ(later.size(), 1U);
  EXPECT_TRUE(engine->rows().empty());
  later[0]();
  EXPECT_EQ(engine->rows(), std::vector<std::int64_t>{3});
  for (Sent& one : sent) EXPECT_EQ((*one.answer.get())[0].bytes, one.bytes);
}

TEST_F(BatcherTest, stop_answers_what_a_leader_left) {
  options.quick_rows_max = 8;
  auto engine = std::make_shared<FakeEngine>(echo_info(), testing::echo);
  Batcher batcher(engine, options, clock, metrics);
  std::promise<Outputs> promise;
  auto answer = promise.get_future();
  ASSERT_TRUE(batcher.submit(make_job("a", 1, std::move(promise)), [](auto) {}));
  batcher.stop();
  EXPECT_TRUE(answer.get());
}

TEST_F(BatcherTest, the_quick_lane_serves_many_threads) {
  options.quick_rows_max = 4;
  auto engine = std::make_shared<FakeEngine>(echo_info(), testing::echo);
  Batcher batcher(engine, options, clock, metrics);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        Sent sent = send(batcher, std::string(1, static_cast<char>(thread * 50 + i % 50)), 1);
        if ((*sent.answer.get())[0].bytes != sent.bytes) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(BatcherTest, outputs_without_a_row_per_input_row_are_not_dealt_out) {
  HeldEngine held([](std::span<const Tensor> inputs) -> Outputs {
    return std::vector<Tensor>{
        Tensor::own(DataType::kUint8, {1}, std::string(1, inputs[0].bytes[0]))};
  });
  Batcher batcher(held.engine, options, clock, metrics);
  Sent first = send(batcher, "a", 1);
  held.entered.get_future().wait();
  Sent second = send(batcher, "b", 1);
  Sent third = send(batcher, "c", 1);
  held.release.set_value();
  EXPECT_EQ((*second.answer.get())[0].bytes, "b");
  EXPECT_EQ((*third.answer.get())[0].bytes, "c");
}

}  // namespace
}  // namespace takt::serve
