// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "takt/base/digest.h"
#include "takt/base/testing/manual_clock.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/pipelines/engine.h"
#include "takt/pipelines/gate_step.h"
#include "takt/pipelines/graph.h"
#include "takt/pipelines/migrations.h"
#include "takt/pipelines/pipeline_service.h"
#include "takt/pipelines/pipeline_store.h"
#include "takt/pipelines/spec.h"
#include "takt/pipelines/sql.h"
#include "takt/store/event_log.h"
#include "takt/store/testing/database_pair.h"

namespace takt::pipelines {
namespace {

using actions::PortKind;
using actions::StepState;

/// A step whose outcome the test sets per node; counts how often each attempt was started anew.
class ScriptedStep final : public actions::StepRunner {
 public:
  explicit ScriptedStep(bool cacheable = true, std::string action = "work")
      : cacheable_(cacheable), action_(std::move(action)) {}
  std::string_view action() const override { return action_; }
  Result<actions::StepPorts> describe(const actions::StepDefinition&) const override {
    actions::StepPorts ports;
    ports.inputs_open = true;
    ports.outputs = {{"out", output_kind, true}};
    ports.cacheable = cacheable_;
    return ports;
  }
  Status start(const actions::StepRequest& request) override {
    if (refuses_start) return std::unexpected(*refuses_start);
    const std::string key = request.node.text() + "#" + std::to_string(request.attempt);
    ++starts[key];
    approvers[request.definition.name] = request.approver.value;
    if (start_failures-- > 0) return fail(Code::kInvalid, "it cannot begin");
    return {};
  }
  Result<actions::StepProgress> poll(const actions::StepRequest& request) override {
    ++polls[request.definition.name];
    if (refuses_poll) return std::unexpected(*refuses_poll);
    actions::StepProgress progress;
    progress.work = work;
    progress.state = states[request.definition.name];
    if (progress.state == StepState::kDone)
      progress.outputs["out"] = {output_kind, request.node, sha256(request.definition.name),
                                 Value(1)};
    if (progress.state == StepState::kFailed) progress.reason = "it broke";
    if (progress.state == StepState::kStopped) progress.reason = "it said no";
    return progress;
  }
  Status cancel(const actions::StepRequest& request) override {
    cancelled.push_back(request.definition.name);
    return {};
  }
  PortKind output_kind = PortKind::kJson;
  std::optional<Error> refuses_start, refuses_poll;
  std::map<std::string, StepState> states;
  std::map<std::string, int> starts, polls;
  int start_failures = 0;
  Ref work;
  std::map<std::string, std::string> approvers;
  std::vector<std::string> cancelled;

 private:
  bool cacheable_;
  std::string action_;
};

/// Finds every dataset, with a read of the database as the real one does.
class AnyDataset final : public actions::RefResolver {
 public:
  explicit AnyDataset(store::Database& db) : db_(db) {}
  PortKind kind() const override { return PortKind::kDataset; }
  Result<actions::PortValue> resolve(const ProjectId&, std::string_view reference) const override {
    if (refuses) return std::unexpected(*refuses);
    TAKT_RETURN_IF_ERROR(
        db_.read(Deadline::after_ms(db_.clock(), 300), [](store::Reader&) { return Status{}; }));
    const std::string name(reference.substr(reference.rfind('/') + 1));
    return actions::PortValue{PortKind::kDataset, Ref{"dataset", std::string(reference)},
                              sha256(name), Value()};
  }
  std::optional<Error> refuses;

 private:
  store::Database& db_;
};

constexpr std::string_view kLine = R"(
kind: Pipeline
name: line
spec:
  on: {dataset: raw}
  params: {data: raw, size: 3}
  nodes:
    - {name: a, action: work, with: {size: "${params.size}"}}
    - {name: b, action: work, inputs: {x: "${nodes.a.outputs.out}"}}
    - {name: c, action: work, inputs: {x: "${nodes.a.outputs.out}"}, retries: {max: 1, backoff: 5s}}
    - name: d
      action: act
      needs: [b]
      inputs: {x: "${nodes.c.outputs.out}"}
      approve: {by: not-submitter}
)";

struct OpenPolicy : access::Policy {
  std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
    return access::Role::kAdmin;
  }
  Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
};

