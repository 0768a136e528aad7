// SPDX-License-Identifier: Apache-2.0
#include "takt/models/gate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "takt/base/testing/temp_dir.h"
#include "takt/models/events.h"
#include "takt/models/migrations.h"
#include "takt/models/register_step.h"
#include "takt/models/sql.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"
#include "takt/store/testing/database_pair.h"
#include "takt/track/migrations.h"
#include "takt/track/run_writer.h"

namespace takt::models {
namespace {

struct OpenPolicy : access::Policy {
  std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
    return access::Role::kAdmin;
  }
  Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
};

struct World {
  explicit World(std::unique_ptr<store::Database> database)
      : db(std::move(database)),
        blobs(std::move(*store::BlobStore::open(dir.path() / "blobs", *db))),
        registry(*db, *blobs),
        gate(registry) {}
  testing::TempDir dir;
  std::unique_ptr<store::Database> db;
  std::unique_ptr<store::BlobStore> blobs;
  ModelRegistry registry;
  ModelGate gate;
  ProjectId project{"default"};
  OpenPolicy policy;
  access::CanRead read = policy.as_server<access::Right::kRead>(project, UserId{"lin"});
  access::CanWrite write = policy.as_server<access::Right::kWrite>(project, UserId{"lin"});
  access::CanOperate lin = policy.as_server<access::Right::kOperate>(project, UserId{"lin"});
  access::CanOperate maya = policy.as_server<access::Right::kOperate>(project, UserId{"maya"});

  Digest tree(const std::string& path, const std::string& text) {
    const Digest digest = *blobs->add_bytes(project, text);
    return *blobs->add_tree(
        project,
        *content::make_manifest({{path, static_cast<std::int64_t>(text.size()), false, digest}}));
  }
  NewVersion version_of(const std::string& text) {
    NewVersion version;
    version.model = "digits";
    version.tree = tree("model.onnx", text);
    return version;
  }
  ModelVersionId add(const std::string& text) {
    return registry.add_version(write, version_of(text))->id;
  }
  void rules(const std::string& yaml) {
    const auto parsed = parse_rules(*parse_yaml(yaml));
    ASSERT_TRUE(parsed) << parsed.error().text();
    ASSERT_TRUE(gate.set_rules(lin, "digits", *parsed));
  }
  Status measure(const ModelVersionId& id, const std::string& data, double value) {
    return gate.measure(write, id, {data, "", {{"accuracy", value}}});
  }
  Status move(std::int64_t number, const std::string& alias = "production") {
    return registry.set_alias(write, "digits", alias, number);
  }
  std::int64_t holder(const std::string& alias = "production") {
    const auto model = registry.get(read, "digits");
    const auto found = model->aliases.find(alias);
    return found == model->aliases.end() ? 0 : found->second;
  }
  std::vector<store::Event> events(std::string_view verb) {
    std::vector<store::Event> found;
    EXPECT_TRUE(db->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(found, store::read_events(reader, 0, 1000));
      std::erase_if(found, [&](const auto& event) { return event.verb != verb; });
      return {};
    }));
    return found;
  }
  /// A run that took the version and the data versions, and logged an accuracy.
  void evaluate(char id, const ModelVersionId& version, const std::vector<std::string>& data,
                double value) {
    const RunId run{std::string(32, id)};
    ASSERT_TRUE(db->write([&](store::Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(
          track::insert_run(tx, {project, run, "e", "evaluate", UserId{"lin"}, {}, {}}));
      TAKT_RETURN_IF_ERROR(track::log_run_metrics(tx, project, run, {{"accuracy", value}}));
      for (const std::string& name : data)
        TAKT_RETURN_IF_ERROR(store::add_edge(tx, project, ref_of(run), "used", {"dataset", name}));
      return store::add_edge(tx, project, ref_of(run), "used", ref_of(version));
    }));
  }
};

