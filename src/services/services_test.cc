// SPDX-License-Identifier: Apache-2.0
// Services with fake jobs and probes: from a deployment over a canary to a rollback.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <utility>

#include "takt/base/file.h"
#include "takt/base/log.h"
#include "takt/base/testing/manual_clock.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/gateway/request_id.h"
#include "takt/services/explainer.h"
#include "takt/services/migrations.h"
#include "takt/services/service_desk.h"
#include "takt/services/service_store.h"
#include "takt/services/steps.h"
#include "takt/services/testing/fake_jobs.h"
#include "takt/services/traffic.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"
#include "takt/store/testing/database_pair.h"

namespace takt::services {
namespace {

using actions::PortKind;
using actions::StepState;
using testing::FakeJobs;

struct OpenPolicy : access::Policy {
  std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
    return access::Role::kAdmin;
  }
  Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
};

/// NAME@N by the trees that the test gave.
struct FakeModels final : actions::RefResolver {
  FakeModels(std::map<std::string, Digest>& trees, std::function<void()>& on_resolve)
      : trees(trees), on_resolve(on_resolve) {}
  PortKind kind() const override { return PortKind::kModelVersion; }
  Result<actions::PortValue> resolve(const ProjectId&, std::string_view reference) const override {
    if (on_resolve) std::exchange(on_resolve, nullptr)();
    const auto found = trees.find(std::string(reference));
    if (found == trees.end())
      return fail(Code::kNotFound, "no model version '" + std::string(reference) + "'");
    return actions::PortValue{
        PortKind::kModelVersion, Ref{"model", found->first}, found->second, {}};
  }
  std::map<std::string, Digest>& trees;
  std::function<void()>& on_resolve;  // once: what happens while a reference is looked up
};

class ServicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log_setup(LogLevel::kError, LogFormat::kText);
    db_ = store::testing::open_sqlite({migrations()}, clock_);
    ASSERT_NE(db_, nullptr);
    blobs_ = std::move(*store::BlobStore::open(dir_.path() / "blobs", *db_));
    registry_.add(std::make_unique<FakeModels>(trees_, on_resolve_));
    add_model("m@1", "model.onnx");
    add_model("m@2", "model.onnx");
    add_model("p@1", "model.pkl");
    open();
  }
  /// Also what a new server does after a crash.
  void open() {
    desk_.reset();
    controller_.reset();
    publisher_ = std::make_unique<Publisher>(dir_.path() / "gateway");
    ASSERT_TRUE(publisher_->open(false));
    controller_ = std::make_unique<Controller>(
        *db_, replica_jobs_, *publisher_, history_,
        [this](const std::string& endpoint) { return !sick_.contains(endpoint); });
    desk_ = std::make_unique<ServiceDesk>(*db_, *blobs_, registry_, *controller_, history_);
  }
  void add_model(const std::string& version, const std::string& file) {
    const auto folder = dir_.path() / version;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / file) << version;
    trees_[version] = *blobs_->add_folder(project_, folder);
  }
  void step() {
    const Status stepped = controller_->step();
    ASSERT_TRUE(stepped) << stepped.error().text();
    controller_->prober().step();
    const Status again = controller_->step();
    ASSERT_TRUE(again) << again.error().text();
  }
  /// Long enough for jobs, probes, withdrawals and back-off.
  void settle(int rounds = 12) {
    for (int i = 0; i < rounds; ++i) {
      step();
      jobs_.settle();
      clock_.advance_ms(600);
    }
  }
  ServiceSpec spec(const std::string& model) {
    ServiceSpec spec;
    spec.model = model;
    return spec;
  }
  ServiceStatus get() { return desk_->get(can_read_, "s").value(); }
  std::string shares() {
    std::string out;
    const auto snapshot =
        gateway::parse_snapshot(read_file(dir_.path() / "gateway" / "snapshot.json").value_or(""));
    if (!snapshot || snapshot->services.empty()) return "none";
    for (const auto& revision : snapshot->services[0].revisions)
      out += (out.empty() ? "" : " ") + std::to_string(revision.number) + ":" +
             std::to_string(static_cast<int>(revision.share)) + "/" +
             std::to_string(revision.replicas.size());
    return out;
  }
  std::vector<std::string> verbs() {
    std::vector<std::string> verbs;
    EXPECT_TRUE(db_->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const auto events, store::read_events(reader, 0, 1000));
      for (const auto& event : events) verbs.push_back(event.verb);
      return {};
    }));
    return verbs;
  }
  void deploy_first() {
    ASSERT_TRUE(desk_->apply(can_operate_, "s", spec("m@1")));
    settle();
    ASSERT_EQ(get().state, "live");
  }
  void start_canary(double share = 5) {
    const auto started =
        desk_->start_canary(can_operate_, {.service = "s", .model = "m@2", .share = share});
    ASSERT_TRUE(started) << started.error().text();
  }

  takt::testing::TempDir dir_;
  takt::testing::ManualClock clock_;
  ProjectId project_{"default"};
  OpenPolicy policy_;
  access::CanRead can_read_ = policy_.as_server<access::Right::kRead>(project_, UserId{"lin"});
  access::CanOperate can_operate_ =
      policy_.as_server<access::Right::kOperate>(project_, UserId{"lin"});
  std::map<std::string, Digest> trees_;
  std::function<void()> on_resolve_;
  std::set<std::string> sick_;
  std::unique_ptr<store::Database> db_;
  std::unique_ptr<store::BlobStore> blobs_;
  actions::Registry registry_;
  FakeJobs jobs_{clock_};
  ReplicaJobs replica_jobs_{
      jobs_, policy_, {"/opt/takt", "/data/gateway", "127.0.0.1:8000", "127.0.0.1:8001"}};
  TrafficHistory history_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<ServiceDesk> desk_;
};