void append_event(store::Database& db, const std::string& verb, const Ref& subject) {
  const Status done = db.write([&](store::Tx& tx) -> Status {
    store::Event event;
    event.project.value = "default";
    event.actor.value = "lin";
    event.verb = verb;
    event.subject = subject;
    TAKT_RETURN_IF_ERROR(store::append_event(tx, event));
    return {};
  });
  ASSERT_TRUE(done);
}

class PipelineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    db_ = store::testing::open_sqlite({migrations()}, clock_);
    ASSERT_NE(db_, nullptr);
    auto work = std::make_unique<ScriptedStep>();
    auto act = std::make_unique<ScriptedStep>(false, "act");
    work_ = work.get();
    act_ = act.get();
    registry_.add(std::move(work));
    registry_.add(std::move(act));
    registry_.add(std::make_unique<GateStep>());
    service_ = std::make_unique<PipelineService>(*db_, registry_, policy_);
    engine_ = std::make_unique<Engine>(*db_, registry_);
  }
  void restart() { engine_ = std::make_unique<Engine>(*db_, registry_); }
  template <access::Right R>
  access::Authorized<R> as(const std::string& user) {
    return policy_.as_server<R>(project_, UserId{user});
  }
  void apply(std::string_view yaml, std::optional<bool> arm = std::nullopt) {
    const auto applied = service_->apply(as<access::Right::kWrite>("lin"),
                                         {.definition = *parse_yaml(yaml), .arm = arm});
    ASSERT_TRUE(applied) << applied.error().text() << " at " << applied.error().field;
  }
  std::int64_t start(Object params = {}) {
    const auto run = service_->start_run(as<access::Right::kWrite>("lin"), "line", params, "");
    EXPECT_TRUE(run) << run.error().text();
    return run->number;
  }
  PipelineRun run(std::int64_t number) {
    return *service_->get_run(as<access::Right::kRead>("lin"), "line", number);
  }
  std::string states(std::int64_t number) {
    std::string text;
    for (const Node& node : run(number).nodes)
      text += (text.empty() ? "" : " ") + std::string(node_state_name(node.state));
    return text;
  }
  void step() {
    const Status stepped = engine_->step();
    ASSERT_TRUE(stepped) << stepped.error().text();
  }

  testing::ManualClock clock_;
  OpenPolicy policy_;
  ProjectId project_{"default"};
  std::unique_ptr<store::Database> db_;
  actions::Registry registry_;
  ScriptedStep* work_ = nullptr;
  ScriptedStep* act_ = nullptr;
  std::unique_ptr<PipelineService> service_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(PipelineTest, branches_run_side_by_side_and_the_last_node_waits_for_a_person) {
  apply(kLine);
  const auto number = start();
  step();
  EXPECT_EQ(states(number), "running pending pending pending");
  work_->states["a"] = StepState::kDone;
  step();
  EXPECT_EQ(states(number), "done running running pending");
  work_->states["b"] = work_->states["c"] = StepState::kDone;
  step();
  EXPECT_EQ(states(number), "done done done waiting-approval");
  const auto own = service_->approve(as<access::Right::kOperate>("lin"), "line", number, "d", "");
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, Code::kDenied);
  act_->states["d"] = StepState::kDone;
  ASSERT_TRUE(service_->approve(as<access::Right::kOperate>("maya"), "line", number, "d", "fine"));
  ASSERT_TRUE(service_->approve(as<access::Right::kOperate>("maya"), "line", number, "d", "fine"));
  step();
  EXPECT_EQ(run(number).state, RunState::kSucceeded);
  EXPECT_EQ(act_->approvers["d"], "maya");
}

