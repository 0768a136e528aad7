// SPDX-License-Identifier: Apache-2.0
// The room as a whole: real store, blobs and processes, from a submission to its lineage.
#include "takt/jobs/station.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "takt/access/migrations.h"
#include "takt/base/file.h"
#include "takt/base/log.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/data/migrations.h"
#include "takt/data/resolver.h"
#include "takt/jobs/job_step.h"
#include "takt/jobs/migrations.h"
#include "takt/jobs/routes.h"
#include "takt/net/testing/raw_client.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"
#include "takt/store/migrations.h"
#include "takt/track/migrations.h"

namespace takt::jobs {
namespace {

namespace fs = std::filesystem;

using access::Right;

class StationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log_setup(LogLevel::kWarn, LogFormat::kText);
    data_dir_ = fs::canonical(dir_.path()) / "data";
    ASSERT_TRUE(make_dirs(data_dir_, 0700));
    db_ = std::move(
        *store::Database::open({.location = (data_dir_ / "takt.db").string()}, system_clock()));
    std::vector<store::Migration> all;
    for (const auto& part : {store::migrations(), access::migrations(), data::migrations(),
                             track::migrations(), migrations()})
      all.insert(all.end(), part.begin(), part.end());
    std::ranges::sort(all, {}, &store::Migration::name);
    const Status migrated = db_->migrate(all);
    ASSERT_TRUE(migrated) << migrated.error().text();
    blobs_ = std::move(*store::BlobStore::open(data_dir_ / "blobs", *db_));
    access_ = std::move(*access::AccessService::open(
        *db_, {.admin_token_file = (data_dir_ / "admin-token").string()}));
    datasets_ = std::make_unique<data::DatasetService>(*db_, *blobs_);
    registry_.add(std::make_unique<data::DatasetResolver>(*datasets_, *access_));
    open_station();
  }
  void open_station() {
    StationOptions options;
    options.server_url = "http://127.0.0.1:8700";
    options.executor.data_dir = data_dir_;
    options.executor.cpu_millicores = 2000;
    options.executor.memory_bytes = 4ll << 30;
    auto opened = JobStation::open({*db_, *blobs_, *datasets_, *access_, registry_}, options);
    ASSERT_TRUE(opened) << opened.error().text();
    station_ = std::move(*opened);
    station_->start();
  }
  void TearDown() override {
    if (!station_) return;
    const auto jobs = station_->service().list(reader(), {}).value();
    for (const Job& job : jobs)
      if (!is_final(job.state)) {
        (void)station_->service().cancel(writer(), job.id, 0);
        wait_for_end(job.id);
      }
  }

  access::CanRead reader() { return access_->as_server<Right::kRead>(project_, UserId{"admin"}); }
  access::CanWrite writer() { return access_->as_server<Right::kWrite>(project_, UserId{"admin"}); }

  Result<Job> try_submit(std::string_view yaml, std::string owner = {}) {
    TAKT_ASSIGN(const Value value, parse_yaml(yaml));
    Submission submission;
    TAKT_ASSIGN(submission.spec, parse_job_spec("test", value));
    submission.owner = std::move(owner);
    return station_->service().submit(writer(), submission);
  }
  Job submit(std::string_view yaml, std::string owner = {}) {
    auto job = try_submit(yaml, std::move(owner));
    EXPECT_TRUE(job) << job.error().text();
    return job.value_or(Job{});
  }
  Job get(JobId id) { return station_->service().get(reader(), id).value(); }
  Job wait_until(JobId id, const std::function<bool(const Job&)>& is_so) {
    for (int i = 0; i < 4000; ++i) {
      Job job = get(id);
      if (is_so(job)) return job;
      ::usleep(5000);
    }
    ADD_FAILURE() << "job " << id.value << " stays " << job_state_name(get(id).state) << ": "
                  << get(id).reason;
    return get(id);
  }
  Job wait_for_end(JobId id) {
    return wait_until(id, [](const Job& job) { return is_final(job.state); });
  }
  std::string log_of(JobId id) {
    return station_->service().log(reader(), id, 0, 0, 1 << 20).value().bytes;
  }
  Digest tree_of(const std::string& name, const std::string& text, unsigned mode = 0644) {
    const fs::path folder = dir_.path() / ("tree-" + std::to_string(++trees_));
    EXPECT_TRUE(make_dirs(folder));
    EXPECT_TRUE(write_file_durably(folder / name, text, mode));
    return blobs_->add_folder(project_, folder).value();
  }
  std::vector<std::string> edges_from(const Ref& ref) {
    std::vector<std::string> texts;
    EXPECT_TRUE(db_->read([&](store::Reader& in) -> Status {
      TAKT_ASSIGN(const auto edges, store::edges_from(in, project_, ref));
      for (const auto& edge : edges) texts.push_back(edge.relation + " " + edge.to.text());
      return {};
    }));
    std::ranges::sort(texts);
    return texts;
  }