template <class Body>
void on_both(Body body) {
  for (auto& db : store::testing::open_both({track::migrations(), migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    World world(std::move(db));
    body(world);
  }
}

TEST(Rules, are_read_and_written_as_the_same) {
  const Value value = *parse_yaml(
      "- {name: accuracy, for: [production], metric: accuracy, data: t@3, at_least: 0.95}\n"
      "- {name: loss, for: [a, b], metric: loss, at_most: 2, better: lower}\n"
      "- {name: gain, metric: accuracy, data: t, not_worse_by: 0.01}\n"
      "- {name: fast, latency: p99_ms, at_most: 20}\n"
      "- {name: same, parity: pass}\n"
      "- {name: seen, approval: 2}\n"
      "- {name: plain, code: none}\n");
  const auto rules = parse_rules(value);
  ASSERT_TRUE(rules) << rules.error().text();
  const auto again = parse_rules(to_value(*rules));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_value(*again), to_value(*rules));
  EXPECT_TRUE((*rules)[0].is_for("production"));
  EXPECT_FALSE((*rules)[0].is_for("candidate"));
  EXPECT_TRUE((*rules)[2].is_for("anything"));
}

TEST(Rules, wrong_ones_name_the_field) {
  const std::pair<const char*, const char*> wrong[] = {
      {"[{name: a}]", "rules[0].name"},
      {"[{name: a, metric: m}]", "rules[0].metric"},
      {"[{name: a, metric: m, parity: pass}]", "rules[0].metric"},
      {"[{name: a, metric: m, at_least: 1, better_by: 1}]", "rules[0].metric"},
      {"[{name: a, metric: m, at_least: high}]", "rules[0].at_least"},
      {"[{name: a, metric: m, at_least: 2, at_most: 1}]", "rules[0].at_least"},
      {"[{name: a, metric: m, not_worse_by: -1}]", "rules[0].not_worse_by"},
      {"[{name: a, metric: m, at_leest: 1}]", "rules[0].at_leest"},
      {"[{name: a, parity: yes}]", "rules[0].parity"},
      {"[{name: a, code: any}]", "rules[0].code"},
      {"[{name: a, approval: 0}]", "rules[0].approval"},
      {"[{name: a, approval: 1, for: latest}]", "rules[0].for"},
      {"[{name: a, approval: 1}, {name: a, parity: pass}]", "rules[1].name"},
      {"{name: a}", "rules"},
  };
  for (const auto& [yaml, field] : wrong) {
    const auto rules = parse_rules(*parse_yaml(yaml));
    ASSERT_FALSE(rules) << yaml;
    EXPECT_EQ(rules.error().field, field) << yaml << ": " << rules.error().text();
  }
}

TEST(Gate, a_bound_holds_the_alias_back_until_it_is_measured_and_reached) {
  on_both([](World& w) {
    w.rules("[{name: accuracy, for: production, metric: accuracy, data: test@3, at_least: 0.95}]");
    const auto one = w.add("one");
    const auto refused = w.move(1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kDenied);
    EXPECT_EQ(refused.error().field, "rules.accuracy");
    EXPECT_EQ(refused.error().message,
              "production of digits is not set to version 1: rule 'accuracy' wants accuracy at "
              "least 0.95 on test@3, but it was not measured on test@3");
    EXPECT_NE(
        refused.error().hint.find("takt models measure digits@1 accuracy=VALUE --data test@3"),
        std::string::npos);
    EXPECT_TRUE(w.move(1, "candidate"));          // guarded by nothing
    ASSERT_TRUE(w.measure(one, "test@2", 0.99));  // other data
    EXPECT_FALSE(w.move(1));
    ASSERT_TRUE(w.measure(one, "test@3", 0.9412));
    EXPECT_NE(w.move(1).error().message.find("but found 0.9412 on test@3"), std::string::npos);
    ASSERT_TRUE(w.measure(one, "test@3", 0.96));
    ASSERT_TRUE(w.move(1));
    EXPECT_EQ(w.holder(), 1);
    const auto refusals = w.events(kAliasRefused);
    ASSERT_EQ(refusals.size(), 3u);
    EXPECT_EQ(refusals[0].subject.text(), "model/digits@1");
    EXPECT_EQ(refusals[0].actor.value, "lin");
    EXPECT_EQ(refusals[0].details["failed"].as_array()[0].text_or("rule", ""), "accuracy");
    const auto moved = w.events(kAliasSet);
    ASSERT_EQ(moved.size(), 2u);
    EXPECT_EQ(moved[1].details["rules"].as_array()[0].text_or("found", ""), "0.96 on test@3");
  });
}

TEST(Gate, a_version_is_compared_with_the_holder_on_the_same_data) {
  on_both([](World& w) {
    const auto one = w.add("one"), two = w.add("two");
    w.rules("[{name: gain, for: production, metric: accuracy, data: test, not_worse_by: 0.01}]");
    ASSERT_TRUE(w.measure(one, "test@1", 0.90));
    ASSERT_TRUE(w.move(1));  // there is nobody to compare with
    EXPECT_FALSE(w.move(2));
    ASSERT_TRUE(w.measure(two, "test@2", 0.95));
    const auto apart = w.move(2);
    EXPECT_NE(apart.error().message.find("digits@1 was not measured on the same data (test@2)"),
              std::string::npos)
        << apart.error().text();
    ASSERT_TRUE(w.measure(one, "test@2", 0.97));
    const auto worse = w.move(2);
    EXPECT_EQ(worse.error().message,
              "production of digits stays on version 1: rule 'gain' wants accuracy on test not "
              "worse by more than 0.01 than the version it replaces, but found 0.95 against 0.97 "
              "of version 1 on test@2");
    ASSERT_TRUE(w.measure(two, "test@2", 0.965));
    EXPECT_TRUE(w.move(2));
    // Taking the alias away does not take its last holder out of the comparison.
    ASSERT_TRUE(w.registry.delete_alias(w.write, "digits", "production"));
    const auto three = w.add("three");
    ASSERT_TRUE(w.measure(three, "test@2", 0.5));
    EXPECT_FALSE(w.move(3));
  });
}

TEST(Gate, evaluations_measure_by_lineage_and_only_on_the_one_data_version_they_used) {
  on_both([](World& w) {
    const auto one = w.add("one");
    w.rules("[{name: accuracy, metric: accuracy, data: test@3, at_least: 0.9}]");
    w.evaluate('b', one, {"test@3", "train@1"}, 0.99);
    EXPECT_FALSE(w.move(1));
    w.evaluate('c', one, {"test@3"}, 0.91);
    const auto check = w.gate.check(w.read, one, "production");
    ASSERT_TRUE(check) << check.error().text();
    EXPECT_TRUE(check->is_allowed);
    EXPECT_EQ(check->results[0].found, "0.91 on test@3");
    const auto whole = w.gate.evidence(w.read, one);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->evidence.measurements.size(), 2u);
  });
}