TEST_F(ServicesTest, the_first_revision_gets_all_traffic_once_its_replica_is_ready) {
  const auto applied = desk_->apply(can_operate_, "s", spec("m@1"));
  ASSERT_TRUE(applied) << applied.error().text();
  step();
  EXPECT_EQ(get().state, "starting");
  EXPECT_NE(get().reason.find("waits for 100m CPU"), std::string::npos) << get().reason;
  EXPECT_EQ(shares(), "1:0/0");
  settle();
  const ServiceStatus status = get();
  EXPECT_EQ(status.state, "live");
  EXPECT_EQ(shares(), "1:100/1");
  ASSERT_EQ(status.warnings.size(), 1U);
  EXPECT_NE(status.warnings[0].find("1 replica"), std::string::npos);
  const jobs::Job job = jobs_.open(jobs::JobKind::kReplica).at(0);
  EXPECT_TRUE(job.owner.starts_with("revision/s/1#replica-0#"));
  EXPECT_EQ(job.inputs.at("model").digest, trees_.at("m@1"));
  EXPECT_EQ(job.spec.command[1], "infer");
  EXPECT_EQ(jobs_.open(jobs::JobKind::kGateway).size(), 1U);
}

TEST_F(ServicesTest, the_same_model_and_spec_make_no_new_revision) {
  deploy_first();
  ASSERT_TRUE(desk_->apply(can_operate_, "s", spec("m@1")));
  EXPECT_EQ(get().revisions.size(), 1U);
  ServiceSpec two = spec("m@1");
  two.replicas = 2;
  ASSERT_TRUE(desk_->apply(can_operate_, "s", two));
  settle();
  EXPECT_EQ(get().row.stable, 2);
  EXPECT_EQ(shares(), "2:100/2 1:0/1");
  EXPECT_TRUE(get().warnings.empty());
}