TEST_F(PipelineTest, a_restart_starts_nothing_twice_that_its_runner_would_not_find) {
  apply(kLine);
  const auto number = start();
  step();
  step();
  EXPECT_EQ(work_->starts["node/line/1/a#1"], 1);
  restart();
  step();
  EXPECT_EQ(work_->starts["node/line/1/a#1"], 2);  // told again: runners find what they made
  work_->states["a"] = StepState::kDone;
  step();
  restart();
  step();
  EXPECT_EQ(work_->starts["node/line/1/a#1"], 2);
  EXPECT_EQ(states(number), "done running running pending");
}

TEST_F(PipelineTest, a_failed_node_is_tried_again_after_its_backoff_then_fails_the_run) {
  apply(kLine);
  const auto number = start();
  work_->states = {{"a", StepState::kDone}, {"b", StepState::kDone}, {"c", StepState::kFailed}};
  step();
  EXPECT_EQ(states(number), "done done retrying pending");
  clock_.advance_ms(4'999);
  step();
  EXPECT_EQ(states(number), "done done retrying pending");
  clock_.advance_ms(1);
  step();
  EXPECT_EQ(states(number), "done done failed skipped");
  EXPECT_EQ(run(number).state, RunState::kFailed);
  EXPECT_EQ(run(number).reason, "c: it broke");
  EXPECT_EQ(run(number).find("d")->reason, "needs c, which is failed");
}

TEST_F(PipelineTest, a_node_that_could_not_begin_is_tried_again_too) {
  apply(R"(
kind: Pipeline
name: line
spec: {nodes: [{name: a, action: work, retries: {max: 1, backoff: 5s}}]}
)");
  const auto number = start();
  work_->start_failures = 1;
  step();
  EXPECT_EQ(states(number), "retrying");
  EXPECT_EQ(run(number).find("a")->reason, "it cannot begin");
  clock_.advance_ms(5'000);
  step();
  EXPECT_EQ(states(number), "running");
}

TEST_F(PipelineTest, a_running_node_is_looked_at_when_an_event_names_its_work_or_time_passes) {
  apply(kLine);
  const auto number = start();
  work_->work = Ref{"job", "7"};
  step();
  EXPECT_EQ(work_->polls["a"], 1);
  step();
  append_event(*db_, "job.placed", Ref{"job", "8"});
  step();
  EXPECT_EQ(work_->polls["a"], 1);
  append_event(*db_, "job.ended", Ref{"job", "7"});
  work_->states["a"] = StepState::kDone;
  step();
  EXPECT_EQ(work_->polls["a"], 2);
  EXPECT_EQ(states(number), "done running running pending");
  clock_.advance_ms(100);  // for work whose changes no event tells
  step();
  EXPECT_EQ(work_->polls["b"], 2);
}

TEST_F(PipelineTest, unchanged_nodes_are_taken_from_the_run_before_and_say_so) {
  apply(kLine);
  work_->states = {{"a", StepState::kDone}, {"b", StepState::kDone}, {"c", StepState::kDone}};
  start();
  step();
  const auto second = start();
  step();
  EXPECT_EQ(states(second), "cached cached cached waiting-approval");
  EXPECT_EQ(run(second).find("a")->reason,
            "same inputs, options, code and environment as node/line/1/a");
  const auto third = start({{"size", 4}});
  step();
  EXPECT_EQ(states(third), "done cached cached waiting-approval");  // a's output is the same bytes
}

TEST_F(PipelineTest, a_plan_says_what_would_happen_and_starts_nothing) {
  apply(kLine);
  const auto plan = [&](Object params) {
    std::string text;
    const auto nodes = service_->plan(as<access::Right::kRead>("lin"), "line", params);
    EXPECT_TRUE(nodes) << nodes.error().text();
    for (const auto& node : *nodes)
      text += (text.empty() ? "" : " ") + std::string(verdict_name(node.verdict));
    return text;
  };
  EXPECT_EQ(plan({}), "will-run will-run will-run blocked");
  work_->states = {{"a", StepState::kDone}, {"b", StepState::kDone}, {"c", StepState::kDone}};
  start();
  step();
  EXPECT_EQ(plan({}), "fresh fresh fresh blocked");
  start({{"size", 4}});
  step();
  EXPECT_EQ(plan({}), "cached fresh fresh blocked");
  EXPECT_EQ(plan({{"size", 5}}), "will-run will-run will-run blocked");
}

TEST_F(PipelineTest, rejecting_and_a_gate_that_says_no_stop_the_run) {
  apply(kLine);
  work_->states = {{"a", StepState::kDone}, {"b", StepState::kDone}, {"c", StepState::kDone}};
  const auto number = start();
  step();
  ASSERT_TRUE(
      service_->reject(as<access::Right::kOperate>("maya"), "line", number, "d", "too slow"));
  step();
  EXPECT_EQ(run(number).state, RunState::kStopped);
  EXPECT_EQ(run(number).reason, "d: rejected by maya: too slow");
  EXPECT_FALSE(service_->approve(as<access::Right::kOperate>("maya"), "line", number, "d", ""));
}

TEST_F(PipelineTest, cancelling_ends_every_open_node) {
  apply(kLine);
  const auto number = start();
  step();
  ASSERT_TRUE(service_->cancel(as<access::Right::kWrite>("lin"), "line", number));
  step();
  EXPECT_EQ(states(number), "cancelled cancelled cancelled cancelled");
  EXPECT_EQ(work_->cancelled, std::vector<std::string>{"a"});
  EXPECT_EQ(run(number).state, RunState::kCancelled);
}

void add_dataset_version(store::Database& db, const std::string& version) {
  append_event(db, "dataset.version-added", Ref{"dataset", version});
}

TEST_F(PipelineTest, an_armed_pipeline_runs_once_for_each_new_version) {
  apply(kLine, true);
  add_dataset_version(*db_, "raw@1");
  add_dataset_version(*db_, "other@1");
  step();
  restart();
  step();
  EXPECT_EQ(run(1).trigger, "dataset/raw@1");
  EXPECT_EQ(run(1).params.at("data").as_string(), "raw@1");
  EXPECT_FALSE(service_->get_run(as<access::Right::kRead>("lin"), "line", 2));
  add_dataset_version(*db_, "raw@2");
  step();
  EXPECT_EQ(run(2).trigger, "dataset/raw@2");
}

constexpr std::string_view kFromData = R"(
kind: Pipeline
name: line
spec:
  on: {dataset: raw}
  params: {data: raw}
  nodes: [{name: a, action: work, inputs: {x: "${params.data}"}}]
)";

TEST_F(PipelineTest, a_trigger_that_the_store_refuses_for_now_starts_its_run_later) {
  auto added = std::make_unique<AnyDataset>(*db_);
  AnyDataset& datasets = *added;
  registry_.add(std::move(added));
  apply(kFromData, true);
  add_dataset_version(*db_, "raw@1");
  datasets.refuses = Error{Code::kUnavailable, "the writer is busy", {}, {}};
  EXPECT_EQ(engine_->step().error().code, Code::kUnavailable);
  datasets.refuses.reset();
  step();
  EXPECT_EQ(run(1).trigger, "dataset/raw@1");
}

TEST_F(PipelineTest, a_trigger_that_can_make_no_run_is_told_as_an_event_once) {
  auto added = std::make_unique<AnyDataset>(*db_);
  AnyDataset& datasets = *added;
  registry_.add(std::move(added));
  apply(kFromData, true);
  add_dataset_version(*db_, "raw@1");
  datasets.refuses = Error{Code::kNotFound, "the version was removed", {}, {}};
  step();
  step();
  std::vector<store::Event> told;
  ASSERT_TRUE(db_->read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto events, store::read_events(reader, 0, 100));
    std::ranges::copy_if(events, std::back_inserter(told), [](const store::Event& event) {
      return event.verb == "pipeline.trigger-failed";
    });
    return {};
  }));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].subject.text(), "pipeline/line");
  EXPECT_EQ(told[0].details["trigger"].as_string(), "dataset/raw@1");
  EXPECT_NE(told[0].details["reason"].as_string().find("the version was removed"),
            std::string::npos);
}