TEST(Gate, approval_counts_only_from_others_and_a_rejection_stops) {
  on_both([](World& w) {
    const auto one = w.add("one");
    w.rules("[{name: seen, for: production, approval: 1}]");
    EXPECT_FALSE(w.move(1));
    ASSERT_TRUE(w.gate.decide(w.lin, one, "production", true, "mine"));
    EXPECT_NE(w.move(1).error().message.find("no approval (that of lin, who submitted it, is no"),
              std::string::npos);
    ASSERT_TRUE(w.gate.decide(w.maya, one, "candidate", true, ""));
    EXPECT_FALSE(w.move(1));  // for another alias
    ASSERT_TRUE(w.gate.decide(w.maya, one, "production", false, "too slow"));
    EXPECT_NE(w.move(1).error().message.find("it was rejected by maya: too slow"),
              std::string::npos);
    ASSERT_TRUE(w.gate.decide(w.maya, one, "production", true, "fine"));
    EXPECT_TRUE(w.move(1));
    ASSERT_EQ(w.events(kVersionApproved).size(), 3u);
    EXPECT_EQ(w.events(kVersionApproved)[2].details.text_or("comment", ""), "fine");
    ASSERT_EQ(w.events(kVersionRejected).size(), 1u);
  });
}

TEST(Gate, parity_and_load_tests_are_asked_of_their_reports) {
  on_both([](World& w) {
    const auto one = w.add("one");
    w.rules("[{name: same, parity: pass}, {name: fast, latency: p99_ms, at_most: 20}]");
    const auto refused = w.move(1);
    EXPECT_NE(refused.error().message.find("rule 'same' wants a parity report that passed, but it "
                                           "has no parity report"),
              std::string::npos);
    EXPECT_NE(refused.error().hint.find("1 more failed: takt models check digits@1"),
              std::string::npos);
    EXPECT_FALSE(w.gate.report(w.write, one, "parity", *parse_json(R"({"verdict":"good"})")));
    EXPECT_FALSE(w.gate.report(w.write, one, "code", *parse_json(R"({"verdict":"none"})")));
    ASSERT_TRUE(w.gate.report(w.write, one, "parity", *parse_json(R"({"verdict":"pass"})")));
    ASSERT_TRUE(w.gate.report(w.write, one, "load-test", *parse_json(R"({"p50_ms":3})")));
    EXPECT_NE(w.move(1).error().message.find("its load test has no p99_ms"), std::string::npos);
    ASSERT_TRUE(w.gate.report(w.write, one, "load-test", *parse_json(R"({"p99_ms":25})")));
    EXPECT_NE(w.move(1).error().message.find("but found 25"), std::string::npos);
    ASSERT_TRUE(w.gate.report(w.write, one, "load-test", *parse_json(R"({"p99_ms":12.5})")));
    EXPECT_TRUE(w.move(1));
  });
}