TEST_F(ServicesTest, a_model_that_is_not_onnx_is_refused_with_the_exporters_call) {
  const auto refused = desk_->apply(can_operate_, "s", spec("p@1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_NE(refused.error().message.find("model.pkl"), std::string::npos);
  EXPECT_NE(refused.error().hint.find("skl2onnx.to_onnx"), std::string::npos);
  EXPECT_EQ(desk_->apply(can_operate_, "s", spec("x@1")).error().field, "spec.model");
}

TEST_F(ServicesTest, a_canary_is_started_moved_and_promoted_and_the_old_one_kept) {
  deploy_first();
  start_canary();
  step();
  EXPECT_EQ(shares(), "2:0/0 1:100/1");
  settle();
  EXPECT_EQ(get().state, "canary");
  EXPECT_EQ(shares(), "2:5/1 1:95/1");
  ASSERT_TRUE(desk_->set_share(can_operate_, "s", 25));
  step();
  EXPECT_EQ(shares(), "2:25/1 1:75/1");
  ASSERT_TRUE(desk_->promote(can_operate_, "s", UserId{"kim"}));
  step();
  EXPECT_EQ(shares(), "2:100/1 1:0/1");
  EXPECT_EQ(get().state, "live");
  EXPECT_EQ(get().decisions[0].verb, "canary.promoted");
  ASSERT_TRUE(db_->read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto edges, store::edges_from(reader, project_, revision_ref("s", 2)));
    EXPECT_TRUE(std::ranges::any_of(edges, [](const auto& edge) {
      return edge.relation == "approved-by" && edge.to.path == "kim";
    }));
    return {};
  }));
  ASSERT_TRUE(desk_->roll_back(can_operate_, "s"));
  step();
  EXPECT_EQ(shares(), "2:0/1 1:100/1");
  clock_.advance_ms(kKeepPreviousMs);
  settle();
  EXPECT_EQ(shares(), "1:100/1");
  EXPECT_EQ(jobs_.open(jobs::JobKind::kReplica).size(), 1U);
  ASSERT_TRUE(desk_->roll_back(can_operate_, "s"));  // to the one that was stopped: starts it again
  settle();
  EXPECT_EQ(shares(), "2:100/1 1:0/1");
}

TEST_F(ServicesTest, an_aborted_canary_stops_and_the_stable_one_keeps_all) {
  deploy_first();
  start_canary();
  settle();
  ASSERT_TRUE(desk_->abort(can_operate_, "s"));
  settle();
  EXPECT_EQ(shares(), "1:100/1");
  EXPECT_EQ(get().find(2)->row.state, RevisionState::kStopped);
  EXPECT_EQ(jobs_.open(jobs::JobKind::kReplica).size(), 1U);
  EXPECT_EQ(desk_->promote(can_operate_, "s").error().code, Code::kConflict);
}

TEST_F(ServicesTest, a_stable_revision_serves_on_after_any_number_of_aborted_canaries) {
  deploy_first();
  for (int i = 0; i < 60; ++i) {
    start_canary();
    ASSERT_TRUE(desk_->abort(can_operate_, "s"));
  }
  settle();
  EXPECT_EQ(shares(), "1:100/1");
  const ServiceStatus status = get();
  EXPECT_EQ(status.state, "live");
  ASSERT_NE(status.main(), nullptr);
  EXPECT_EQ(status.main()->row.number, 1);
  EXPECT_EQ(status.revisions.front().row.number, 61);
}

TEST_F(ServicesTest, a_job_that_cannot_be_submitted_now_is_tried_again_later_with_its_reason) {
  deploy_first();
  jobs_.refuse(Error{Code::kExhausted, "no space left on the device", {}, {}});
  jobs_.end(jobs_.open(jobs::JobKind::kReplica).front().id, "killed");
  settle(2);
  EXPECT_EQ(get().state, "degraded");
  EXPECT_NE(get().reason.find("no space left on the device"), std::string::npos) << get().reason;
  const int refused = jobs_.refused();
  step();
  EXPECT_EQ(jobs_.refused(), refused) << "it is not asked again before its back-off is over";
  jobs_.refuse(std::nullopt);
  settle();
  EXPECT_EQ(get().state, "live");
}

TEST_F(ServicesTest, a_busy_database_at_the_submission_fails_no_revision) {
  jobs_.refuse(Error{Code::kTimeout, "the write did not start before its deadline", {}, {}});
  ASSERT_TRUE(desk_->apply(can_operate_, "s", spec("m@1")));
  step();
  EXPECT_EQ(get().state, "starting");
  jobs_.refuse(std::nullopt);
  settle();
  EXPECT_EQ(get().state, "live");
}

