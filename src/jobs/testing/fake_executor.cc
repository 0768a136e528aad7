// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/testing/fake_executor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "takt/base/digest.h"

namespace takt::jobs::testing {

UnixMs FakeExecutor::end_of(const World& attempt) const {
  const UnixMs by_itself = attempt.started_ms + attempt.script.duration_ms;
  return attempt.stop_at_ms > 0 ? std::min(by_itself, attempt.stop_at_ms) : by_itself;
}

Status FakeExecutor::start(const Launch& launch) {
  const Lease& lease = launch.lease;
  const auto key = std::make_pair(lease.job.value, lease.attempt);
  const auto known = attempts_.find(key);
  if (known != attempts_.end()) return fail(Code::kConflict, "started or given up already");
  EXPECT_EQ(running(lease.job), 0) << "job " << lease.job.value << " would run twice";
  const ScriptedAttempt script_now = script(lease);
  if (script_now.refuses) return fail(Code::kUnavailable, "the executor refused");
  ++starts_;
  attempts_[key] = World{script_now, launch.resources, clock_.now_ms()};
  const Resources now = used();
  EXPECT_LE(now.cpu_millicores, capacity_.cpu_millicores);
  EXPECT_LE(now.memory_bytes, capacity_.memory_bytes);
  EXPECT_LE(now.gpus, capacity_.gpus);
  if (script_now.reply_is_lost) return fail(Code::kUnavailable, "no reply");
  return {};
}

Result<AttemptStatus> FakeExecutor::poll(const Lease& lease) {
  const auto key = std::make_pair(lease.job.value, lease.attempt);
  const auto found = attempts_.find(key);
  if (found == attempts_.end() || found->second.is_fenced) {
    attempts_[key].is_fenced = true;
    return AttemptStatus{AttemptPhase::kNeverStarted, {}};
  }
  const World& attempt = found->second;
  if (clock_.now_ms() < end_of(attempt)) return AttemptStatus{AttemptPhase::kRunning, {}};
  if (attempt.script.is_lost) return AttemptStatus{AttemptPhase::kLost, {}};
  AttemptExit exit;
  exit.started_ms = attempt.started_ms;
  exit.ended_ms = end_of(attempt);
  const bool was_stopped = attempt.stop_at_ms > 0 && exit.ended_ms == attempt.stop_at_ms;
  exit.stopped = attempt.stop_at_ms > 0;
  exit.signal = was_stopped ? 15 : 0;
  exit.code = was_stopped ? -1 : attempt.script.code;
  return AttemptStatus{AttemptPhase::kEnded, exit};
}

Status FakeExecutor::stop(const Lease& lease, std::int64_t grace_ms) {
  const auto found = attempts_.find({lease.job.value, lease.attempt});
  if (found != attempts_.end() && found->second.stop_at_ms == 0)
    found->second.stop_at_ms = clock_.now_ms() + grace_ms;
  return {};
}

int FakeExecutor::running(JobId job) const {
  return static_cast<int>(std::ranges::count_if(attempts_, [&](const auto& item) {
    return item.first.first == job.value && !item.second.is_fenced &&
           clock_.now_ms() < end_of(item.second);
  }));
}

Resources FakeExecutor::used() const {
  Resources total{0, 0, 0};
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.is_fenced || clock_.now_ms() >= end_of(attempt)) continue;
    total.cpu_millicores += attempt.resources.cpu_millicores;
    total.memory_bytes += attempt.resources.memory_bytes;
    total.gpus += attempt.resources.gpus;
  }
  return total;
}

Result<Launch> FakeWorkspace::prepare(const Job& job, const Attempt& attempt) {
  if (prepare_fault) TAKT_RETURN_IF_ERROR(prepare_fault(job));
  Launch launch;
  launch.lease = {job.id, attempt.number, attempt.token};
  launch.command = job.spec.command;
  launch.resources = job.spec.resources;
  return launch;
}

Result<Collected> FakeWorkspace::collect(const Job& job, const Attempt&) {
  if (collect_fault) TAKT_RETURN_IF_ERROR(collect_fault(job));
  Collected collected;
  for (const JobOutput& output : job.spec.outputs) {
    const Digest digest = sha256(output.name);
    collected.outputs[output.name].port = {actions::PortKind::kJson, Ref{"artifact", digest.value},
                                           digest, Value(Object{{"accuracy", 0.5}})};
    collected.metrics["accuracy"] = 0.5;
  }
  return collected;
}

void FakeWorkspace::discard(const Job& job, const Attempt&, bool is_last) {
  if (is_last) ended.insert(job.id.value);
}

bool ManualAside::run_one() {
  if (tasks_.empty()) return false;
  const std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  task();
  return true;
}

}  // namespace takt::jobs::testing
