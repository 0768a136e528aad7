// SPDX-License-Identifier: Apache-2.0
// The gateway before real upstream servers.
#include "takt/gateway/gateway.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "takt/base/digest.h"
#include "takt/base/file.h"
#include "takt/base/log.h"
#include "takt/base/testing/manual_clock.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/gateway/grpc_front.h"
#include "takt/gateway/request_id.h"
#include "takt/gateway/routes_table.h"
#include "takt/gateway/snapshot.h"
#include "takt/gateway/stats.h"
#include "takt/net/client.h"

namespace takt::gateway {
namespace {

constexpr int kPatienceMs = 10'000;

TEST(RequestId, what_it_says_can_be_read_back) {
  Rng rng(7);
  const RequestStamp stamp{hash_service("digits"), 14, 1'796'000'000'123};
  const std::string id = make_request_id(stamp, rng);
  EXPECT_EQ(id.size(), 32U);
  const auto read = parse_request_id(id);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->service_hash, stamp.service_hash);
  EXPECT_EQ(read->revision, 14);
  EXPECT_EQ(read->time_ms, stamp.time_ms);
  EXPECT_NE(make_request_id(stamp, rng), id);
}

TEST(RequestId, other_texts_are_refused) {
  for (const char* text :
       {"", "abc", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "0123456789abcdef0123456789abcdef0"})
    EXPECT_EQ(parse_request_id(text).error().code, Code::kInvalid) << text;
}

TEST(SnapshotFile, is_read_as_it_was_written) {
  Snapshot snapshot{
      12, {"9f"}, {{"digits", {{1, 95, {{"127.0.0.1:1", "127.0.0.1:2"}}}, {2, 5, {}}}}}};
  EXPECT_EQ(parse_snapshot(render_snapshot(snapshot)).value(), snapshot);
}

TEST(SnapshotFile, broken_ones_are_refused) {
  for (const char* text :
       {"", "{}", R"({"format":2,"services":[]})", R"({"format":1,"services":[{"name":""}]})",
        R"({"format":1,"services":[{"name":"a","revisions":[{"number":0,"share":1}]}]})",
        R"({"format":1,"services":[{"name":"a","revisions":[{"number":1,"share":-1}]}]})",
        R"({"format":1,"services":[{"name":"a","revisions":[{"number":1,"share":1,)"
        R"("replicas":[{}]}]}]})"})
    EXPECT_FALSE(parse_snapshot(text)) << text;
}

TEST(LatencyBuckets, grow_by_an_eighth_of_an_octave_and_hold_their_values) {
  std::size_t before = 0;
  for (std::int64_t us = 0; us < 100'000'000; us += 1 + us / 50) {
    const std::size_t bucket = latency_bucket(us);
    ASSERT_GE(bucket, before);
    ASSERT_LT(bucket, kLatencyBuckets);
    if (bucket + 1 < kLatencyBuckets) {
      ASSERT_LE(static_cast<double>(us), bucket_end_us(bucket)) << us;
      if (bucket > 0) {
        ASSERT_GE(static_cast<double>(us), bucket_end_us(bucket - 1)) << us;
      }
    }
    before = bucket;
  }
}

TEST(LatencyBuckets, percentiles_lie_within_a_bucket) {
  LatencyCounts counts{};
  EXPECT_FALSE(percentile_ms(counts, 0.5));
  for (int i = 1; i <= 1000; ++i) ++counts[latency_bucket(i * 100)];  // 0.1 … 100 ms
  EXPECT_NEAR(percentile_ms(counts, 0.5).value(), 50, 5);
  EXPECT_NEAR(percentile_ms(counts, 0.99).value(), 99, 9);
}

TEST(StatsText, is_read_as_it_was_written) {
  StatsFile stats{
      .epoch = "e", .pid = 4, .updated_ms = 5, .http = "h:1", .grpc = "g:2", .snapshot_version = 3};
  RevisionCounters counters;
  counters.record(1500, false);
  counters.record(90, true);
  stats.revisions[{"digits", 2}] = counters.load();
  const auto read = parse_stats(render_stats(stats));
  ASSERT_TRUE(read);
  const RevisionCounts& counts = read->revisions.at({"digits", 2});
  EXPECT_EQ(counts.requests, 2);
  EXPECT_EQ(counts.errors, 1);
  EXPECT_EQ(counts.duration_us_sum, 1590);
  EXPECT_EQ(counts.latency[latency_bucket(1500)], 1);
  EXPECT_EQ(read->http, "h:1");
  const std::string metrics = render_metrics(stats);
  EXPECT_NE(metrics.find("takt_gateway_requests_total{service=\"digits\",revision=\"2\"} 2\n"),
            std::string::npos);
  EXPECT_NE(metrics.find("revision=\"2\",le=\"0.000128\"} 1\n"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("le=\"+Inf\"} 2\n"), std::string::npos);
}

TEST(FirstTextField, is_found_among_others_and_not_beyond_the_bytes) {
  using namespace std::string_literals;
  EXPECT_EQ(first_text_field("\x0a\x06"
                             "digits"),
            "digits");
  EXPECT_EQ(first_text_field("\x12\x01"
                             "1\x0a\x01"
                             "a"s),
            "a");
  EXPECT_EQ(first_text_field("\x18\x96\x01\x25"
                             "abcd\x31"
                             "abcdefgh\x0a\x01"
                             "b"s),
            "b");
  EXPECT_FALSE(first_text_field(""));
  EXPECT_FALSE(
      first_text_field("\x0a\x06"
                       "dig"));
  EXPECT_FALSE(
      first_text_field("\x12\x01"
                       "1"));
  EXPECT_FALSE(first_text_field("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
}

TEST(Split, lies_within_the_binomial_bounds) {
  testing::ManualClock clock;
  Routes routes(clock);
  routes.apply({1, {}, {{"digits", {{1, 95, {{"a:1", ""}}}, {2, 5, {{"b:1", ""}}}}}}});
  constexpr int kRequests = 20'000;
  constexpr double kShare = 0.05, kZ = 3.29;  // 99.9 %
  const std::uint64_t seed = 20'261'130;
  Rng rng(seed);
  int canary = 0;
  for (int i = 0; i < kRequests; ++i)
    canary += (*routes.choose("digits", Wire::kHttp, rng))->revision == 2;
  const double bound = kZ * std::sqrt(kRequests * kShare * (1 - kShare));
  EXPECT_NEAR(canary, kRequests * kShare, bound) << "seed " << seed;
}

TEST(Choice, the_replica_with_fewest_requests_is_taken_and_a_failed_one_left_out) {
  testing::ManualClock clock;
  Routes routes(clock);
  routes.apply({1, {}, {{"s", {{1, 100, {{"a:1", ""}, {"b:1", ""}}}}}}});
  Rng rng(1);
  auto first = routes.choose("s", Wire::kHttp, rng).value();
  auto second = routes.choose("s", Wire::kHttp, rng).value();
  EXPECT_NE(first->replica().endpoint.http, second->replica().endpoint.http);
  routes.avoid(first->replica());
  second.reset();
  for (int i = 0; i < 20; ++i)
    EXPECT_NE(routes.choose("s", Wire::kHttp, rng).value()->replica().endpoint.http,
              first->replica().endpoint.http);
  EXPECT_EQ(routes.choose("x", Wire::kHttp, rng).error().code, Code::kNotFound);
  EXPECT_EQ(routes.choose("s", Wire::kGrpc, rng).error().code, Code::kUnavailable);
}

TEST(Choice, a_revision_without_replicas_gives_its_share_to_the_others) {
  testing::ManualClock clock;
  Routes routes(clock);
  routes.apply({1, {}, {{"s", {{1, 95, {}}, {2, 5, {{"b:1", ""}}}, {3, 0, {{"c:1", ""}}}}}}});
  Rng rng(1);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(routes.choose("s", Wire::kHttp, rng).value()->revision, 2);
}

/// Answers every inference with its own name and what it was sent.
class Upstream {
 public:
  explicit Upstream(std::string name) : name_(std::move(name)) {
    router_.add_async(
        net::Method::kPost, "/v2/models/{model}/infer",
        [this](const std::shared_ptr<net::Request>& request, const net::Responder& respond) {
          if (is_silent) kept_.push_back(respond);
          ++requests;
          if (is_silent) return;
          net::Response response = net::Response::text(name_ + ":" + request->body);
          response.headers.add("X-Seen-Id", std::string(request->headers.get("Takt-Request-Id")));
          response.headers.add("X-Seen-Test", std::string(request->headers.get("X-Test")));
          response.status = status;
          respond(std::move(response));
        },
        {.access = net::Access::kAnonymous});
    server_ = std::move(*net::Server::start({.any_host = true, .check_origin = false}, router_,
                                            nullptr, system_clock()));
  }
  ~Upstream() {
    if (requests > 0)
      for (const auto& respond : kept_) respond(net::Response::text("late"));
  }
  ReplicaEndpoint endpoint() const { return {"127.0.0.1:" + std::to_string(server_->port()), ""}; }
  void end() { server_.reset(); }
  std::atomic<int> requests = 0;
  std::atomic<int> status = 200;
  std::atomic<bool> is_silent = false;

 private:
  std::vector<net::Responder> kept_;  // unanswered
  const std::string name_;
  net::Router router_;
  std::unique_ptr<net::Server> server_;
};

class GatewayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log_setup(LogLevel::kError, LogFormat::kText);
    auto started = Gateway::start(
        {.folder = dir_.path(), .http = "127.0.0.1:0", .grpc = "", .tick_ms = 50}, system_clock());
    ASSERT_TRUE(started) << started.error().text();
    gateway_ = std::move(*started);
  }
  void route(std::vector<ServiceEntry> services) {
    Snapshot snapshot{++version_, {}, std::move(services)};
    ASSERT_TRUE(write_file_durably(dir_.path() / "snapshot.json", render_snapshot(snapshot)));
    for (int waited = 0; gateway_->snapshot_version() != version_ && waited < kPatienceMs; ++waited)
      system_clock().sleep_ms(1);
    ASSERT_EQ(gateway_->snapshot_version(), version_);
  }
  net::Client client() {
    return net::Client({.base_url = "http://127.0.0.1:" + std::to_string(gateway_->http_port())});
  }
  net::ClientResponse ask(net::Client& client, const std::string& service = "digits",
                          const std::string& body = "x") {
    net::Headers headers;
    headers.add("X-Test", "t");
    auto answer = client.send(net::Method::kPost, "/v2/models/" + service + "/infer", body,
                              "application/json", headers);
    EXPECT_TRUE(answer) << answer.error().text();
    return answer ? *answer : net::ClientResponse{};
  }

  testing::TempDir dir_;
  std::int64_t version_ = 0;
  std::unique_ptr<Gateway> gateway_;
};

TEST_F(GatewayTest, a_request_passes_untouched_and_says_who_answered) {
  Upstream one("one");
  route({{"digits", {{3, 100, {one.endpoint()}}}}});
  auto c = client();
  const auto answer = ask(c, "digits", "body\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "one:body\r\n");
  EXPECT_EQ(answer.headers.get("Takt-Revision"), "3");
  EXPECT_EQ(answer.headers.get("X-Seen-Test"), "t");
  EXPECT_EQ(answer.headers.get("X-Seen-Id"), answer.headers.get("Takt-Request-Id"));
  const auto stamp = parse_request_id(answer.headers.get("Takt-Request-Id"));
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->revision, 3);
  EXPECT_EQ(stamp->service_hash, hash_service("digits"));
}

TEST_F(GatewayTest, unknown_services_and_services_without_replicas_say_so) {
  route({{"digits", {{1, 100, {}}}}});
  auto c = client();
  const auto none = ask(c);
  EXPECT_EQ(none.status, 503);
  EXPECT_EQ(none.headers.get("Retry-After"), "1");
  const auto unknown = ask(c, "digit");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_NE(parse_json(unknown.body)->text_or("error", "").find("did you mean 'digits'"),
            std::string::npos)
      << unknown.body;
}

TEST_F(GatewayTest, health_and_metadata_are_its_own) {
  auto c = client();
  EXPECT_EQ(c.send(net::Method::kGet, "/v2/health/live")->status, 200);
  EXPECT_EQ(c.send(net::Method::kGet, "/v2/health/ready")->status, 503);
  route({});
  EXPECT_EQ(c.send(net::Method::kGet, "/v2/health/ready")->status, 200);
  EXPECT_EQ(parse_json(c.send(net::Method::kGet, "/v2")->body)->text_or("name", ""),
            "takt-gateway");
}

TEST_F(GatewayTest, a_dead_replica_costs_no_request) {
  Upstream live("live"), dead("dead");
  route({{"digits", {{1, 100, {live.endpoint(), dead.endpoint()}}}}});
  auto c = client();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(ask(c).status, 200);
  dead.end();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(ask(c).body, "live:x");
}

TEST_F(GatewayTest, when_the_only_replica_is_dead_it_is_503) {
  Upstream dead("dead");
  route({{"digits", {{1, 100, {dead.endpoint()}}}}});
  dead.end();
  auto c = client();
  const auto answer = ask(c);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers.get("Retry-After"), "1");
}

TEST_F(GatewayTest, no_request_fails_while_the_routes_change) {
  Upstream one("one"), two("two");
  const auto shares = [&](double of_two) {
    return std::vector<ServiceEntry>{
        {"digits", {{1, 100 - of_two, {one.endpoint()}}, {2, of_two, {two.endpoint()}}}}};
  };
  route(shares(0));
  std::atomic<bool> is_over = false;
  std::atomic<int> failures = 0, answers = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&] {
      auto c = client();
      while (!is_over) {
        if (ask(c).status != 200) ++failures;
        ++answers;
      }
    });
  const Deadline deadline = Deadline::after_ms(system_clock(), 30'000);
  for (int i = 0; i < 20; ++i) {
    // Each change of routes is met by requests, however slow the machine.
    const int wanted = answers + 4;
    route(shares(i % 2 == 0 ? 100 : 0));
    while (answers < wanted && deadline.left_ms(system_clock()) > 0) system_clock().sleep_ms(1);
  }
  route({{"digits", {{2, 100, {two.endpoint()}}}}});
  is_over = true;
  for (std::thread& thread : clients) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GE(answers, 80);
  auto c = client();
  EXPECT_EQ(ask(c).body, "two:x");
}