TEST_F(PipelineTest, a_busy_store_delays_a_node_and_does_not_fail_it) {
  apply(kLine);
  const Error busy{Code::kTimeout, "the writer is busy", {}, {}};
  const auto number = start();
  work_->refuses_start = busy;
  step();
  EXPECT_EQ(states(number), "running pending pending pending");
  EXPECT_NE(run(number).find("a")->reason.find("the writer is busy"), std::string::npos);
  work_->refuses_start.reset();
  work_->refuses_poll = busy;
  step();
  EXPECT_EQ(work_->starts["node/line/1/a#1"], 1);
  EXPECT_EQ(states(number), "running pending pending pending");
  work_->refuses_poll.reset();
  step();
  EXPECT_EQ(run(number).find("a")->reason, "");
  work_->states["a"] = StepState::kDone;
  step();
  EXPECT_EQ(states(number), "done running running pending");
  EXPECT_EQ(work_->starts["node/line/1/a#1"], 1);
}

TEST_F(PipelineTest, what_a_step_says_for_good_fails_its_node) {
  apply(kLine);
  const auto number = start();
  work_->refuses_poll = Error{Code::kNotFound, "its job was removed", {}, {}};
  step();
  EXPECT_EQ(states(number).substr(0, 6), "failed");
  EXPECT_NE(run(number).find("a")->reason.find("its job was removed"), std::string::npos);
}