  takt::testing::TempDir dir_;
  const ProjectId project_{"default"};
  fs::path data_dir_;
  std::unique_ptr<store::Database> db_;
  std::unique_ptr<store::BlobStore> blobs_;
  std::unique_ptr<access::AccessService> access_;
  std::unique_ptr<data::DatasetService> datasets_;
  actions::Registry registry_;
  std::unique_ptr<JobStation> station_;
  int trees_ = 0;
};

TEST_F(StationTest, inputs_code_and_parameters_go_in_and_outputs_metrics_and_lineage_come_out) {
  const Digest rows = tree_of("rows.csv", "a,b\n1,2\n");
  ASSERT_TRUE(datasets_->add_version(writer(), "raw", rows, {}, ""));
  const Digest code = tree_of(
      "run.sh",
      "#!/bin/sh\nset -e\n"
      "cat \"$TAKT_INPUT_RAW/rows.csv\"\ncp \"$TAKT_INPUT_RAW/rows.csv\" \"$TAKT_OUTPUT_CLEAN/\"\n"
      "echo weights > \"$TAKT_OUTPUT_MODEL/model.onnx\"\n"
      "echo \"{\\\"accuracy\\\": 0.75, \\\"note\\\": \\\"$TAKT_PARAM_NOTE\\\"}\" > "
      "\"$TAKT_OUTPUT_METRICS\"\n"
      "test \"$MLFLOW_RUN_ID\" = \"$TAKT_RUN_ID\"; test -n \"$TAKT_TOKEN\"; test \"$TAKT_SEED\" = "
      "7\n"
      "echo scratch > made-here\n",
      0755);
  const Job job =
      submit("{command: [./run.sh], code: " + code.value + R"(, seed: 7, params: {note: hi},
      inputs: {raw: raw@1}, experiment: e,
      outputs: {clean: dataset, model: model, metrics: json}})");
  const Job ended = wait_for_end(job.id);
  ASSERT_EQ(ended.state, JobState::kSucceeded) << ended.reason << "\n" << log_of(job.id);
  EXPECT_EQ(log_of(job.id), "a,b\n1,2\n");
  EXPECT_EQ(ended.outputs.at("clean").ref.text(), "dataset/clean@1");
  EXPECT_EQ(ended.outputs.at("clean").digest, rows);
  EXPECT_EQ(ended.outputs.at("metrics").json["note"].as_string(), "hi");
  const Digest model = ended.outputs.at("model").digest;
  EXPECT_EQ(blobs_->read_tree(project_, model).value().entries.at(0).path, "model.onnx");
  EXPECT_EQ(edges_from(ref_of(ended.run)),
            (std::vector<std::string>{"came-from job/" + std::to_string(job.id.value),
                                      "used dataset/raw@1"}));
  EXPECT_EQ(edges_from(ref_of(job.id)), (std::vector<std::string>{"used-code code/" + code.value}));
  const auto made = edges_from(Ref{"dataset", "clean@1"});
  EXPECT_TRUE(std::ranges::contains(made, "made-by run/" + ended.run.value));
  EXPECT_EQ(edges_from(Ref{"artifact", model.value}),
            (std::vector<std::string>{"made-by run/" + ended.run.value}));
}

