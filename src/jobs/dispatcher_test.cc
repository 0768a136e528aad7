// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/dispatcher.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "takt/base/log.h"
#include "takt/base/rng.h"
#include "takt/base/testing/manual_clock.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/jobs/job_store.h"
#include "takt/jobs/migrations.h"
#include "takt/jobs/sql.h"
#include "takt/jobs/testing/fake_executor.h"
#include "takt/jobs/transitions.h"
#include "takt/store/event_log.h"
#include "takt/store/migrations.h"
#include "takt/store/testing/database_pair.h"
#include "takt/track/migrations.h"

namespace takt::jobs {
namespace {

using testing::FakeExecutor;
using testing::FakeWorkspace;
using testing::ManualAside;
using testing::ScriptedAttempt;

class DispatcherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log_setup(LogLevel::kError, LogFormat::kText);
    // Not synced: the tests crash the dispatcher, not the machine.
    auto opened = store::Database::open(
        {.location = (dir_.path() / "takt.db").string(), .sync_full = false}, clock_);
    ASSERT_TRUE(opened) << opened.error().text();
    db_ = std::move(*opened);
    std::vector<store::Migration> all;
    for (const auto& part : {store::migrations(), track::migrations(), migrations()})
      all.insert(all.end(), part.begin(), part.end());
    ASSERT_TRUE(db_->migrate(all));
    restart();
  }
  // A crash: what was only in memory is gone, rows and attempts stay.
  void restart(DispatcherOptions options = {}) {
    aside_.drop_all();
    dispatcher_ =
        std::make_unique<Dispatcher>(DispatcherParts{*db_, executor_, workspace_, aside_}, options);
  }

  Job submit(JobSpec spec) {
    Job job;
    job.project.value = "default";
    job.submitted_by.value = "ann";
    job.spec = std::move(spec);
    if (job.spec.command.empty()) job.spec.command = {"true"};
    if (job.spec.name.empty()) job.spec.name = "x";
    if (!is_endless(job.spec.kind)) {
      std::string number = std::to_string(++submitted_);
      job.run.value = std::string(32 - number.size(), '0') + number;
    }
    const Status written = db_->write([&](store::Tx& tx) { return write_submitted(tx, job); });
    EXPECT_TRUE(written) << written.error().text();
    return job;
  }
  Job job(JobId id) {
    Job found;
    EXPECT_TRUE(db_->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(found, get_job(reader, id));
      return {};
    }));
    return found;
  }
  void cancel(JobId id) {
    EXPECT_TRUE(db_->write([&](store::Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(write_cancel(tx, ProjectId{"default"}, id, UserId{"ann"}, 500));
      return {};
    }));
  }
  // Passes and side tasks until nothing changes without time.
  void settle() {
    for (int i = 0; i < 4; ++i) {
      dispatcher_->pass();
      aside_.run_all();
    }
  }
  void advance(std::int64_t ms) {
    clock_.advance_ms(ms);
    settle();
  }
  using Verbs = std::map<std::string, int>;
  std::map<Ref, Verbs> all_verbs() {
    std::map<Ref, Verbs> verbs;
    EXPECT_TRUE(db_->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const auto events, store::read_events(reader, 0, 100'000));
      for (const auto& event : events) ++verbs[event.subject][event.verb];
      return {};
    }));
    return verbs;
  }
  Verbs verbs_of(JobId id) { return all_verbs()[ref_of(id)]; }
  std::string run_status(const RunId& run) {
    std::string status;
    EXPECT_TRUE(db_->read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const auto row,
                  reader.find("SELECT status FROM runs WHERE id = ?1", {run.value}));
      status = row ? row->text(0) : "absent";
      return {};
    }));
    return status;
  }

  takt::testing::TempDir dir_;
  takt::testing::ManualClock clock_;
  FakeExecutor executor_{clock_, {2000, 4ll << 30, 1}};
  FakeWorkspace workspace_;
  ManualAside aside_;
  std::unique_ptr<store::Database> db_;
  std::unique_ptr<Dispatcher> dispatcher_;
  int submitted_ = 0;
};