TEST(Gate, pickles_are_scanned_at_registration) {
  on_both([](World& w) {
    w.rules("[{name: plain, for: production, code: safe}]");
    NewVersion bad = w.version_of("x");
    bad.tree = w.tree("model.pkl", "cposix\nsystem\n(Vtrue\ntR.");
    const auto version = w.registry.add_version(w.write, bad);
    ASSERT_TRUE(version) << version.error().text();
    EXPECT_EQ(version->code_verdict, "executes");
    EXPECT_EQ(version->code_globals, (std::vector<std::string>{"posix.system"}));
    EXPECT_NE(w.move(1).error().message.find("a pickle that executes posix.system"),
              std::string::npos);
    w.add("onnx");
    EXPECT_EQ(w.registry.resolve(w.read, {"digits", 2, ""})->code_verdict, "none");
    EXPECT_TRUE(w.move(2));
    const auto copied =
        w.registry.add_from_source(w.write, {"digits", "models:/digits/1", {}, "", "", "", {}});
    ASSERT_TRUE(copied);
    EXPECT_EQ(w.registry.resolve(w.read, {"digits", 3, ""})->code_verdict, "executes");
  });
}

TEST(Gate, a_registration_with_an_alias_keeps_the_version_when_the_alias_is_refused) {
  on_both([](World& w) {
    w.rules("[{name: accuracy, for: production, metric: accuracy, data: t@1, at_least: 0.9}]");
    NewVersion version = w.version_of("one");
    version.alias = "production";
    const auto refused = w.registry.add(w.write, version);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().message.starts_with("digits@1 is registered, but: production of"))
        << refused.error().message;
    EXPECT_EQ(w.registry.versions(w.read, "digits")->size(), 1u);
    EXPECT_EQ(w.holder(), 0);
    version.metrics = {{"accuracy", 0.93}};
    version.metrics_data = "t@1";
    const auto added = w.registry.add(w.write, version);
    ASSERT_TRUE(added) << added.error().text();
    EXPECT_FALSE(added->created);
    EXPECT_EQ(w.holder(), 1);
  });
}

TEST(Gate, the_register_step_fails_with_the_rule) {
  on_both([](World& w) {
    w.rules("[{name: seen, for: production, approval: 1}]");
    RegisterStep step(w.registry, w.policy);
    actions::StepRequest request;
    request.project = w.project;
    request.actor = UserId{"lin"};
    request.node = *parse_ref("node/p/1/register");
    request.definition.with = *parse_yaml("{model: digits, alias: production}");
    const Digest tree = w.tree("model.onnx", "weights");
    request.inputs["model"] = {actions::PortKind::kModel, {"artifact", tree.value}, tree, {}};
    const auto refused = step.poll(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kDenied);
    EXPECT_NE(refused.error().message.find("rule 'seen'"), std::string::npos);
    ASSERT_TRUE(w.gate.decide(w.maya, ModelVersionId{{"digits", 1}}, "production", true, ""));
    EXPECT_TRUE(step.poll(request));
    EXPECT_EQ(w.holder(), 1);
  });
}

TEST(Gate, the_register_step_measures_on_the_data_of_its_own_pipeline_run) {
  on_both([](World& w) {
    w.rules("[{name: a, for: live, metric: accuracy, data: t@2, at_least: 0.9}]");
    const Ref numbers{"artifact", std::string(64, 'e')};
    // The same numbers came of two data versions, by jobs 1 and 2 of pipeline runs 1 and 2.
    for (const int i : {1, 2}) {
      const std::string number = std::to_string(i);
      const RunId run{std::string(32, number[0])};
      ASSERT_TRUE(w.db->write([&](store::Tx& tx) -> Status {
        TAKT_RETURN_IF_ERROR(
            track::insert_run(tx, {w.project, run, "e", "evaluate", UserId{"lin"}, {}, {}}));
        const auto edge = [&](const Ref& from, const char* relation, const Ref& to) {
          return store::add_edge(tx, w.project, from, relation, to);
        };
        TAKT_RETURN_IF_ERROR(edge(numbers, "made-by", ref_of(run)));
        TAKT_RETURN_IF_ERROR(edge(ref_of(run), "used", {"dataset", "t@" + number}));
        TAKT_RETURN_IF_ERROR(edge(ref_of(run), "came-from", {"job", number}));
        return edge({"job", number}, "part-of", {"node", "p/" + number + "/evaluate"});
      }));
    }
    RegisterStep step(w.registry, w.policy);
    actions::StepRequest request;
    request.project = w.project;
    request.actor = UserId{"lin"};
    request.definition.with = *parse_yaml("{model: digits, alias: live}");
    const Digest tree = w.tree("model.onnx", "weights");
    request.inputs["model"] = {actions::PortKind::kModel, {"artifact", tree.value}, tree, {}};
    request.inputs["metrics"] = {
        actions::PortKind::kJson, numbers, {}, *parse_json(R"({"accuracy": 0.97})")};
    for (const char* node : {"node/p/3/register", "node/p/1/register"}) {  // unknown, other data
      request.node = *parse_ref(node);
      EXPECT_FALSE(step.poll(request)) << node;
    }
    request.node = *parse_ref("node/p/2/register");
    const auto progress = step.poll(request);
    EXPECT_TRUE(progress) << progress.error().text();
    EXPECT_EQ(w.holder("live"), 1);
  });
}