TEST_F(StationTest, a_retry_finds_its_checkpoint) {
  const Job job = submit(
      R"({command: 'if [ -e "$TAKT_CHECKPOINT_DIR/step" ]; then
      echo resumed at $TAKT_ATTEMPT; exit 0; fi;
      echo 1 > "$TAKT_CHECKPOINT_DIR/step"; exit 75', retries: {max: 1, backoff: 10ms}})");
  EXPECT_EQ(wait_for_end(job.id).state, JobState::kSucceeded);
  EXPECT_EQ(log_of(job.id), "resumed at 2\n");
}

TEST_F(StationTest, the_same_owner_gets_the_same_job) {
  const Job first = submit("{command: 'true'}", "node/p/1/train#1");
  const Job second = submit("{command: 'false'}", "node/p/1/train#1");
  EXPECT_EQ(first.id, second.id);
  EXPECT_EQ(wait_for_end(first.id).state, JobState::kSucceeded);
}

TEST_F(StationTest, refusals_name_the_field_and_the_numbers) {
  const auto large = try_submit("{command: x, resources: {cpu: 8}}");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().text(),
            "it can never run here: needs 8000m CPU, this machine has 2000m; lower "
            "resources.cpu to at most 2000m");
  EXPECT_EQ(large.error().field, "spec.resources.cpu");
  const auto unknown = try_submit("{command: x, inputs: {train: no-such-data@3}}");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kNotFound);
  EXPECT_EQ(unknown.error().field, "spec.inputs.train");
  const auto code = try_submit("{command: x, code: " + std::string(64, 'a') + "}");
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().field, "spec.code");
}

TEST_F(StationTest, a_failed_job_is_explained_with_its_last_lines) {
  const Job job = submit("{command: 'for i in 1 2 3; do echo line $i; done; no-such-program'}");
  EXPECT_EQ(wait_for_end(job.id).state, JobState::kFailed);
  const auto why = station_->make_explainer()->explain(project_, ref_of(job.id));
  ASSERT_TRUE(why) << why.error().text();
  EXPECT_EQ(why->state, "failed");
  EXPECT_EQ(why->lines.front(), "exit code 127 (the command was not found)");
  EXPECT_TRUE(std::ranges::contains(why->lines, "  line 3"));
  EXPECT_FALSE(why->next.empty());
}

TEST_F(StationTest, a_waiting_job_says_who_holds_what_it_needs) {
  const Job holder = submit("{command: 'sleep 1000', resources: {cpu: 1500m}}");
  wait_until(holder.id, [](const Job& job) { return job.state == JobState::kRunning; });
  const Job waiting = submit("{command: 'true', resources: {cpu: 1}}");
  const std::string reason = "needs 1000m CPU; 1500m of 2000m are reserved by job " +
                             std::to_string(holder.id.value) + " (1500m)";
  wait_until(waiting.id, [&](const Job& job) { return job.reason == reason; });
  const auto card = station_->make_line_source()->line_card(project_, 0);
  ASSERT_TRUE(card);
  EXPECT_EQ(card->moving, 1);
  ASSERT_EQ(card->stops.size(), 1u);
  EXPECT_EQ(card->stops.at(0).text, "test: " + reason);
  ASSERT_TRUE(station_->service().cancel(writer(), holder.id, 0));
  EXPECT_EQ(wait_for_end(holder.id).state, JobState::kCancelled);
  EXPECT_EQ(wait_for_end(waiting.id).state, JobState::kSucceeded);
}