TEST_F(GatewayTest, a_snapshot_that_cannot_be_read_changes_nothing) {
  Upstream one("one");
  route({{"digits", {{1, 100, {one.endpoint()}}}}});
  ASSERT_TRUE(write_file_durably(dir_.path() / "snapshot.json", "{"));
  std::string problem;
  for (int waited = 0; problem.empty() && waited < kPatienceMs; ++waited) {
    system_clock().sleep_ms(1);
    if (const auto stats = parse_stats(read_file(dir_.path() / "stats.json").value_or("")))
      problem = stats->problem;
  }
  EXPECT_NE(problem, "");
  auto c = client();
  EXPECT_EQ(ask(c).status, 200);
}

TEST_F(GatewayTest, counts_are_written_and_outlive_a_drain) {
  Upstream one("one");
  route({{"digits", {{1, 100, {one.endpoint()}}}}});
  auto c = client();
  for (int i = 0; i < 10; ++i) ask(c);
  one.status = 500;
  ask(c);
  // A question about the model is no request of it.
  EXPECT_EQ(c.send(net::Method::kGet, "/v2/models/digits/ready")->headers.get("Takt-Revision"),
            "1");
  EXPECT_NE(c.send(net::Method::kGet, "/metrics")
                ->body.find("takt_gateway_errors_total{service=\"digits\",revision=\"1\"} 1\n"),
            std::string::npos);
  gateway_->drain();
  const auto stats = parse_stats(read_file(dir_.path() / "stats.json").value());
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->revisions.at({"digits", 1}).requests, 11);
  EXPECT_EQ(stats->revisions.at({"digits", 1}).errors, 1);
  EXPECT_EQ(stats->pid, ::getpid());
}

