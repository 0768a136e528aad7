// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "takt/jobs/job.h"

namespace takt::jobs {
namespace {

Result<JobSpec> parse(std::string_view yaml) {
  return parse_job_spec("train", parse_yaml(yaml).value());
}

std::string refusal(std::string_view yaml) {
  const auto spec = parse(yaml);
  return spec ? "accepted" : spec.error().field + " | " + spec.error().text();
}

TEST(JobSpec, reads_everything_that_the_contract_names) {
  const auto spec = parse(R"(
command: [python, train.py, --epochs, "20"]
params: {hidden: 64, lr: 0.01}
inputs: {train: digits-train@3, model: {ref: model/digits@2}}
outputs: {model: {kind: model}, metrics: json, train: {kind: dataset, name: digits-train},
          report: {kind: artifact}}
environment: {python: /usr/bin/python3}
resources: {cpu: 500m, memory: 512MiB, gpus: 0}
limits: {memory: 1GiB, cpu: 1}
ports: [http, grpc]
timeout: 10m
retries: {max: 2, backoff: 5s}
priority: 7
seed: 7
experiment: digits
env: {KEY: value, N: 3}
)");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->command.size(), 4u);
  EXPECT_EQ(spec->params.at("hidden").as_int(), 64);
  EXPECT_EQ(spec->inputs.at(0).name, "model");
  EXPECT_EQ(spec->inputs.at(0).kind, actions::PortKind::kModelVersion);
  EXPECT_EQ(spec->inputs.at(0).reference, "digits@2");
  EXPECT_EQ(spec->inputs.at(1).reference, "digits-train@3");
  EXPECT_EQ(spec->outputs.size(), 4u);
  EXPECT_EQ(spec->resources.cpu_millicores, 500);
  EXPECT_EQ(spec->limit_cpu_millicores, 1000);
  EXPECT_EQ(spec->limit_memory_bytes, 1 << 30);
  EXPECT_EQ(spec->timeout_ms, 600'000);
  EXPECT_EQ(spec->retries_max, 2);
  EXPECT_EQ(spec->retry_backoff_ms, 5000);
  EXPECT_EQ(spec->priority, 7);
  EXPECT_EQ(spec->env.at("N"), "3");
  // What it writes, it reads back.
  const auto again = parse_job_spec("train", to_value(*spec));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(dump_json(to_value(*again)), dump_json(to_value(*spec)));
}

TEST(JobSpec, one_text_is_run_by_the_shell) {
  EXPECT_EQ(parse("command: echo hi").value().command,
            (std::vector<std::string>{"sh", "-c", "echo hi"}));
}

TEST(JobSpec, an_output_dataset_is_named_after_the_output_unless_said) {
  EXPECT_EQ(parse("{command: x, outputs: {train: dataset}}").value().outputs.at(0).dataset,
            "train");
}

TEST(JobSpec, each_wrong_field_is_named_with_its_value) {
  EXPECT_EQ(refusal("{}"),
            "spec.command | spec.command: required; write command: [python, train.py] or one text "
            "for the shell");
  EXPECT_EQ(refusal("{comand: x, command: y}"),
            "spec.comand | spec.comand: unknown field; did you mean \"command\"?");
  EXPECT_EQ(refusal("{command: x, resources: {gpus: 128}}"),
            "spec.resources.gpus | spec.resources.gpus: must be 0..64, got 128");
  EXPECT_EQ(refusal("{command: x, resources: {gpu: 1}}"),
            "spec.resources.gpu | spec.resources.gpu: unknown field; did you mean \"gpus\"?");
  EXPECT_EQ(refusal("{command: x, resources: {cpu: lots}}"),
            "spec.resources.cpu | spec.resources.cpu: not an amount of CPU: \"lots\"; write 500m, "
            "0.5 or 2");
  EXPECT_EQ(refusal("{command: x, timeout: 99999999999d}"),
            "spec.timeout | spec.timeout: must be at most 3650 d, got 99999999999d");
  EXPECT_EQ(
      refusal("{command: x, retries: {max: 1, backoff: 99999999999d}}"),
      "spec.retries.backoff | spec.retries.backoff: must be at most 3650 d, got 99999999999d");
  EXPECT_EQ(
      refusal("{command: x, timeout: soon}"),
      "spec.timeout | spec.timeout: not a duration: \"soon\"; write 90s, 10m, 1h30m or 250ms");
  EXPECT_EQ(refusal("{command: x, priority: 10}"),
            "spec.priority | spec.priority: must be 1..9, got 10");
  EXPECT_EQ(refusal("{command: x, code: .}"),
            "spec.code | spec.code: must be a digest (64 hex digits), got '.'; takt submit uploads "
            "the folder "
            "and fills this in");
  EXPECT_EQ(refusal("{command: x, outputs: {m: {kind: modle}}}"),
            "spec.outputs.m.kind | spec.outputs.m.kind: 'modle' is not a kind of output; one of "
            "dataset, model, "
            "artifact, json");
  EXPECT_EQ(refusal("{command: x, outputs: {m: {kind: model, nam: y}}}"),
            "spec.outputs.m.nam | spec.outputs.m.nam: unknown field; did you mean \"name\"?");
  EXPECT_EQ(refusal("{command: x, inputs: {m: {ref: run/5}}}"),
            "spec.inputs.m.ref | spec.inputs.m.ref: a job cannot take a run as input; use "
            "dataset/NAME@N, "
            "model/NAME@N or artifact/DIGEST");
  EXPECT_EQ(
      refusal("{command: x, limits: {memory: 1MiB}}"),
      "spec.limits.memory | spec.limits.memory: 1 MiB is below the 512 MiB of resources.memory");
  EXPECT_EQ(refusal("{command: x, env: {a-b: c}}"),
            "spec.env.a-b | spec.env.a-b: is not a variable name; use letters, digits and _");
  EXPECT_EQ(refusal("{command: x, retries: 3}"),
            "spec.retries | spec.retries: must be an object, got integer");
  EXPECT_EQ(refusal("{command: x, params: {a: [1]}}"),
            "spec.params.a | spec.params.a: must be text, a number or a boolean");
}

TEST(JobSpec, a_wrong_name_is_refused) {
  EXPECT_FALSE(parse_job_spec("a b", parse_yaml("{command: x}").value()));
}

}  // namespace
}  // namespace takt::jobs
