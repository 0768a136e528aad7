// SPDX-License-Identifier: Apache-2.0
// An executor and a workspace without processes: attempts run by a script under a ManualClock, and
// live on when the dispatcher "crashes". Breaking the rules of executor.h is a test failure.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "takt/jobs/aside.h"
#include "takt/jobs/executor.h"
#include "takt/jobs/workspace.h"

namespace takt::jobs::testing {

/// How the next attempt of a job goes.
struct ScriptedAttempt {
  std::int64_t duration_ms = 1000;
  int code = 0;
  bool is_lost = false;        // its supervisor vanishes at the end
  bool refuses = false;        // start() fails and nothing runs
  bool reply_is_lost = false;  // start() fails although it runs
};

class FakeExecutor final : public Executor {
 public:
  FakeExecutor(Clock& clock, Resources capacity) : clock_(clock), capacity_(capacity) {}

  /// Chooses for each start; by default every attempt takes a second and ends with 0.
  std::function<ScriptedAttempt(const Lease&)> script = [](const Lease&) {
    return ScriptedAttempt{};
  };

  Status start(const Launch& launch) override;
  Result<AttemptStatus> poll(const Lease& lease) override;
  std::map<std::string, std::string> endpoints(const Lease&,
                                               const std::vector<std::string>&) override {
    return {};
  }
  Status stop(const Lease& lease, std::int64_t grace_ms) override;
  Resources capacity() override { return capacity_; }
  ExecutorFacts facts() override { return {"none", "none", "subreaper", {}}; }
  void on_change(std::function<void()>) override {}

  int starts() const { return starts_; }
  /// Attempts of the job that run now.
  int running(JobId job) const;
  Resources used() const;

 private:
  struct World {
    ScriptedAttempt script;
    Resources resources;
    UnixMs started_ms = 0;
    UnixMs stop_at_ms = 0;  // 0: nobody asked
    bool is_fenced = false;
  };
  UnixMs end_of(const World& attempt) const;

  Clock& clock_;
  const Resources capacity_;
  std::map<std::pair<std::int64_t, int>, World> attempts_;
  int starts_ = 0;
};

/// Prepares nothing; collects a JSON output for each that the spec declares.
class FakeWorkspace final : public Workspace {
 public:
  Result<Launch> prepare(const Job& job, const Attempt& attempt) override;
  Result<Collected> collect(const Job& job, const Attempt& attempt) override;
  void discard(const Job& job, const Attempt& attempt, bool is_last) override;

  std::set<std::int64_t> ended;                     // jobs whose last attempt was discarded
  std::function<Status(const Job&)> prepare_fault;  // may fail a preparation
  std::function<Status(const Job&)> collect_fault;
};

/// Side tasks that run when the test says so, or never.
class ManualAside final : public Aside {
 public:
  void run(std::function<void()> task) override { tasks_.push_back(std::move(task)); }
  bool run_one();
  void run_all() {
    while (run_one()) {
    }
  }
  void drop_all() { tasks_.clear(); }  // as a crash does

 private:
  std::deque<std::function<void()>> tasks_;
};

}  // namespace takt::jobs::testing