TEST_F(GatewayTest, a_client_that_goes_away_is_no_error_of_the_revision) {
  Upstream one("one");
  route({{"digits", {{1, 100, {one.endpoint()}}}}});
  one.is_silent = true;
  net::Client impatient(
      {.base_url = "http://127.0.0.1:" + std::to_string(gateway_->http_port()), .timeout_ms = 200});
  EXPECT_FALSE(impatient.send(net::Method::kPost, "/v2/models/digits/infer", "x"));
  const auto counted = [&]() -> RevisionCounts {
    const auto stats = parse_stats(read_file(dir_.path() / "stats.json").value_or(""));
    if (!stats || !stats->revisions.contains({"digits", 1})) return {};
    return stats->revisions.at({"digits", 1});
  };
  for (int waited = 0; counted().requests == 0 && waited < kPatienceMs; ++waited)
    system_clock().sleep_ms(1);
  EXPECT_EQ(counted().requests, 1);
  EXPECT_EQ(counted().errors, 0);
}

TEST(GatewayTokens, beyond_loopback_a_service_token_is_wanted) {
  const std::string token = "takt_service_1";
  Table table;
  table.token_hashes = {sha256(token).value};
  EXPECT_TRUE(is_service_token(table, "Bearer " + token));
  EXPECT_FALSE(is_service_token(table, "Bearer other"));
  EXPECT_FALSE(is_service_token(table, token));
  EXPECT_FALSE(is_service_token(Table{}, "Bearer " + token));
}

TEST(GatewayTokens, the_door_is_shut_without_one) {
  testing::TempDir dir;
  log_setup(LogLevel::kError, LogFormat::kText);
  auto gateway =
      Gateway::start({.folder = dir.path(), .http = "0.0.0.0:0", .grpc = ""}, system_clock());
  ASSERT_TRUE(gateway) << gateway.error().text();
  net::Client client({.base_url = "http://127.0.0.1:" + std::to_string((*gateway)->http_port())});
  EXPECT_EQ(client.send(net::Method::kPost, "/v2/models/digits/infer", "x")->status, 401);
  EXPECT_EQ(client.send(net::Method::kGet, "/v2/health/live")->status, 200);
}

}  // namespace
}  // namespace takt::gateway
