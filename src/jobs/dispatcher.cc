// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/dispatcher.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "takt/base/log.h"
#include "takt/base/passing.h"
#include "takt/jobs/job_store.h"
#include "takt/jobs/metrics.h"
#include "takt/jobs/transitions.h"

namespace takt::jobs {
namespace {

constexpr std::int64_t kIdleMs = 60'000;
constexpr std::int64_t kCollectAgainMs = 5'000;

void note_problem(std::string_view what, JobId job, const Error& error) {
  log_warn(what, {{"job", job.value}, {"error", error.text()}});
}

// What a side task brought back.
struct SideResult {
  Lease lease;
  std::optional<Error> start_problem;          // of a start
  std::optional<Result<Collected>> collected;  // of a collection
  AttemptExit exit;
};

}  // namespace

struct Dispatcher::Impl {
  Impl(DispatcherParts p, DispatcherOptions o) : parts(p), options(o) {}

  /// `looks`: an attempt may have ended. A commit alone ends none, and then only those are looked
  /// at that somebody wants to stop, or that have not been seen running.
  std::int64_t pass(bool looks) {
    take_results();
    std::vector<OpenJob> placed, waiting;
    const Status loaded = parts.db.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(placed, list_placed_jobs(reader));
      TAKT_ASSIGN(waiting, list_waiting_jobs(reader, options.queue_max));
      return {};
    });
    if (!loaded) {
      log_warn("queue cannot be read", {{"error", loaded.error().text()}});
      return options.tick_ms;
    }
    bool changed = false;
    for (const OpenJob& job : placed) {
      if (busy.contains(job.id)) continue;
      if (looks || job.state != JobState::kRunning) changed |= watch(job);
    }
    // Ends change the queue itself: it is read again before anything is placed.
    if (changed) return 0;
    return place(placed, waiting);
  }

  // ---- watching

  // True when the attempt's end was written.
  bool watch(const OpenJob& open) {
    const Lease lease = lease_of(open.id);
    if (lease.attempt == 0) return false;
    const Result<AttemptStatus> status = parts.executor.poll(lease);
    if (!status) {
      note_problem("attempt cannot be looked at", open.id, status.error());
      return false;
    }
    // The usual case costs no look at the row.
    if (status->phase == AttemptPhase::kRunning && open.state == JobState::kRunning) return false;
    const std::optional<Job> job = load(open.id);
    if (!job) return false;
    switch (status->phase) {
      case AttemptPhase::kRunning:
        return keep_running(*job, lease);
      case AttemptPhase::kEnded:
        return end_with_record(*job, lease, status->exit);
      case AttemptPhase::kLost:
        return end_without_record(*job, lease, lost_outcome(), false);
      case AttemptPhase::kNeverStarted:
        return end_without_record(*job, lease, never_started_outcome(), true);
    }
    return false;
  }

  // Of the job's last attempt; number 0 when it cannot be read now.
  Lease lease_of(JobId id) {
    const auto known = leases.find(id);
    if (known != leases.end()) return known->second;
    const std::optional<Job> job = load(id);
    if (!job || job->attempts.empty()) return {};
    const Attempt& attempt = job->attempts.back();
    return leases[id] = {id, attempt.number, attempt.token};
  }

  bool keep_running(const Job& job, const Lease& lease) {
    start_problems.erase(job.id);
    if (job.state == JobState::kStarting) {
      const Status written =
          parts.db.write([&](store::Tx& tx) { return write_started(tx, lease); });
      if (!written) note_problem("start cannot be written", job.id, written.error());
    }
    if (job.state == JobState::kStopping) {
      const Status asked = parts.executor.stop(lease, job.grace_ms);
      if (!asked) note_problem("attempt cannot be stopped", job.id, asked.error());
    }
    return false;
  }

  bool end_with_record(const Job& job, const Lease& lease, const AttemptExit& exit) {
    start_problems.erase(job.id);
    AttemptEnd end;
    end.exit = exit;
    // Nobody cancelled the job: it runs again. Who keeps an endless one decides that himself.
    const bool was_halted = exit.stopped && job.state != JobState::kStopping;
    end.outcome = was_halted ? halted_outcome() : classify(exit, job.spec);
    end.is_free = was_halted && !is_endless(job.spec.kind);
    const bool has_outputs = !job.spec.outputs.empty();
    if (end.outcome.failure != FailureClass::kNone || job.state == JobState::kStopping ||
        !has_outputs)
      return write_end(lease, end);
    const auto known = stuck.find(job.id);
    if (known != stuck.end() && parts.db.clock().mono() < known->second.again) return false;
    busy.insert(job.id);
    parts.aside.run([this, job, lease, exit] {
      SideResult result{lease, {}, parts.workspace.collect(job, job.attempts.back()), exit};
      deliver(std::move(result));
    });
    return false;
  }

  bool end_without_record(const Job& job, const Lease& lease, Outcome outcome, bool is_free) {
    AttemptEnd end;
    end.outcome = std::move(outcome);
    end.counts_as_lost = true;
    end.is_free = is_free;
    const auto problem = start_problems.find(job.id);
    if (problem != start_problems.end()) {
      end.outcome = launch_outcome(problem->second);
      end.is_free = false;
    }
    return write_end(lease, end);
  }

  bool write_end(const Lease& lease, AttemptEnd end) {
    end.lost_max = options.lost_max;
    std::optional<JobState> state;
    const Status written = parts.db.write([&](store::Tx& tx) -> Status {
      TAKT_ASSIGN(state, write_ended(tx, lease, end));
      return {};
    });
    if (!written) {
      note_problem("end of an attempt cannot be written", lease.job, written.error());
      return false;
    }
    leases.erase(lease.job);
    start_problems.erase(lease.job);
    stuck.erase(lease.job);
    if (!state) return true;
    count_attempt_end(end.outcome.failure);
    log_info("attempt ended", {{"job", lease.job.value},
                               {"attempt", lease.attempt},
                               {"failure", failure_class_name(end.outcome.failure)},
                               {"state", job_state_name(*state)}});
    const bool is_last = is_final(*state);
    if (std::optional<Job> job = load(lease.job); job && !job->attempts.empty())
      parts.aside.run([this, job = std::move(*job), is_last] {
        parts.workspace.discard(job, job.attempts.back(), is_last);
      });
    return true;
  }

  // ---- results of side tasks

  void deliver(SideResult result) {
    {
      const std::lock_guard guard(mutex);
      results.push_back(std::move(result));
    }
    wake(true);
  }

  void wake(bool looks) {
    {
      const std::lock_guard guard(mutex);
      is_woken = true;
      must_look |= looks;
    }
    changed.notify_one();
  }

  void take_results() {
    std::vector<SideResult> taken;
    {
      const std::lock_guard guard(mutex);
      taken.swap(results);
    }
    for (SideResult& result : taken) {
      busy.erase(result.lease.job);
      if (result.start_problem)
        start_problems.insert_or_assign(result.lease.job, *result.start_problem);
      if (result.collected) finish_collection(result);
    }
  }

  void finish_collection(SideResult& result) {
    AttemptEnd end;
    end.exit = result.exit;
    if (*result.collected) {
      end.collected = std::move(**result.collected);
    } else {
      const Error& error = result.collected->error();
      // The store's trouble, not the job's: the record and the files stay, and are collected again.
      if (is_passing(error.code) || error.code == Code::kExhausted) {
        note_problem("outputs cannot be stored yet", result.lease.job, error);
        stuck[result.lease.job] = {
            parts.db.clock().mono() + kCollectAgainMs * 1000,
            "it has ended, and its outputs wait to be stored: " + error.text()};
        return;
      }
      end.outcome = {FailureClass::kExitCode, "it ended with exit code 0, but " + error.text()};
    }
    write_end(result.lease, std::move(end));
  }

  // ---- placing

  std::int64_t place(const std::vector<OpenJob>& placed, const std::vector<OpenJob>& waiting) {
    QueueView view;
    for (const OpenJob& job : placed) view.placed.push_back({job.id, job.resources});
    for (const OpenJob& job : waiting)
      view.waiting.push_back(
          {job.id, job.priority, job.resources, job.submitted_ms, job.not_before_ms});
    const UnixMs now = parts.db.clock().now_ms();
    const std::vector<Decision> decisions =
        plan(view, parts.executor.capacity(), now, options.hold_after_ms);
    std::int64_t next_ms = view.placed.empty() ? kIdleMs : options.tick_ms;
    std::map<JobId, std::string> reasons;
    for (const Decision& decision : decisions) {
      if (const auto* wait = std::get_if<Wait>(&decision)) {
        reasons.emplace(wait->job, wait->reason);
        if (wait->until_ms > 0)
          next_ms = std::min(next_ms, std::max<std::int64_t>(wait->until_ms - now, 1));
      } else {
        place_one(std::get<Place>(decision).job);
        next_ms = std::min(next_ms, options.tick_ms);
      }
    }
    publish_queue(view, std::move(reasons));
    return next_ms;
  }

  void place_one(JobId id) {
    std::optional<Attempt> attempt;
    const Status written = parts.db.write([&](store::Tx& tx) -> Status {
      TAKT_ASSIGN(attempt, write_placed(tx, id));
      return {};
    });
    if (!written) return note_problem("job cannot be placed", id, written.error());
    std::optional<Job> job = attempt ? load(id) : std::nullopt;
    if (!job) return;
    leases.erase(id);
    busy.insert(id);
    parts.aside.run([this, job = std::move(*job)] {
      const Attempt& leased = job.attempts.back();
      SideResult result{{job.id, leased.number, leased.token}, {}, {}, {}};
      Result<Launch> launch = parts.workspace.prepare(job, leased);
      const Status started =
          launch ? parts.executor.start(*launch) : fail(std::move(launch).error());
      if (!started) result.start_problem = started.error();
      deliver(std::move(result));
    });
  }

  void publish_queue(const QueueView& view, std::map<JobId, std::string> reasons) {
    set_queue_gauges(static_cast<std::int64_t>(view.waiting.size()),
                     static_cast<std::int64_t>(view.placed.size()));
    for (const auto& [job, why] : stuck) reasons.emplace(job, why.reason);
    const std::lock_guard guard(mutex);
    wait_reasons.swap(reasons);
  }

  std::optional<Job> load(JobId id) {
    std::optional<Job> job;
    const Status loaded = parts.db.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(job, get_job(reader, id));
      return {};
    });
    if (!loaded) note_problem("job cannot be read", id, loaded.error());
    return job;
  }

  // ---- the owner thread

  void loop() {
    Mono next_look;  // commits that keep waking the thread do not put it off
    for (bool asked = true;;) {
      const Mono now = parts.db.clock().mono();
      const bool looks = asked || now >= next_look;
      if (looks) next_look = now + options.tick_ms * 1000;
      const std::int64_t next_ms = pass(looks);
      std::unique_lock lock(mutex);
      changed.wait_for(lock, std::chrono::milliseconds(next_ms),
                       [this] { return is_woken || is_over; });
      if (is_over) return;
      asked = must_look;
      is_woken = must_look = false;
    }
  }

  const DispatcherParts parts;
  const DispatcherOptions options;

  // Of the owner thread alone.
  std::map<JobId, Lease> leases;          // of placed jobs, as read from their rows
  std::set<JobId> busy;                   // a side task works on its attempt
  std::map<JobId, Error> start_problems;  // what start() said, until poll() tells what is true
  struct Stuck {
    Mono again;  // not collected before
    std::string reason;
  };
  std::map<JobId, Stuck> stuck;  // ended well, but their outputs could not be stored yet

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<SideResult> results;            // guarded by mutex
  std::map<JobId, std::string> wait_reasons;  // guarded by mutex
  bool is_woken = false;                      // guarded by mutex
  bool must_look = false;                     // guarded by mutex
  bool is_over = false;                       // guarded by mutex
  std::thread thread;
};

Dispatcher::Dispatcher(DispatcherParts parts, DispatcherOptions options)
    : impl_(std::make_unique<Impl>(parts, options)) {}

Dispatcher::~Dispatcher() { stop(); }

void Dispatcher::start() {
  impl_->parts.executor.on_change([this] { impl_->wake(true); });
  impl_->thread = std::thread([this] { impl_->loop(); });
}

void Dispatcher::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->parts.executor.on_change({});
  {
    const std::lock_guard guard(impl_->mutex);
    impl_->is_over = true;
  }
  impl_->changed.notify_all();
  impl_->thread.join();
}

void Dispatcher::wake() { impl_->wake(false); }

std::int64_t Dispatcher::pass() { return impl_->pass(true); }

std::string Dispatcher::wait_reason(JobId job) const {
  const std::lock_guard guard(impl_->mutex);
  const auto found = impl_->wait_reasons.find(job);
  return found == impl_->wait_reasons.end() ? std::string() : found->second;
}

}  // namespace takt::jobs