TEST(PipelinePlan, holds_no_reader_while_it_waits_for_another) {
  takt::testing::TempDir folder;
  auto db = store::Database::open(
      {.location = folder.path() / "one.db", .readers = 1, .sync_full = false}, system_clock());
  ASSERT_TRUE(db) << db.error().text();
  ASSERT_TRUE((*db)->migrate(migrations()));
  actions::Registry registry;
  auto added = std::make_unique<ScriptedStep>();
  ScriptedStep& work = *added;
  work.output_kind = PortKind::kDataset;
  work.states["a"] = StepState::kDone;
  registry.add(std::move(added));
  registry.add(std::make_unique<AnyDataset>(**db));
  OpenPolicy policy;
  const auto by = policy.as_server<access::Right::kWrite>(ProjectId{"default"}, UserId{"lin"});
  PipelineService service(**db, registry, policy);
  ASSERT_TRUE(
      service.apply(by, {.definition = *parse_yaml("kind: Pipeline\nname: line\nspec:\n  nodes:\n"
                                                   "    - {name: a, action: work}\n")}));
  ASSERT_TRUE(service.start_run(by, "line", {}, ""));
  Engine engine(**db, registry);
  ASSERT_TRUE(engine.step());
  const auto plan = service.plan(
      policy.as_server<access::Right::kRead>(ProjectId{"default"}, UserId{"lin"}), "line", {});
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(verdict_name(plan->at(0).verdict), "fresh") << plan->at(0).reason;
}

TEST_F(PipelineTest, a_pipeline_that_is_not_armed_starts_for_no_event) {
  apply(kLine);
  add_dataset_version(*db_, "raw@1");
  step();
  EXPECT_FALSE(service_->get_run(as<access::Right::kRead>("lin"), "line", 1));
}

TEST_F(PipelineTest, storing_the_same_again_is_told_once) {
  const auto stored = [&] {
    int count = 0;
    EXPECT_TRUE(db_->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const auto events, store::read_events(reader, 0, 100));
      for (const auto& event : events) count += event.verb == "pipeline.stored" ? 1 : 0;
      return {};
    }));
    return count;
  };
  apply(kLine);
  apply(kLine);
  EXPECT_EQ(stored(), 1);
  apply(kLine, true);
  EXPECT_EQ(stored(), 2);
  apply(kLine);
  EXPECT_EQ(stored(), 2);
  EXPECT_TRUE(service_->get(as<access::Right::kRead>("lin"), "line")->is_armed);
}

TEST_F(PipelineTest, the_same_request_key_is_the_same_run) {
  apply(kLine);
  const auto first = service_->start_run(as<access::Right::kWrite>("lin"), "line", {}, "key");
  const auto again = service_->start_run(as<access::Right::kWrite>("lin"), "line", {}, "key");
  EXPECT_EQ(first->number, again->number);
}