TEST_F(DispatcherTest, a_job_runs_to_its_end_and_closes_its_run) {
  JobSpec spec;
  spec.outputs.push_back({"metrics", actions::PortKind::kJson, ""});
  const Job submitted = submit(spec);
  settle();
  EXPECT_EQ(job(submitted.id).state, JobState::kRunning);
  EXPECT_EQ(run_status(submitted.run), "RUNNING");
  advance(1000);
  const Job ended = job(submitted.id);
  EXPECT_EQ(ended.state, JobState::kSucceeded);
  EXPECT_EQ(ended.outputs.at("metrics").json["accuracy"].as_number(), 0.5);
  EXPECT_EQ(run_status(submitted.run), "FINISHED");
  EXPECT_TRUE(workspace_.ended.contains(submitted.id.value));
  const auto verbs = verbs_of(submitted.id);
  EXPECT_EQ(verbs,
            (std::map<std::string, int>{
                {"job.submitted", 1}, {"job.placed", 1}, {"job.started", 1}, {"job.ended", 1}}));
}

TEST_F(DispatcherTest, a_failing_job_is_retried_with_growing_pauses_and_then_fails) {
  executor_.script = [](const Lease&) { return ScriptedAttempt{.duration_ms = 10, .code = 3}; };
  JobSpec spec;
  spec.retries_max = 2;
  spec.retry_backoff_ms = 1000;
  const JobId id = submit(spec).id;
  settle();
  advance(10);
  EXPECT_EQ(job(id).state, JobState::kWaiting);
  EXPECT_EQ(dispatcher_->wait_reason(id), "waits 1 s more before its next attempt");
  advance(1000);
  EXPECT_EQ(job(id).state, JobState::kRunning);
  advance(10);
  EXPECT_EQ(job(id).not_before_ms, clock_.now_ms() + 2000);
  advance(2000);
  advance(10);
  const Job failed = job(id);
  EXPECT_EQ(failed.state, JobState::kFailed);
  EXPECT_EQ(failed.reason, "exit code 3");
  EXPECT_EQ(failed.attempts.size(), 3u);
  EXPECT_EQ(verbs_of(id).at("job.attempt-ended"), 2);
  EXPECT_EQ(verbs_of(id).at("job.ended"), 1);
}

TEST_F(DispatcherTest, a_cancel_ends_what_runs_and_is_not_retried) {
  executor_.script = [](const Lease&) { return ScriptedAttempt{.duration_ms = 1'000'000}; };
  JobSpec spec;
  spec.retries_max = 5;
  const Job submitted = submit(spec);
  settle();
  cancel(submitted.id);
  cancel(submitted.id);
  settle();
  EXPECT_EQ(job(submitted.id).state, JobState::kStopping);
  advance(500);
  EXPECT_EQ(job(submitted.id).state, JobState::kCancelled);
  EXPECT_EQ(run_status(submitted.run), "KILLED");
  EXPECT_EQ(verbs_of(submitted.id).at("job.cancel-asked"), 1);
  EXPECT_EQ(executor_.used().cpu_millicores, 0);
}

TEST_F(DispatcherTest, a_waiting_job_is_cancelled_at_once) {
  const JobId id = submit({}).id;
  cancel(id);
  EXPECT_EQ(job(id).state, JobState::kCancelled);
  settle();
  EXPECT_EQ(executor_.starts(), 0);
}

TEST_F(DispatcherTest, a_cancel_between_lease_and_start_leaves_nothing_running) {
  const JobId id = submit({}).id;
  dispatcher_->pass();  // leased; the side task has not run
  cancel(id);
  settle();
  advance(500);
  settle();
  EXPECT_EQ(job(id).state, JobState::kCancelled);
}

TEST_F(DispatcherTest, a_lost_attempt_is_repeated_without_using_the_retries) {
  int lost = 2;
  executor_.script = [&lost](const Lease&) {
    return ScriptedAttempt{.duration_ms = 10, .is_lost = lost-- > 0};
  };
  const JobId id = submit({}).id;
  for (int i = 0; i < 5; ++i) advance(10);
  const Job ended = job(id);
  EXPECT_EQ(ended.state, JobState::kSucceeded);
  EXPECT_EQ(ended.attempts.size(), 3u);
  EXPECT_EQ(ended.retries_used, 0);
  EXPECT_EQ(ended.attempts.at(0).failure, FailureClass::kLost);
}