TEST(Gate, mlflows_stages_are_guarded_as_aliases_are) {
  on_both([](World& w) {
    const auto one = w.add("one");
    w.rules("[{name: seen, for: production, approval: 1}]");
    EXPECT_TRUE(w.registry.set_stage(w.write, one, "Staging", false));
    EXPECT_EQ(w.registry.set_stage(w.write, one, "production", false).error().code, Code::kDenied);
    EXPECT_EQ(w.registry.resolve(w.read, {"digits", 1, ""})->stage, "Staging");
    ASSERT_TRUE(w.gate.decide(w.maya, one, "production", true, ""));
    EXPECT_TRUE(w.registry.set_stage(w.write, one, "Production", false));
  });
}

TEST(Rollback, goes_back_one_by_one_and_rules_do_not_stop_it) {
  on_both([](World& w) {
    for (const char* text : {"one", "two", "three", "four"}) w.add(text);
    EXPECT_EQ(w.gate.roll_back(w.write, "digits", "production", "").error().code, Code::kConflict);
    for (const int number : {1, 2, 3, 4}) ASSERT_TRUE(w.move(number));
    w.rules("[{name: seen, approval: 1}]");
    ASSERT_TRUE(w.registry.remove_version(w.write, ModelVersionId{{"digits", 3}}, true));
    const auto back = w.gate.roll_back(w.write, "digits", "production", "it was slow");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->id.number, 2);
    EXPECT_EQ(w.holder(), 2);
    EXPECT_EQ(w.gate.roll_back(w.write, "digits", "production", "")->id.number, 1);
    EXPECT_EQ(w.gate.roll_back(w.write, "digits", "production", "").error().code, Code::kConflict);
    const auto events = w.events(kAliasRolledBack);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].details.text_or("reason", ""), "it was slow");
    EXPECT_EQ(events[0].details.int_or("before", 0), 4);
    const auto moves = *w.gate.moves(w.read, "digits", "production");
    ASSERT_EQ(moves.size(), 6u);
    EXPECT_EQ(moves[4].kind, MoveKind::kRolledBack);
    EXPECT_EQ(moves[4].by.value, "lin");
  });
}

TEST(Rollback, undoes_a_removal) {
  on_both([](World& w) {
    w.add("one");
    ASSERT_TRUE(w.move(1));
    ASSERT_TRUE(w.registry.delete_alias(w.write, "digits", "production"));
    EXPECT_EQ(w.gate.roll_back(w.write, "digits", "production", "")->id.number, 1);
    EXPECT_EQ(w.holder(), 1);
  });
}

TEST(Gate, rules_outlive_the_models_removal_and_follow_its_name) {
  on_both([](World& w) {
    w.add("one");
    w.rules("[{name: seen, approval: 1}]");
    ASSERT_TRUE(w.registry.remove_model(w.write, "digits", true));
    w.add("one");
    EXPECT_FALSE(w.move(2));
    ASSERT_TRUE(w.registry.rename_model(w.write, "digits", "numbers"));
    EXPECT_EQ(w.gate.rules(w.read, "numbers")->rules.size(), 1u);
    EXPECT_EQ(w.registry.set_alias(w.write, "numbers", "production", 2).error().code,
              Code::kDenied);
  });
}

TEST(Gate, a_value_that_is_no_number_passes_nothing) {
  Evidence evidence;
  evidence.version.id = ModelVersionId{{"digits", 2}};
  evidence.measurements = {{"t@1", "accuracy", std::nan(""), "", UserId{"lin"}, 1}};
  Evidence holder = evidence;
  holder.version.id.number = 1;
  const auto rules = *parse_rules(*parse_yaml(
      "[{name: a, metric: accuracy, at_least: 0}, {name: b, metric: accuracy, at_most: 0},"
      " {name: c, metric: accuracy, better_by: 0}, {name: d, metric: accuracy, not_worse_by: 9}]"));
  for (const RuleResult& result : evaluate_rules(rules, "production", evidence, &holder))
    EXPECT_EQ(result.verdict, Verdict::kFailed) << result.rule.name;
}

}  // namespace
}  // namespace takt::models