TEST_F(PipelineTest, wrong_definitions_name_the_field_and_the_remedy) {
  const auto error_of = [&](std::string_view nodes) {
    const auto spec = parse_pipeline(
        *parse_yaml("kind: Pipeline\nname: line\nspec:\n  params: {size: 1}\n  nodes: " +
                    std::string(nodes)),
        registry_);
    return spec ? std::string("none") : spec.error().field + ": " + spec.error().text();
  };
  EXPECT_EQ(error_of("[{name: a, action: wrk}]"),
            "spec.nodes[0].action: there is no action 'wrk'; did you mean 'work'?");
  EXPECT_EQ(error_of("[{name: a, action: work, needs: [b]}, {name: b, action: work, needs: [a]}]"),
            "spec.nodes: the nodes form a cycle: a -> b -> a; remove one of its `needs` or inputs");
  EXPECT_EQ(error_of("[{name: a, action: work, needs: [z]}]").substr(0, 50),
            "spec.nodes[0].needs[0]: there is no node 'z'");
  EXPECT_NE(error_of("[{name: a, action: work, nedes: [z]}]").find("nedes"), std::string::npos);
  EXPECT_NE(error_of("[{name: a, action: work}, {name: b, action: work, inputs: {x: "
                     "\"${nodes.a.outputs.put}\"}}]")
                .find("has no output 'put'"),
            std::string::npos);
  EXPECT_NE(error_of("[{name: a, action: work, with: {x: \"${params.siz}\"}}]")
                .find("did you mean 'size'"),
            std::string::npos);
  EXPECT_NE(error_of("[{name: a, action: work}, {name: a, action: work}]")
                .find("two nodes are called 'a'"),
            std::string::npos);
  EXPECT_NE(error_of("[]").find("at least one node"), std::string::npos);
  EXPECT_EQ(error_of("[{name: a, action: work, retries: {max: 1, backoff: 25h}}]"),
            "spec.nodes[0].retries.backoff: a backoff must be at most 1 d, got 25h");
  EXPECT_EQ(error_of("[{name: a, action: work, retries: {max: 1, backoff: soon}}]").substr(0, 45),
            "spec.nodes[0].retries.backoff: not a duration");
}

TEST(Gate, conditions_are_read_and_decided_with_numbers) {
  EXPECT_TRUE(holds(*parse_condition("accuracy >= 0.96"), 0.96));
  EXPECT_FALSE(holds(*parse_condition("loss<0.1"), 0.1));
  EXPECT_FALSE(holds(*parse_condition("x >= 0"), std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(parse_condition("accuracy"));
  EXPECT_FALSE(parse_condition("accuracy >= high"));
  const auto missing = metric_value(*parse_json(R"({"accuracy": 1, "matrix": [1]})"), "f1");
  EXPECT_EQ(missing.error().hint, "they hold accuracy");
  EXPECT_EQ(*metric_value(*parse_json(R"({"test": {"f1": 0.5}})"), "test.f1"), 0.5);
}

TEST(NodeStates, final_states_take_no_event) {
  for (int from = static_cast<int>(NodeState::kDone);
       from <= static_cast<int>(NodeState::kCancelled); ++from)
    for (int event = 0; event <= static_cast<int>(NodeEvent::kCancelled); ++event)
      EXPECT_FALSE(next(static_cast<NodeState>(from), static_cast<NodeEvent>(event)));
}

TEST_F(PipelineTest, nodes_are_drawn_below_what_they_need) {
  const auto spec = parse_pipeline(*parse_yaml(kLine), registry_);
  const auto places = layout(*spec);
  EXPECT_EQ(places[0].y, 0);
  EXPECT_EQ(places[1].y, 1);
  EXPECT_EQ(places[2].y, 1);
  EXPECT_NE(places[1].x, places[2].x);
  EXPECT_EQ(places[3].y, 2);
}

TEST(PipelineStatements, compile_on_both_databases) {
  for (const auto& db : store::testing::open_both({migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    store::testing::check_statements(*db, sql::kAll);
  }
}

}  // namespace
}  // namespace takt::pipelines