TEST_F(ServicesTest, a_name_that_another_project_took_meanwhile_is_refused) {
  const ProjectId other{"other"};
  on_resolve_ = [&] {
    ASSERT_TRUE(db_->write([&](store::Tx& tx) {
      return save_service(tx, {.name = "s", .project = other, .created_by = UserId{"kim"}});
    }));
  };
  const auto started = desk_->start_canary(
      can_operate_, {.service = "s", .model = "m@1", .owner = "node/p/1/deploy#1"});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::kConflict);
  EXPECT_NE(started.error().message.find("another project"), std::string::npos);
}

TEST_F(ServicesTest, the_routes_are_written_anew_when_the_tokens_change) {
  deploy_first();
  const auto tokens = [&] {
    const auto text = read_file(dir_.path() / "gateway" / "snapshot.json").value_or("");
    return gateway::parse_snapshot(text).value().token_hashes.size();
  };
  const auto services =
      gateway::parse_snapshot(read_file(dir_.path() / "gateway" / "snapshot.json").value_or(""))
          .value()
          .services;
  EXPECT_EQ(tokens(), 0U);
  Publisher guarded(dir_.path() / "gateway");
  ASSERT_TRUE(guarded.open(true));
  ASSERT_TRUE(guarded.write(services));
  EXPECT_EQ(tokens(), 1U);
  Publisher open_again(dir_.path() / "gateway");
  ASSERT_TRUE(open_again.open(false));
  ASSERT_TRUE(open_again.write(services));
  EXPECT_EQ(tokens(), 0U);
}

TEST_F(ServicesTest, a_replica_is_withdrawn_before_it_is_stopped) {
  deploy_first();
  start_canary();
  settle();
  ASSERT_TRUE(desk_->abort(can_operate_, "s"));
  step();
  EXPECT_EQ(shares(), "1:100/1");
  for (const auto& job : jobs_.open(jobs::JobKind::kReplica)) EXPECT_EQ(job.cancel_ms, 0);
  clock_.advance_ms(kWithdrawMs);
  step();
  EXPECT_EQ(std::ranges::count_if(jobs_.open(jobs::JobKind::kReplica),
                                  [](const auto& job) { return job.cancel_ms > 0; }),
            1);
}

