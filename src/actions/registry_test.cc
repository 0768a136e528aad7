// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "takt/actions/step.h"

namespace takt::actions {
namespace {

constexpr PortKind kAllKinds[] = {PortKind::kDataset, PortKind::kModel,        PortKind::kArtifact,
                                  PortKind::kJson,    PortKind::kModelVersion, PortKind::kService,
                                  PortKind::kReport};

class NamedRunner final : public StepRunner {
 public:
  explicit NamedRunner(std::string action) : action_(std::move(action)) {}
  std::string_view action() const override { return action_; }
  Result<StepPorts> describe(const StepDefinition&) const override { return StepPorts{}; }
  Status start(const StepRequest&) override { return {}; }
  Result<StepProgress> poll(const StepRequest&) override { return StepProgress{}; }
  Status cancel(const StepRequest&) override { return {}; }

 private:
  std::string action_;
};

class DatasetResolver final : public RefResolver {
 public:
  PortKind kind() const override { return PortKind::kDataset; }
  Result<PortValue> resolve(const ProjectId& project, std::string_view reference) const override {
    return PortValue{PortKind::kDataset,
                     Ref{"dataset", project.value + "." + std::string(reference)}, Digest{"d"},
                     Value()};
  }
};

TEST(PortTest, KindsHaveNames) {
  for (const PortKind kind : kAllKinds) {
    EXPECT_EQ(parse_port_kind(port_kind_name(kind)).value(), kind);
  }
  EXPECT_EQ(parse_port_kind("datset").error().text(),
            "no such kind: \"datset\"; did you mean \"dataset\"?");
  EXPECT_EQ(parse_port_kind("x").error().hint,
            "known kinds: dataset, model, artifact, json, model-version, service, report");
}

TEST(PortTest, WhatMayEnterWhat) {
  for (const PortKind kind : kAllKinds) EXPECT_TRUE(port_accepts(kind, kind));
  EXPECT_TRUE(port_accepts(PortKind::kArtifact, PortKind::kDataset));
  EXPECT_TRUE(port_accepts(PortKind::kArtifact, PortKind::kModel));
  EXPECT_TRUE(port_accepts(PortKind::kArtifact, PortKind::kModelVersion));
  EXPECT_FALSE(port_accepts(PortKind::kArtifact, PortKind::kJson));
  EXPECT_FALSE(port_accepts(PortKind::kArtifact, PortKind::kService));
  EXPECT_FALSE(port_accepts(PortKind::kDataset, PortKind::kArtifact));
  EXPECT_FALSE(port_accepts(PortKind::kModel, PortKind::kModelVersion));
}

TEST(PortTest, ValuesRoundTrip) {
  const PortValue dataset{PortKind::kDataset, Ref{"dataset", "digits@3"}, Digest{"abc"}, Value()};
  EXPECT_EQ(dump_json(to_value(dataset)),
            R"({"digest":"abc","kind":"dataset","ref":"dataset/digits@3"})");
  const PortValue report{PortKind::kJson, Ref{}, Digest{"abc"}, Value(Object{{"accuracy", 0.97}})};
  for (const PortValue& port : {dataset, report}) {
    const PortValue again = port_value_from(to_value(port)).value();
    EXPECT_EQ(again.kind, port.kind);
    EXPECT_EQ(again.ref, port.ref);
    EXPECT_EQ(again.digest, port.digest);
    EXPECT_EQ(again.json, port.json);
  }
}

TEST(PortTest, BrokenValuesAreRefused) {
  for (const char* text : {"1", "{}", R"({"kind":"x","digest":"a"})",
                           R"({"kind":"json","ref":"nothing","digest":"a"})",
                           R"({"kind":"json","digest":"a","more":1})"}) {
    EXPECT_EQ(port_value_from(parse_json(text).value()).error().code, Code::kInvalid) << text;
  }
}

TEST(RegistryTest, FindsWhatWasRegistered) {
  Registry registry;
  registry.add(std::make_unique<NamedRunner>("validate"));
  registry.add(std::make_unique<NamedRunner>("job"));
  registry.add(std::make_unique<DatasetResolver>());
  EXPECT_EQ(registry.action_names(), (std::vector<std::string>{"job", "validate"}));
  EXPECT_EQ(registry.find_runner("job")->action(), "job");
  EXPECT_EQ(registry.find_runner("gate"), nullptr);
  EXPECT_NE(registry.find_resolver(PortKind::kDataset), nullptr);
  EXPECT_EQ(registry.resolve(ProjectId{"p"}, PortKind::kDataset, "x")->ref.path, "p.x");
  const Error error = registry.resolve(ProjectId{"p"}, PortKind::kModel, "x").error();
  EXPECT_EQ(error.code, Code::kInvalid);
  EXPECT_EQ(error.message, "a reference cannot stand for a model: \"x\"");
}

TEST(RegistryDeathTest, NamesAreUnique) {
  Registry registry;
  registry.add(std::make_unique<NamedRunner>("job"));
  EXPECT_DEATH(registry.add(std::make_unique<NamedRunner>("job")), "two runners of one action");
}

}  // namespace
}  // namespace takt::actions
