// SPDX-License-Identifier: Apache-2.0
// The pure parts of services, and its tables.
#include "takt/services/plan.h"

#include <gtest/gtest.h>

#include <set>

#include "takt/base/digest.h"
#include "takt/services/migrations.h"
#include "takt/services/service_store.h"
#include "takt/services/sql.h"
#include "takt/services/traffic.h"
#include "takt/services/traffic_history.h"
#include "takt/store/lineage.h"
#include "takt/store/testing/database_pair.h"

namespace takt::services {
namespace {

TEST(ServiceSpecText, defaults_and_all_fields) {
  const auto plain = parse_service_spec(*parse_yaml("model: digits@production"));
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_EQ(plain->replicas, 1);
  EXPECT_EQ(plain->cpu_millicores, 100);
  EXPECT_EQ(plain->memory_bytes, 256 << 20);
  const auto full =
      parse_service_spec(*parse_yaml("{model: digits, replicas: 2, resources: {cpu: 0.5, memory: "
                                     "1GiB}, batching: {max_batch_size: 16, max_delay_us: 500}}"));
  ASSERT_TRUE(full) << full.error().text();
  EXPECT_EQ(full->cpu_millicores, 500);
  EXPECT_EQ(full->batch_rows_max, 16);
  const auto again = parse_service_spec(to_value(*full));
  ASSERT_TRUE(again);
  EXPECT_EQ(dump_json(to_value(*again)), dump_json(to_value(*full)));
}

TEST(ServiceSpecText, wrong_fields_are_named) {
  const auto field = [](const char* yaml) {
    return parse_service_spec(*parse_yaml(yaml)).error().field;
  };
  EXPECT_EQ(field("{}"), "spec.model");
  EXPECT_EQ(field("{model: a, replica: 2}"), "spec.replica");
  EXPECT_EQ(field("{model: a, replicas: 0}"), "spec.replicas");
  EXPECT_EQ(field("{model: a, resources: {cpu: lots}}"), "spec.resources.cpu");
  EXPECT_EQ(field("{model: a, batching: {max_delay_us: -1}}"), "spec.batching.max_delay_us");
}

RevisionRow revision_row(std::int64_t number, RevisionState state) {
  RevisionRow row;
  row.service = "s";
  row.number = number;
  row.model = {{"m", number}};
  row.state = state;
  return row;
}

TEST(Traffic, the_first_revision_takes_all_once_it_is_ready) {
  ServiceRow s{.name = "s"};
  const RevisionRow one = revision_row(1, RevisionState::kStarting);
  begin_rollout(s, one, 1000);
  EXPECT_EQ(share_of(s, 1), 0);
  candidate_ready(s, one, 2000);
  EXPECT_EQ(s.stable, 1);
  EXPECT_EQ(share_of(s, 1), 100);
  EXPECT_EQ(s.previous, 0);
}

TEST(Traffic, a_canary_is_moved_promoted_and_rolled_back_at_once) {
  ServiceRow s{.name = "s", .stable = 1};
  RevisionRow two = revision_row(2, RevisionState::kStarting);
  begin_canary(s, two, 5, 1000);
  EXPECT_EQ(share_of(s, 1), 100);
  EXPECT_EQ(promote(s, &two, 1500).error().code, Code::kConflict);
  two.state = RevisionState::kReady;
  candidate_ready(s, two, 2000);
  EXPECT_EQ(share_of(s, 2), 5);
  EXPECT_EQ(share_of(s, 1), 95);
  EXPECT_EQ(set_share(s, &two, 25)->verb, "traffic.changed");
  EXPECT_EQ(share_of(s, 1), 75);
  EXPECT_EQ(promote(s, &two, 3000)->verb, "canary.promoted");
  EXPECT_EQ(share_of(s, 2), 100);
  EXPECT_EQ(s.previous, 1);
  EXPECT_EQ(s.keep_until_ms, 3000 + kKeepPreviousMs);
  const RevisionRow one = revision_row(1, RevisionState::kReady);
  EXPECT_EQ(roll_back(s, &one, 4000)->verb, "service.rolled-back");
  EXPECT_EQ(share_of(s, 1), 100);
  EXPECT_EQ(s.previous, 2);
}

TEST(Traffic, a_rollback_to_a_stopped_revision_waits_until_it_is_ready) {
  ServiceRow s{.name = "s", .stable = 2, .previous = 1};
  const RevisionRow one = revision_row(1, RevisionState::kStopped);
  ASSERT_TRUE(roll_back(s, &one, 4000));
  EXPECT_EQ(share_of(s, 2), 100);
  candidate_ready(s, one, 5000);
  EXPECT_EQ(share_of(s, 1), 100);
  EXPECT_EQ(s.previous, 2);
}

TEST(Traffic, a_rollback_with_an_open_canary_aborts_it) {
  ServiceRow s{.name = "s", .stable = 1};
  begin_canary(s, revision_row(2, RevisionState::kReady), 50, 1000);
  EXPECT_EQ(roll_back(s, nullptr, 2000)->verb, "service.rolled-back");
  EXPECT_EQ(s.candidate, 0);
  EXPECT_EQ(share_of(s, 1), 100);
  EXPECT_EQ(roll_back(s, nullptr, 2000).error().code, Code::kConflict);
  EXPECT_EQ(abort_canary(s, "").error().code, Code::kConflict);
  EXPECT_EQ(set_share(s, nullptr, 5).error().code, Code::kConflict);
}

ReplicaView replica_in(std::string_view state, UnixMs now) {
  ReplicaView view;
  view.row = {.service = "s", .revision = 1, .slot = 0, .generation = 1};
  if (state == "new") return view;
  view.row.job = {7};
  if (state == "backoff") {
    view.row.job = {};
    view.row.not_before_ms = now + 10;
    return view;
  }
  ReplicaJob job;
  job.is_final = state.starts_with("ended");
  job.is_running = !job.is_final && state != "waiting";
  job.started_ms = state == "waiting" ? 0 : state == "ended-late" ? now - kGoodLifeMs : now - 5;
  job.ended_ms = job.is_final ? now : 0;
  job.reason = job.is_final ? "exit code 1" : "";
  if (job.is_running) job.http = "127.0.0.1:1";
  view.health = state == "ready" || state == "withdrawn" || state == "gone" ? Health::kReady
                                                                            : Health::kNotReady;
  if (state == "ended-third") view.row.failures = 2;
  if (state == "ended-late") view.row.failures = 5;
  if (state == "withdrawn") view.withdrawn_ms = now - 1;
  if (state == "gone") view.withdrawn_ms = now - kWithdrawMs;
  view.job = job;
  return view;
}

std::string plan_text(RevisionState state, bool wanted, const std::vector<std::string>& replicas) {
  constexpr UnixMs kNow = 1'000'000;
  ServiceView service;
  service.row = {.name = "s", .stable = wanted ? 1 : 2};
  RevisionView revision{revision_row(1, state), {}};
  for (const std::string& replica : replicas)
    revision.replicas.push_back(replica_in(replica, kNow));
  service.revisions.push_back(revision);
  std::string out;
  for (const Action& action : plan(service, kNow)) {
    static constexpr const char* kNames[] = {"add",    "submit", "restart",  "withdraw",
                                             "cancel", "forget", "starting", "ready",
                                             "failed", "stopped"};
    out += (out.empty() ? "" : " ") + std::string(kNames[static_cast<int>(action.kind)]);
    if (action.kind == ActionKind::kRestart)
      out += std::to_string(action.failures) + "+" + std::to_string(action.not_before_ms - kNow);
  }
  return out;
}

TEST(Plan, small_worlds) {
  using S = RevisionState;
  struct World {
    S state;
    bool wanted;
    std::vector<std::string> replicas;
    std::string expected;
  };
  const std::vector<World> worlds = {
      {S::kStarting, true, {}, "add"},
      {S::kStarting, true, {"new"}, "submit"},
      {S::kStarting, true, {"backoff"}, ""},
      {S::kStarting, true, {"waiting"}, ""},
      {S::kStarting, true, {"running"}, ""},
      {S::kStarting, true, {"ready"}, "ready"},
      {S::kStarting, true, {"ended"}, "restart1+500"},
      {S::kStarting, true, {"ended-third"}, "failed"},
      {S::kReady, true, {"ready"}, ""},
      {S::kReady, true, {"ended"}, "restart1+500"},
      {S::kReady, true, {"ended-third"}, "restart3+2000"},
      {S::kReady, true, {"ended-late"}, "restart1+500"},
      {S::kStopped, true, {}, "starting add"},
      {S::kFailed, true, {"ended"}, "forget"},
      {S::kFailed, true, {}, ""},
      {S::kReady, false, {"ready"}, "withdraw"},
      {S::kReady, false, {"withdrawn"}, ""},
      {S::kReady, false, {"gone"}, "cancel"},
      {S::kReady, false, {"ended"}, "forget"},
      {S::kStarting, false, {"new"}, "forget"},
      {S::kReady, false, {}, "stopped"},
      {S::kStopped, false, {}, ""},
  };
  for (const World& world : worlds) {
    std::string replicas;
    for (const auto& replica : world.replicas) replicas += " " + replica;
    EXPECT_EQ(plan_text(world.state, world.wanted, world.replicas), world.expected)
        << revision_state_name(world.state) << (world.wanted ? " wanted" : " unwanted") << replicas;
  }
}

TEST(Plan, back_off_doubles_up_to_its_limit) {
  EXPECT_EQ(backoff_ms(1), 500);
  EXPECT_EQ(backoff_ms(2), 1000);
  EXPECT_EQ(backoff_ms(50), kBackoffMsMax);
}

TEST(History, buckets_hold_what_grew_and_a_new_epoch_begins_at_zero) {
  TrafficHistory history;
  gateway::StatsFile stats{.epoch = "a"};
  auto& counts = stats.revisions[{"s", 1}];
  counts.requests = 100;  // from before this server looked
  history.add(stats, 10'000);
  counts.requests = 110;
  counts.errors = 1;
  counts.latency[gateway::latency_bucket(2000)] = 10;
  history.add(stats, 11'000);
  gateway::StatsFile next{.epoch = "b"};
  next.revisions[{"s", 1}].requests = 4;
  history.add(next, 16'000);
  const auto read = history.read("s", kHistoryMs, 21'000);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].totals.requests, 14);
  EXPECT_EQ(read[0].totals.errors, 1);
  ASSERT_EQ(read[0].points.size(), 2U);
  EXPECT_EQ(read[0].points[0].requests, 10);
  EXPECT_NEAR(read[0].points[0].p50_ms.value(), 2, 0.2);
  EXPECT_EQ(read[0].points[1].requests, 4);
  EXPECT_TRUE(history.read("x", kHistoryMs, 21'000).empty());
}

TEST(ServiceStore, every_statement_and_row_on_both_databases) {
  for (auto& db : store::testing::open_both(migrations())) {
    SCOPED_TRACE(db->dialect());
    store::testing::check_statements(*db, sql::kAll);
    const ProjectId project{"default"};
    const Status written = db->write([&](store::Tx& tx) -> Status {
      ServiceRow service{.name = "s", .project = project, .created_by = UserId{"lin"}};
      RevisionRow wished = revision_row(0, RevisionState::kStarting);
      wished.model = {{"m", 3}};
      wished.tree = sha256("tree");
      wished.spec.model = "m@3";
      wished.owner = "node/line/1/deploy#1";
      wished.created_by = UserId{"lin"};
      TAKT_ASSIGN(const RevisionRow revision, insert_revision(tx, service, wished));
      TAKT_RETURN_IF_ERROR(
          record(tx, service, UserId{"lin"}, begin_canary(service, revision, 2.5, tx.now_ms())));
      TAKT_RETURN_IF_ERROR(save_service(tx, service));
      TAKT_RETURN_IF_ERROR(save_replica(tx, {"s", 1, 0, 9, 1, 2, 5, JobId{4}, "why"}));
      return {};
    });
    ASSERT_TRUE(written) << written.error().text();
    const Status read = db->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const ServiceRow service, get_service(reader, project, "s"));
      EXPECT_EQ(service.candidate, 1);
      EXPECT_EQ(service.share_wanted, 2.5);
      TAKT_ASSIGN(const auto revision, find_revision_by_owner(reader, "node/line/1/deploy#1"));
      EXPECT_TRUE(revision && revision->model.text() == "m@3" && revision->tree == sha256("tree"));
      TAKT_ASSIGN(const auto replicas, list_replicas(reader, "s"));
      EXPECT_TRUE(replicas.size() == 1 && replicas[0].job == JobId{4} &&
                  replicas[0].restarts == 2 && replicas[0].reason == "why");
      TAKT_ASSIGN(const auto decisions, list_decisions(reader, "s", 10));
      EXPECT_TRUE(decisions.size() == 1 && decisions[0].verb == "canary.started");
      TAKT_ASSIGN(const auto edges, store::edges_from(reader, project, revision_ref("s", 1)));
      std::set<std::string> texts;
      for (const auto& edge : edges) texts.insert(edge.relation + " " + edge.to.text());
      EXPECT_EQ(texts, (std::set<std::string>{"made-by node/line/1/deploy", "part-of service/s",
                                              "serves model/m@3"}));
      EXPECT_EQ(get_service(reader, ProjectId{"other"}, "s").error().code, Code::kNotFound);
      return {};
    });
    EXPECT_TRUE(read) << read.error().text();
    EXPECT_TRUE(db->write([](store::Tx& tx) {
      return remove_replica(tx, {.service = "s", .revision = 1, .slot = 0});
    }));
  }
}

}  // namespace
}  // namespace takt::services