TEST_F(StationTest, a_restarted_server_finds_what_ran_on) {
  const Job job = submit(
      R"({command: 'echo before; while [ ! -e "$TAKT_CHECKPOINT_DIR/go" ]; do sleep 0.02; done;
      echo after'})");
  wait_until(job.id, [](const Job& j) { return j.state == JobState::kRunning; });
  station_.reset();
  ASSERT_TRUE(write_file_durably(AttemptFolder(data_dir_, job.id, 1).checkpoint() / "go", ""));
  open_station();
  const Job ended = wait_for_end(job.id);
  EXPECT_EQ(ended.state, JobState::kSucceeded);
  EXPECT_EQ(ended.attempts.size(), 1u);
  EXPECT_EQ(log_of(job.id), "before\nafter\n");
}

TEST_F(StationTest, what_a_crash_left_of_an_ended_attempt_goes_at_the_next_start) {
  const Job job = submit("{command: 'true'}");
  wait_for_end(job.id);
  station_.reset();
  const AttemptFolder folder(data_dir_, job.id, 1);
  ASSERT_TRUE(make_dirs(folder.work() / "deep"));
  ASSERT_TRUE(make_dirs(folder.checkpoint()));
  ASSERT_TRUE(make_dirs(AttemptFolder(data_dir_, JobId{99}, 1).work()));  // of no job that is known
  open_station();
  for (int i = 0; i < 1000 && fs::exists(folder.work()); ++i) ::usleep(5000);
  EXPECT_FALSE(fs::exists(folder.work()));
  EXPECT_FALSE(fs::exists(folder.checkpoint()));
  EXPECT_TRUE(fs::exists(folder.log())) << "its log stays";
  EXPECT_TRUE(fs::exists(AttemptFolder(data_dir_, JobId{99}, 1).work()));
}

TEST_F(StationTest, an_attempt_that_cannot_be_looked_at_is_not_taken_for_lost) {
  const Job job = submit("{command: sleep 30}");
  const Job running =
      wait_until(job.id, [](const Job& j) { return j.state == JobState::kRunning; });
  const AttemptFolder folder(data_dir_, job.id, 1);
  const fs::path aside = folder.root() / "lock.aside";
  fs::rename(folder.lock(), aside);
  fs::create_symlink("shim.lock", folder.lock());  // to itself: opening it fails, as with no
                                                   // descriptor left
  const Lease lease{job.id, 1, running.attempts.at(0).token};
  EXPECT_FALSE(station_->executor().poll(lease));
  fs::rename(aside, folder.lock());
  const auto status = station_->executor().poll(lease);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(status->phase, AttemptPhase::kRunning);
  EXPECT_EQ(get(job.id).state, JobState::kRunning);
}

TEST_F(StationTest, an_output_that_is_a_link_out_of_its_folder_is_refused) {
  const Job job = submit(
      R"({command: 'rmdir "$TAKT_OUTPUT_MODEL"; ln -s /etc "$TAKT_OUTPUT_MODEL"',
      outputs: {model: model}})");
  const Job ended = wait_for_end(job.id);
  EXPECT_EQ(ended.state, JobState::kFailed);
  EXPECT_NE(ended.reason.find("output 'model' is not a folder"), std::string::npos) << ended.reason;
}

TEST_F(StationTest, a_second_cancel_with_a_shorter_grace_ends_it_sooner) {
  const Job job = submit(R"({command: 'trap "" TERM; echo deaf; while :; do sleep 0.1; done'})");
  for (int i = 0; i < 4000 && log_of(job.id) != "deaf\n"; ++i) ::usleep(5000);
  ASSERT_TRUE(station_->service().cancel(writer(), job.id, 3'600'000));
  EXPECT_EQ(get(job.id).state, JobState::kStopping);
  const auto later = station_->service().cancel(writer(), job.id, 7'200'000);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->grace_ms, 3'600'000) << "a longer one changes nothing";
  ASSERT_TRUE(station_->service().cancel(writer(), job.id, 100));
  EXPECT_EQ(wait_for_end(job.id).state, JobState::kCancelled);
}

TEST_F(StationTest, a_replica_tells_its_ports_and_serves_until_cancelled) {
  Submission submission;
  submission.spec.name = "digits-1";
  submission.spec.kind = JobKind::kReplica;
  submission.spec.command = {"sh", "-c", "echo 127.0.0.1:9 > ${TAKT_PORTS_DIR}/http; sleep 1000"};
  submission.spec.ports = {"http"};
  submission.spec.resources = {100, 64 << 20, 0};
  const Job job = station_->service().submit(writer(), submission).value();
  EXPECT_TRUE(job.run.empty());
  const Job listening = wait_until(job.id, [](const Job& j) { return !j.endpoints.empty(); });
  EXPECT_EQ(listening.endpoints.at("http"), "127.0.0.1:9");
  ASSERT_TRUE(station_->service().cancel(writer(), job.id, 100));
  EXPECT_EQ(wait_for_end(job.id).state, JobState::kCancelled);
}