TEST_F(ServicesTest, three_fast_failures_fail_the_canary_with_the_jobs_reason_and_its_last_words) {
  deploy_first();
  start_canary();
  for (int i = 0; i < 6; ++i) {
    step();
    for (const auto& job : jobs_.open(jobs::JobKind::kReplica))
      if (job.state == jobs::JobState::kWaiting) jobs_.end(job.id, "exit code 1");
    clock_.advance_ms(5'000);
    step();
  }
  const ServiceStatus status = get();
  EXPECT_EQ(status.find(2)->row.state, RevisionState::kFailed);
  EXPECT_EQ(status.find(2)->row.reason, "exit code 1: the model is no ONNX");
  EXPECT_EQ(status.row.candidate, 0);
  EXPECT_EQ(status.state, "live");
  EXPECT_EQ(shares(), "1:100/1");
  EXPECT_TRUE(std::ranges::contains(verbs(), "revision.failed"));
}

TEST_F(ServicesTest, a_replica_that_ends_is_started_again_and_meanwhile_gets_nothing) {
  deploy_first();
  jobs_.end(jobs_.open(jobs::JobKind::kReplica).at(0).id, "killed for memory");
  step();
  EXPECT_EQ(get().state, "degraded");
  EXPECT_NE(get().reason.find("killed for memory"), std::string::npos) << get().reason;
  EXPECT_EQ(shares(), "1:100/0");
  settle();
  EXPECT_EQ(get().state, "live");
  EXPECT_EQ(get().replicas.at(0).restarts, 1);
  EXPECT_TRUE(std::ranges::contains(verbs(), "replica.lost"));
}

TEST_F(ServicesTest, a_replica_that_stops_answering_is_left_out_until_it_does) {
  deploy_first();
  sick_.insert(get().replicas.at(0).endpoint);
  for (int i = 0; i < 4; ++i) {
    clock_.advance_ms(1'100);
    step();
  }
  EXPECT_EQ(shares(), "1:100/0");
  EXPECT_EQ(get().replicas.at(0).state, "unhealthy");
  sick_.clear();
  settle();
  EXPECT_EQ(shares(), "1:100/1");
}

TEST_F(ServicesTest, a_restarted_server_starts_nothing_twice_and_keeps_the_routes) {
  deploy_first();
  start_canary();
  settle();
  const std::size_t count = jobs_.all().size();
  open();
  ASSERT_TRUE(controller_->step());  // before any probe: the routes of before hold
  EXPECT_EQ(shares(), "2:5/1 1:95/1");
  settle();
  EXPECT_EQ(shares(), "2:5/1 1:95/1");
  EXPECT_EQ(jobs_.all().size(), count);
}

TEST_F(ServicesTest, a_stopped_service_runs_nothing_and_can_be_started_again) {
  deploy_first();
  ASSERT_TRUE(desk_->stop(can_operate_, "s"));
  settle();
  EXPECT_EQ(get().state, "stopped");
  EXPECT_TRUE(jobs_.open(jobs::JobKind::kReplica).empty());
  clock_.advance_ms(60'000);
  settle(4);
  EXPECT_TRUE(jobs_.open(jobs::JobKind::kGateway).empty());
  ASSERT_TRUE(desk_->apply(can_operate_, "s", spec("m@1")));
  settle();
  EXPECT_EQ(get().state, "live");
  EXPECT_EQ(get().revisions.size(), 1U);
  ASSERT_TRUE(desk_->stop(can_operate_, "s"));
  settle();
  ASSERT_TRUE(desk_->apply(can_operate_, "s", spec("m@2")));
  settle();
  EXPECT_EQ(shares(), "2:100/1");  // and the one before does not start again with it
  EXPECT_EQ(jobs_.open(jobs::JobKind::kReplica).size(), 1U);
}

TEST_F(ServicesTest, names_are_unique_in_the_server_and_unknown_ones_are_not_found) {
  deploy_first();
  const auto other = policy_.as_server<access::Right::kOperate>(ProjectId{"other"}, UserId{"lin"});
  EXPECT_EQ(
      desk_->get(policy_.as_server<access::Right::kRead>(ProjectId{"other"}, UserId{"lin"}), "s")
          .error()
          .code,
      Code::kNotFound);
  EXPECT_EQ(desk_->get(can_read_, "ss").error().hint, "did you mean 's'?");
  EXPECT_FALSE(desk_->apply(other, "s", spec("m@1")));
  EXPECT_EQ(desk_->start_canary(can_operate_, {.service = "none", .model = "m@2"}).error().code,
            Code::kNotFound);
}

class StepTest : public ServicesTest {
 protected:
  actions::StepRequest deploy_request(const std::string& version, std::int64_t run) {
    actions::StepRequest request;
    request.project = project_;
    request.actor = UserId{"lin"};
    request.node = {"node", "line/" + std::to_string(run) + "/deploy"};
    request.definition.with = Object{{"service", "s"}, {"share", 5}};
    request.inputs["model"] = {
        PortKind::kModelVersion, Ref{"model", version}, trees_.at(version), {}};
    return request;
  }
  actions::StepRequest promote_request(const actions::PortValue& service) {
    actions::StepRequest request;
    request.project = project_;
    request.actor = UserId{"lin"};
    request.approver = UserId{"kim"};
    request.node = {"node", "line/1/promote"};
    request.inputs["service"] = service;
    return request;
  }
  actions::StepProgress deploy(const std::string& version, std::int64_t run) {
    DeployCanaryStep step(*desk_, policy_);
    const auto request = deploy_request(version, run);
    const Status started = step.start(request);
    EXPECT_TRUE(started) << started.error().text();
    EXPECT_TRUE(step.start(request));  // again, as after a crash
    settle();
    return step.poll(request).value();
  }
};

TEST_F(StepTest, the_first_deployment_makes_the_service_and_the_second_a_canary_that_is_promoted) {
  const auto first = deploy("m@1", 1);
  EXPECT_EQ(first.state, StepState::kDone) << first.reason;
  EXPECT_EQ(shares(), "1:100/1");
  PromoteStep promote(*desk_, policy_);
  EXPECT_EQ(promote.poll(promote_request(first.outputs.at("service")))->state,
            StepState::kDone);  // nothing to promote

  const auto second = deploy("m@2", 2);
  EXPECT_EQ(second.state, StepState::kDone) << second.reason;
  EXPECT_EQ(shares(), "2:5/1 1:95/1");
  EXPECT_EQ(get().revisions.size(), 2U);
  EXPECT_NE(second.outputs.at("service").digest, first.outputs.at("service").digest);
  const auto request = promote_request(second.outputs.at("service"));
  EXPECT_EQ(promote.poll(request)->state, StepState::kDone);
  EXPECT_EQ(promote.poll(request)->state, StepState::kDone);
  step();
  EXPECT_EQ(shares(), "2:100/1 1:0/1");
  EXPECT_NE(get().decisions[0].text.find("approved by kim"), std::string::npos);
}

TEST_F(StepTest, a_version_that_is_live_already_is_done_without_change) {
  deploy("m@1", 1);
  const auto again = deploy("m@1", 2);
  EXPECT_EQ(again.state, StepState::kDone);
  EXPECT_EQ(get().revisions.size(), 1U);
}

TEST_F(StepTest, a_canary_that_fails_fails_the_step_with_its_reason) {
  deploy_first();
  DeployCanaryStep runner(*desk_, policy_);
  const auto request = deploy_request("m@2", 1);
  ASSERT_TRUE(runner.start(request));
  EXPECT_EQ(runner.poll(request)->state, StepState::kRunning);
  for (int i = 0; i < 6; ++i) {
    step();
    for (const auto& job : jobs_.open(jobs::JobKind::kReplica))
      if (job.state == jobs::JobState::kWaiting) jobs_.end(job.id, "exit code 1");
    clock_.advance_ms(5'000);
    step();
  }
  const auto failed = runner.poll(request);
  EXPECT_EQ(failed->state, StepState::kFailed);
  EXPECT_NE(failed->reason.find("the model is no ONNX"), std::string::npos) << failed->reason;
}

TEST_F(StepTest, wrong_options_are_named) {
  DeployCanaryStep runner(*desk_, policy_);
  actions::StepDefinition definition;
  definition.with = Object{{"service", "s"}, {"share", 101}};
  EXPECT_EQ(runner.describe(definition).error().field, "with.share");
  definition.with = Object{{"servic", "s"}};
  EXPECT_FALSE(runner.describe(definition));
  definition.with = Object{{"service", "s"}};
  EXPECT_FALSE(runner.describe(definition)->cacheable);
}

TEST_F(ServicesTest, why_tells_of_a_service_a_revision_and_a_single_answer) {
  deploy_first();
  ServiceExplainer explainer(*desk_, policy_);
  EXPECT_EQ(explainer.explain(project_, service_ref("s"))->title, "service s is live");
  EXPECT_EQ(explainer.explain(project_, revision_ref("s", 1))->state, "ready");
  EXPECT_EQ(explainer.explain(project_, revision_ref("s", 9)).error().code, Code::kNotFound);
  Rng rng(1);
  const std::string id =
      gateway::make_request_id({gateway::hash_service("s"), 1, clock_.now_ms()}, rng);
  const auto answer = explainer.explain(project_, Ref{"request", id});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->ref, revision_ref("s", 1));
  EXPECT_NE(answer->title.find("answered by revision 1 of service s"), std::string::npos);
  EXPECT_EQ(explainer.explain(project_, Ref{"request", "x"}).error().code, Code::kInvalid);
  EXPECT_EQ(explainer.line_card(project_, 0)->lines[0], "1 live");
}

}  // namespace
}  // namespace takt::services