TEST_F(DispatcherTest, attempts_are_not_lost_for_ever) {
  executor_.script = [](const Lease&) {
    return ScriptedAttempt{.duration_ms = 10, .is_lost = true};
  };
  const JobId id = submit({}).id;
  for (int i = 0; i < 10; ++i) advance(10);
  EXPECT_EQ(job(id).state, JobState::kFailed);
  EXPECT_EQ(job(id).attempts.size(), 4u);
  EXPECT_EQ(job(id).attempts.back().failure, FailureClass::kLost);
}

TEST_F(DispatcherTest, a_crash_between_lease_and_start_repeats_the_job_freely) {
  const JobId id = submit({}).id;
  dispatcher_->pass();
  restart();
  settle();
  advance(1000);
  const Job ended = job(id);
  EXPECT_EQ(ended.state, JobState::kSucceeded);
  EXPECT_EQ(ended.lost_count, 0);
  EXPECT_EQ(executor_.starts(), 1);
}

TEST_F(DispatcherTest, a_crash_between_lease_and_start_repeats_a_replica_too) {
  JobSpec spec;
  spec.kind = JobKind::kReplica;
  executor_.script = [](const Lease&) { return ScriptedAttempt{.duration_ms = 1'000'000}; };
  const JobId id = submit(spec).id;
  dispatcher_->pass();  // leased; the side task has not run
  restart();
  settle();
  EXPECT_EQ(job(id).state, JobState::kRunning);
  EXPECT_EQ(executor_.starts(), 1);
  EXPECT_EQ(verbs_of(id).count("job.ended"), 0u);
}

TEST_F(DispatcherTest, a_running_attempt_is_adopted_after_a_crash) {
  const JobId id = submit({}).id;
  settle();
  restart();
  settle();
  EXPECT_EQ(job(id).state, JobState::kRunning);
  advance(1000);
  EXPECT_EQ(job(id).state, JobState::kSucceeded);
  EXPECT_EQ(executor_.starts(), 1);
  EXPECT_EQ(verbs_of(id).at("job.started"), 1);
}

TEST_F(DispatcherTest,
       an_attempt_that_ended_while_the_server_was_down_is_finished_before_others_start) {
  JobSpec whole;
  whole.resources.cpu_millicores = 2000;
  const JobId first = submit(whole).id;
  settle();
  const JobId second = submit(whole).id;
  clock_.advance_ms(5000);
  restart();
  dispatcher_->pass();
  EXPECT_EQ(job(first).state, JobState::kSucceeded);
  settle();
  EXPECT_EQ(job(second).state, JobState::kRunning);
}

TEST_F(DispatcherTest, a_start_whose_reply_was_lost_counts_as_what_it_was) {
  executor_.script = [](const Lease&) { return ScriptedAttempt{.reply_is_lost = true}; };
  const JobId id = submit({}).id;
  settle();
  advance(1000);
  EXPECT_EQ(job(id).state, JobState::kSucceeded);
  EXPECT_EQ(executor_.starts(), 1);
}

TEST_F(DispatcherTest, a_missing_output_fails_the_job_by_name) {
  workspace_.collect_fault = [](const Job&) -> Status {
    return fail(Code::kInvalid, "output 'model' was not written");
  };
  JobSpec spec;
  spec.outputs.push_back({"model", actions::PortKind::kModel, ""});
  const JobId id = submit(spec).id;
  settle();
  advance(1000);
  EXPECT_EQ(job(id).state, JobState::kFailed);
  EXPECT_EQ(job(id).reason, "it ended with exit code 0, but output 'model' was not written");
}

TEST_F(DispatcherTest, a_running_job_is_watched_however_many_wait_before_it) {
  restart({.queue_max = 2});
  JobSpec low;
  low.priority = 1;
  const Job running = submit(low);
  settle();
  ASSERT_EQ(job(running.id).state, JobState::kRunning);
  JobSpec high;
  high.priority = 9;
  high.resources.cpu_millicores = 2000;
  std::vector<Job> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(submit(high));
  settle();
  EXPECT_EQ(executor_.used().cpu_millicores, 1000) << "what it holds is not given away";
  advance(1000);
  EXPECT_EQ(job(running.id).state, JobState::kSucceeded);
  for (int i = 0; i < 4; ++i) advance(1000);
  for (const Job& one : waiting) EXPECT_EQ(job(one.id).state, JobState::kSucceeded);
}

