// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "takt/base/testing/manual_clock.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/spine/event_stream.h"
#include "takt/spine/go.h"
#include "takt/spine/line.h"
#include "takt/spine/why.h"
#include "takt/store/migrations.h"

namespace takt::spine {
namespace {

store::Edge edge(std::string from, std::string to) {
  return {*parse_ref(from), "used", *parse_ref(to), 0};
}

int depth_of(const LineageGraph& graph, const std::string& ref) {
  for (const auto& node : graph.nodes)
    if (node.ref.text() == ref) return node.depth;
  ADD_FAILURE() << ref << " is not in the graph";
  return 99;
}

TEST(LineageLayers, origins_are_negative_results_positive_and_cousins_left_out) {
  const auto graph = layer_lineage(*parse_ref("run/a"),
                                   {edge("run/a", "dataset/d@1"), edge("run/b", "dataset/d@1"),
                                    edge("model/m@1", "run/a"), edge("revision/s/1", "model/m@1")});
  EXPECT_EQ(depth_of(graph, "run/a"), 0);
  EXPECT_EQ(depth_of(graph, "dataset/d@1"), -1);
  EXPECT_EQ(depth_of(graph, "model/m@1"), 1);
  EXPECT_EQ(depth_of(graph, "revision/s/1"), 2);
  EXPECT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.edges.size(), 3u);
}

TEST(LineageLayers, a_cycle_ends) {
  const auto graph = layer_lineage(*parse_ref("a/1"), {edge("a/1", "b/1"), edge("b/1", "a/1")});
  EXPECT_EQ(graph.nodes.size(), 2u);
}

TEST(Go, each_kind_has_its_page) {
  EXPECT_EQ(console_path(*parse_ref("job/41")), "/jobs/41");
  EXPECT_EQ(console_path(*parse_ref("dataset/a b@3")), "/data/a%20b@3");
  EXPECT_EQ(console_path(*parse_ref("node/line/4/train")), "/pipelines/line/4?node=train");
  EXPECT_EQ(console_path(*parse_ref("code/ab")), "/why/code/ab");
}

TEST(Line, stops_put_a_persons_turn_first_then_failures_then_the_longest_wait) {
  std::vector<LineStop> stops(4);
  stops[0] = {"waiting", {}, "short wait", "", 50};
  stops[1] = {"waiting", {}, "long wait", "", 10};
  stops[2] = {"failed", {}, "broke", "", 40};
  stops[3] = {"approval", {}, "yours", "", 60};
  sort_stops(stops);
  EXPECT_EQ(stops[0].text, "yours");
  EXPECT_EQ(stops[1].text, "broke");
  EXPECT_EQ(stops[2].text, "long wait");
}

class RecordingSink : public net::StreamSink {
 public:
  bool send(std::string bytes) override {
    std::lock_guard lock(mutex_);
    text_ += bytes;
    changed_.notify_all();
    return true;
  }
  void close() override { is_open_ = false; }
  bool is_open() const override { return is_open_; }
  bool wait_for(const std::string& part) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return text_.find(part) != std::string::npos; });
  }
  std::string text() {
    std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  std::atomic<bool> is_open_{true};
};

class SpineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = store::Database::open({.location = (dir_.path() / "takt.db").string()}, clock_);
    ASSERT_TRUE(opened) << opened.error().text();
    db_ = std::move(*opened);
    ASSERT_TRUE(db_->migrate(store::migrations()));
  }
  void append(const std::string& project, const std::string& verb, const std::string& subject) {
    const Status done = db_->write([&](store::Tx& tx) -> Status {
      store::Event event;
      event.project.value = project;
      event.actor.value = "lin";
      event.verb = verb;
      event.subject = *parse_ref(subject);
      TAKT_RETURN_IF_ERROR(store::append_event(tx, event));
      return {};
    });
    ASSERT_TRUE(done) << done.error().text();
  }
  access::CanRead reader() {
    struct Open : access::Policy {
      std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
        return access::Role::kAdmin;
      }
      Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
    } policy;
    net::Caller caller;
    caller.project.value = "default";
    return *policy.check<access::Right::kRead>(caller);
  }

  testing::TempDir dir_;
  testing::ManualClock clock_;
  std::unique_ptr<store::Database> db_;
};