TEST_F(StationTest, a_pipeline_step_runs_a_job_once_and_gives_its_outputs) {
  const auto step = station_->make_step();
  actions::StepRequest request;
  request.project = project_;
  request.actor.value = "admin";
  request.node = {"node", "line/1/evaluate"};
  request.definition.name = "evaluate";
  request.definition.with =
      parse_yaml(R"({command: 'echo "{\"accuracy\": 1}" > "$TAKT_OUTPUT_METRICS"'})").value();
  request.definition.outputs_declared["metrics"] = {"metrics", actions::PortKind::kJson, true};
  EXPECT_EQ(step->describe(request.definition).value().outputs.at(0).name, "metrics");
  ASSERT_TRUE(step->start(request));
  ASSERT_TRUE(step->start(request));
  for (int i = 0; i < 4000 && step->poll(request).value().state == actions::StepState::kRunning;
       ++i)
    ::usleep(5000);
  const auto progress = step->poll(request).value();
  EXPECT_EQ(progress.state, actions::StepState::kDone) << progress.reason;
  EXPECT_EQ(progress.outputs.at("metrics").json["accuracy"].as_int(), 1);
  EXPECT_EQ(station_->service().list(reader(), {}).value().size(), 1u);
}

TEST_F(StationTest, the_api_submits_shows_follows_and_cancels) {
  net::Router router;
  register_routes(router, *station_, *access_);
  const auto server = net::Server::start({}, router, access_.get(), system_clock()).value();
  EXPECT_TRUE(net::testing::routes_open_to_anyone(router, server->port()).empty());
  std::string token = read_file(data_dir_ / "admin-token").value();
  while (token.ends_with('\n')) token.pop_back();
  const std::string headers =
      "Authorization: Bearer " + token + "\r\nContent-Type: application/json\r\n";
  const auto call = [&](std::string_view method, std::string_view target,
                        std::string_view body = {}) {
    return net::testing::raw_request(server->port(),
                                     net::testing::raw_text(method, target, headers, body));
  };
  const auto json = [](const net::testing::RawResponse& response) {
    return parse_json(response.body).value_or(Value());
  };

  const auto made =
      call("POST", "/api/v1/jobs",
           R"({"kind":"Job","name":"hello","spec":{"command":"echo hello; sleep 0.2; echo end"}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string path = "/api/v1/jobs/" + std::to_string(json(made)["number"].as_int());
  const auto followed = call("GET", path + "/log?follow=1");
  EXPECT_EQ(followed.status, 200);
  EXPECT_EQ(followed.body, "hello\nend\n");
  const Job ended = wait_for_end(JobId{json(made)["number"].as_int()});
  EXPECT_EQ(ended.state, JobState::kSucceeded);
  const auto tail = call("GET", path + "/log?from=-4");
  EXPECT_EQ(tail.body, "end\n");
  EXPECT_EQ(tail.headers.get("Takt-Log-Offset"), "6");
  EXPECT_EQ(tail.headers.get("Takt-Log-Final"), "true");
  EXPECT_EQ(json(call("GET", path))["state"].as_string(), "succeeded");
  EXPECT_EQ(json(call("GET", "/api/v1/jobs?state=succeeded&q=hel"))["items"].as_array().size(), 1u);
  EXPECT_EQ(json(call("GET", "/api/v1/jobs?state=open"))["items"].as_array().size(), 0u);
  EXPECT_EQ(json(call("GET", "/api/v1/capacity"))["total"]["cpu_millicores"].as_int(), 2000);

  const auto wrong = call("POST", "/api/v1/jobs", R"({"name":"x","spec":{"comand":"x"}})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(json(wrong)["error"]["field"].as_string(), "spec.comand");
  EXPECT_EQ(call("GET", "/api/v1/jobs/999").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/jobs/x").status, 404);
  EXPECT_EQ(call("GET", path + "/log?attempt=7").status, 404);
  const auto endless = call("POST", "/api/v1/jobs", R"({"spec":{"command":"sleep 1000"}})");
  const std::int64_t number = json(endless)["number"].as_int();
  EXPECT_EQ(
      call("POST", "/api/v1/jobs/" + std::to_string(number) + "/cancel", R"({"grace":"100ms"})")
          .status,
      200);
  EXPECT_EQ(wait_for_end(JobId{number}).state, JobState::kCancelled);
}

}  // namespace
}  // namespace takt::jobs