TEST_F(DispatcherTest, outputs_that_the_disk_has_no_room_for_are_stored_later) {
  JobSpec spec;
  spec.outputs.push_back({"metrics", actions::PortKind::kJson, ""});
  const Job submitted = submit(spec);
  int tries = 0;
  workspace_.collect_fault = [&](const Job&) -> Status {
    ++tries;
    return fail(Code::kExhausted, "storing output 'metrics': no space left on the device");
  };
  settle();
  advance(1000);
  EXPECT_EQ(job(submitted.id).state, JobState::kRunning);
  EXPECT_NE(dispatcher_->wait_reason(submitted.id).find("no space left"), std::string::npos);
  EXPECT_EQ(tries, 1) << "not tried in every pass";
  restart();
  settle();
  EXPECT_EQ(tries, 2) << "a new server tries at once";
  workspace_.collect_fault = nullptr;
  advance(6000);
  EXPECT_EQ(job(submitted.id).state, JobState::kSucceeded);
  EXPECT_EQ(job(submitted.id).attempts.size(), 1u);
  EXPECT_EQ(dispatcher_->wait_reason(submitted.id), "");
}

TEST_F(DispatcherTest, a_code_that_cannot_be_laid_out_fails_the_job_with_the_reason) {
  workspace_.prepare_fault = [](const Job&) -> Status {
    return fail(Code::kNotFound, "laying out the code: no tree");
  };
  const JobId id = submit({}).id;
  settle();
  EXPECT_EQ(job(id).state, JobState::kFailed);
  EXPECT_EQ(job(id).reason, "laying out the code: no tree");
  EXPECT_EQ(job(id).attempts.at(0).failure, FailureClass::kLaunch);
}

TEST_F(DispatcherTest, a_replica_that_ends_by_itself_has_failed_and_is_not_repeated) {
  JobSpec spec;
  spec.kind = JobKind::kReplica;
  spec.retries_max = 3;
  const JobId id = submit(spec).id;
  settle();
  advance(1000);
  EXPECT_EQ(job(id).state, JobState::kFailed);
  EXPECT_EQ(job(id).attempts.size(), 1u);
}

// Hundreds of jobs, with crashes at every point between two steps, lost supervisors, refused
// starts, failures and cancels: what README.md promises holds throughout.
class RandomWalk : public DispatcherTest {
 protected:
  static constexpr std::size_t kJobs = 150;

  ScriptedAttempt random_attempt() {
    return ScriptedAttempt{.duration_ms = static_cast<std::int64_t>(rng_.below(3000)),
                           .code = rng_.below(4) == 0 ? 1 : 0,
                           .is_lost = rng_.below(20) == 0,
                           .refuses = rng_.below(20) == 0,
                           .reply_is_lost = rng_.below(20) == 0};
  }
  void submit_one() {
    if (jobs_.size() == kJobs) return;
    JobSpec spec;
    spec.resources = {static_cast<std::int64_t>(100 + rng_.below(1900)),
                      static_cast<std::int64_t>(1 + rng_.below(4)) << 28,
                      rng_.below(10) == 0 ? 1 : 0};
    spec.priority = static_cast<int>(1 + rng_.below(9));
    spec.retries_max = static_cast<int>(rng_.below(3));
    spec.retry_backoff_ms = 100;
    if (rng_.below(2) == 0) spec.outputs.push_back({"metrics", actions::PortKind::kJson, ""});
    jobs_.push_back(submit(spec));
  }
  void random_step() {
    const std::uint64_t choice = rng_.below(12);
    if (choice < 2) return submit_one();
    if (choice == 2) return restart();
    if (choice < 6) return static_cast<void>(dispatcher_->pass());
    if (choice < 9) return static_cast<void>(aside_.run_one());
    if (choice < 11) return clock_.advance_ms(static_cast<std::int64_t>(rng_.below(800)));
    if (!jobs_.empty() && rng_.below(10) == 0) cancel(jobs_.at(rng_.below(jobs_.size())).id);
  }
  bool all_over() {
    return jobs_.size() == kJobs && std::ranges::all_of(jobs_, [this](const Job& one) {
             return is_final(job(one.id).state);
           });
  }
  void check(const Job& ended, const Verbs& verbs) {
    ASSERT_TRUE(is_final(ended.state))
        << "job " << ended.id.value << " is " << job_state_name(ended.state);
    EXPECT_EQ(verbs.at("job.ended"), 1);
    EXPECT_EQ(verbs.at("job.submitted"), 1);
    EXPECT_LE(ended.retries_used, ended.spec.retries_max);
    int succeeded = 0;
    for (const Attempt& attempt : ended.attempts) {
      EXPECT_TRUE(is_final(attempt.state));
      succeeded += attempt.state == JobState::kSucceeded ? 1 : 0;
    }
    EXPECT_EQ(succeeded, ended.state == JobState::kSucceeded ? 1 : 0);
    EXPECT_NE(run_status(ended.run), "RUNNING");
  }