TEST_F(SpineTest, a_stream_sends_the_backlog_then_what_follows_of_its_project_only) {
  append("default", "job.ended", "job/1");
  append("other", "job.ended", "job/2");
  EventStream stream(*db_);
  db_->on_commit([&] { stream.wake(); });
  auto sink = std::make_shared<RecordingSink>();
  ASSERT_TRUE(stream.subscribe(sink, ProjectId{"default"}, 0));
  ASSERT_TRUE(sink->wait_for("job/1"));
  append("default", "job.ended", "job/3");
  ASSERT_TRUE(sink->wait_for("job/3"));
  EXPECT_EQ(sink->text().find("job/2"), std::string::npos);
  stream.stop();
  EXPECT_FALSE(sink->is_open());
  db_->on_commit([] {});
}

TEST_F(SpineTest, streams_have_a_limit_and_closed_ones_make_room) {
  EventStream stream(*db_);
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  const auto join = [&] {
    auto sink = std::make_shared<RecordingSink>();
    const Status joined = stream.subscribe(sink, ProjectId{"default"}, 0);
    if (joined) sinks.push_back(std::move(sink));
    return joined;
  };
  // In two halves, so that the thread has taken the first when the second comes.
  append("default", "job.ended", "job/1");
  for (std::size_t i = 0; i < EventStream::kSubscribersMax / 2; ++i) ASSERT_TRUE(join());
  for (const auto& sink : sinks) ASSERT_TRUE(sink->wait_for("job/1"));
  for (std::size_t i = 0; i < EventStream::kSubscribersMax / 2; ++i) ASSERT_TRUE(join());
  for (const auto& sink : sinks) ASSERT_TRUE(sink->wait_for("job/1"));
  const Status refused = join();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kExhausted);
  EXPECT_EQ(stream.check_room().error().code, Code::kExhausted);
  sinks.front()->close();
  // Served twice more: the closed one is let go between.
  for (const std::string job : {"job/2", "job/3"}) {
    append("default", "job.ended", job);
    stream.wake();
    ASSERT_TRUE(sinks.back()->wait_for(job));
  }
  EXPECT_TRUE(join());
}

class JobExplainer : public Explainer {
 public:
  std::vector<std::string> kinds() const override { return {"job"}; }
  Result<Explanation> explain(const ProjectId&, const Ref& ref) override {
    if (ref.path != "41") return fail(Code::kNotFound, "no job " + ref.path);
    Explanation explanation;
    explanation.title = "job 41 waits";
    return explanation;
  }
};

TEST_F(SpineTest, why_takes_a_bare_word_and_says_when_nothing_fits) {
  WhyService why(*db_);
  why.add(std::make_shared<JobExplainer>());
  const auto answer = why.why(reader(), "41", 3);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->ref.text(), "job/41");
  EXPECT_EQ(answer->explanation.title, "job 41 waits");
  const auto nothing = why.why(reader(), "42", 3);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message, "nothing here is called '42'");
}

TEST_F(SpineTest, why_lists_the_candidates_of_an_ambiguous_word) {
  ASSERT_TRUE(db_->write([&](store::Tx& tx) -> Status {
    return store::add_edge(tx, ProjectId{"default"}, *parse_ref("model/digits@1"), "came-from",
                           *parse_ref("dataset/digits@1"));
  }));
  WhyService why(*db_);
  const auto answer = why.why(reader(), "digits@1", 3);
  ASSERT_TRUE(answer) << answer.error().text();
  ASSERT_EQ(answer->candidates.size(), 2u);
  EXPECT_EQ(answer->candidates[0].text(), "dataset/digits@1");
}

class BrokenStation : public LineSource {
  Result<LineCard> line_card(const ProjectId&, std::int64_t) override {
    return fail(Code::kInternal, "broken");
  }
};

TEST_F(SpineTest, the_line_shows_hand_overs_and_survives_a_broken_station) {
  append("default", "dataset.version-added", "dataset/digits@1");
  append("default", "token.created", "token/x");
  LineService line(*db_);
  line.add(std::make_shared<BrokenStation>());
  const auto view = line.view(reader(), 0);
  ASSERT_TRUE(view) << view.error().text();
  ASSERT_EQ(view->hand_overs.size(), 1u);
  EXPECT_EQ(view->hand_overs[0].subject.text(), "dataset/digits@1");
  EXPECT_EQ(view->beats[0].station, "data");
  EXPECT_EQ(view->beats[0].per_hour.back(), 1);
}

}  // namespace
}  // namespace takt::spine