  const std::uint64_t seed_ =
      20'261'130ull + static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  Rng rng_{seed_};
  std::vector<Job> jobs_;
};

TEST_F(RandomWalk, with_crashes_keeps_the_promises) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  executor_.script = [this](const Lease&) { return random_attempt(); };
  for (int step = 0; step < 200'000; ++step) {
    random_step();
    if (step % 500 == 0 && all_over()) break;
  }
  const std::map<Ref, Verbs> verbs = all_verbs();
  for (const Job& one : jobs_) check(job(one.id), verbs.at(ref_of(one.id)));
  EXPECT_EQ(executor_.used().cpu_millicores, 0);
}

TEST(JobStore, every_statement_is_understood_by_both_databases) {
  for (auto& db : store::testing::open_both({track::migrations(), migrations()})) {
    SCOPED_TRACE(db->dialect());
    store::testing::check_statements(*db, sql::kAll);
  }
}

TEST(JobStore, jobs_are_filtered_and_paged_on_both_databases) {
  for (auto& db : store::testing::open_both({track::migrations(), migrations()})) {
    SCOPED_TRACE(db->dialect());
    for (int i = 1; i <= 5; ++i) {
      Job job;
      job.project.value = i == 5 ? "other" : "default";
      job.spec.name = i % 2 == 0 ? "Train_digits" : "score";
      job.spec.command = {"true"};
      job.owner = "node/" + std::to_string(i);
      ASSERT_TRUE(db->write([&](store::Tx& tx) { return insert_job(tx, job); }));
      EXPECT_EQ(job.id.value, i);
    }
    const auto ids = [&](const JobFilter& filter) {
      std::string text;
      const Status read = db->read([&](store::Reader& reader) -> Status {
        TAKT_ASSIGN(const auto jobs, list_jobs(reader, ProjectId{"default"}, filter));
        for (const Job& job : jobs) text += std::to_string(job.id.value) + " ";
        return {};
      });
      EXPECT_TRUE(read) << read.error().text();
      return text;
    };
    EXPECT_EQ(ids({}), "4 3 2 1 ");
    EXPECT_EQ(ids({.limit = 2}), "4 3 ");
    EXPECT_EQ(ids({.before = 3}), "2 1 ");
    EXPECT_EQ(ids({.text = "train_"}), "4 2 ");
    EXPECT_EQ(ids({.text = "3"}), "3 ");
    EXPECT_EQ(ids({.states = {JobState::kWaiting}}), "4 3 2 1 ");
    EXPECT_EQ(ids({.states = {JobState::kFailed, JobState::kRunning}}), "");
    // The same owner twice is refused, in another project it is another's.
    Job again;
    again.project.value = "default";
    again.spec.name = "x";
    again.spec.command = {"true"};
    again.owner = "node/1";
    EXPECT_FALSE(db->write([&](store::Tx& tx) { return insert_job(tx, again); }));
  }
}

}  // namespace
}  // namespace takt::jobs
