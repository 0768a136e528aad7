// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/transitions.h"

#include "takt/base/digest.h"
#include "takt/base/units.h"
#include "takt/base/utf8.h"
#include "takt/jobs/events.h"
#include "takt/jobs/job_store.h"
#include "takt/jobs/state.h"
#include "takt/store/lineage.h"
#include "takt/track/run_writer.h"

namespace takt::jobs {
namespace {

using actions::PortKind;

constexpr std::size_t kCommandTagBytesMax = 4'000;

Ref run_or_job(const Job& job) { return job.run.empty() ? ref_of(job.id) : ref_of(job.run); }

std::string param_text(const Value& value) {
  return value.is_string() ? value.as_string() : dump_json(value);
}

std::string command_text(const std::vector<std::string>& command) {
  Array words;
  for (const std::string& word : command) words.emplace_back(word);
  return shorten(dump_json(Value(std::move(words))), kCommandTagBytesMax);
}

Status insert_run_of(store::Tx& tx, const Job& job) {
  track::NewRun run;
  run.project = job.project;
  run.id = job.run;
  run.experiment = job.spec.experiment;
  run.name = job.spec.name;
  run.user = job.submitted_by;
  for (const auto& [name, value] : job.spec.params) run.params[name] = param_text(value);
  run.tags["takt.job"] = std::to_string(job.id.value);
  run.tags["mlflow.source.name"] =
      job.spec.command[0] == "sh" ? job.spec.name : job.spec.command.back();
  run.tags["mlflow.source.type"] = "JOB";
  run.tags["takt.seed"] = std::to_string(job.spec.seed);
  if (!job.spec.code.empty()) run.tags["takt.code"] = job.spec.code.value;
  if (!job.spec.environment.empty()) run.tags["takt.environment"] = job.spec.environment.value;
  run.tags["takt.command"] = command_text(job.spec.command);
  for (const auto& [name, port] : job.inputs) run.tags["takt.input." + name] = port.ref.text();
  if (!job.reproduces.empty()) run.tags["takt.reproduces"] = job.reproduces.value;
  TAKT_RETURN_IF_ERROR(track::insert_run(tx, run));
  if (!job.reproduces.empty())
    TAKT_RETURN_IF_ERROR(
        store::add_edge(tx, job.project, ref_of(job.run), "reproduces", ref_of(job.reproduces)));
  return store::add_edge(tx, job.project, ref_of(job.run), "came-from", ref_of(job.id));
}

Status add_submission_edges(store::Tx& tx, const Job& job) {
  const Ref self = ref_of(job.id);
  if (!job.spec.code.empty())
    TAKT_RETURN_IF_ERROR(
        store::add_edge(tx, job.project, self, "used-code", {"code", job.spec.code.value}));
  if (!job.spec.environment.empty())
    TAKT_RETURN_IF_ERROR(store::add_edge(tx, job.project, self, "used-environment",
                                         {"environment", job.spec.environment.value}));
  for (const auto& [name, port] : job.inputs)
    TAKT_RETURN_IF_ERROR(store::add_edge(tx, job.project, run_or_job(job), "used", port.ref));
  return {};
}

// Outputs as lineage, artifacts and metrics of the run.
Status write_outputs(store::Tx& tx, Job& job, const Collected& collected) {
  for (const auto& [name, output] : collected.outputs) {
    job.outputs[name] = output.port;
    if (output.port.kind != PortKind::kDataset || output.is_made_here)
      TAKT_RETURN_IF_ERROR(
          store::add_edge(tx, job.project, output.port.ref, "made-by", run_or_job(job)));
    if (output.is_artifact && !job.run.empty())
      TAKT_RETURN_IF_ERROR(track::add_run_artifacts(tx, job.project, job.run, name, output.tree));
  }
  if (!collected.metrics.empty() && !job.run.empty())
    TAKT_RETURN_IF_ERROR(track::log_run_metrics(tx, job.project, job.run, collected.metrics));
  return {};
}

// The attempt that `lease` names, if it is the job's last and has not ended.
Attempt* find_open_attempt(Job& job, const Lease& lease) {
  if (job.attempts.empty()) return nullptr;
  Attempt& last = job.attempts.back();
  const bool matches = last.number == lease.attempt && last.token == lease.token;
  return matches && !is_final(last.state) ? &last : nullptr;
}

void fill_attempt(Attempt& attempt, const AttemptEnd& end, UnixMs now) {
  attempt.exit_code = end.exit.code;
  attempt.signal = end.exit.signal;
  attempt.failure = end.outcome.failure;
  attempt.reason = end.outcome.reason;
  if (attempt.started_ms == 0) attempt.started_ms = end.exit.started_ms;
  attempt.ended_ms = end.exit.ended_ms > 0 ? end.exit.ended_ms : now;
  attempt.cpu_ms = end.exit.cpu_ms;
  attempt.memory_bytes_peak = end.exit.memory_bytes_peak;
  attempt.state =
      end.outcome.failure == FailureClass::kNone ? JobState::kSucceeded : JobState::kFailed;
}

bool may_retry(const Job& job, const AttemptEnd& end) {
  if (!end.outcome.is_retryable) return false;
  if (end.is_free) return true;                 // an endless one too: nothing of it ever ran
  if (is_endless(job.spec.kind)) return false;  // who keeps it decides what comes next
  if (end.counts_as_lost && job.lost_count < end.lost_max) return true;
  return job.retries_used < job.spec.retries_max;
}

void set_retry(Job& job, const AttemptEnd& end, UnixMs now) {
  if (end.is_free) return;
  if (end.counts_as_lost && job.lost_count < end.lost_max) {
    ++job.lost_count;
    if (end.outcome.failure == FailureClass::kLaunch)
      job.not_before_ms = now + job.spec.retry_backoff_ms;
    return;
  }
  ++job.retries_used;
  job.not_before_ms = now + back_off_ms(job.spec, job.retries_used);
}

track::RunEnd run_end_of(JobState state) {
  if (state == JobState::kSucceeded) return track::RunEnd::kFinished;
  return state == JobState::kCancelled ? track::RunEnd::kKilled : track::RunEnd::kFailed;
}

Status end_job(store::Tx& tx, Job& job, const UserId& actor, Object details) {
  job.ended_ms = tx.now_ms();
  TAKT_RETURN_IF_ERROR(save_job(tx, job));
  if (!job.run.empty())
    TAKT_RETURN_IF_ERROR(track::end_run(tx, job.project, job.run, run_end_of(job.state)));
  return events::append(tx, job, events::kEnded, actor, std::move(details));
}

Object end_details(const Attempt& attempt) {
  Object details{{"attempt", attempt.number},
                 {"exit_code", attempt.exit_code},
                 {"failure", failure_class_name(attempt.failure)},
                 {"cpu_ms", attempt.cpu_ms},
                 {"wall_ms", attempt.started_ms > 0 ? attempt.ended_ms - attempt.started_ms : 0}};
  if (attempt.signal != 0) details["signal"] = attempt.signal;
  if (!attempt.reason.empty()) details["reason"] = attempt.reason;
  return details;
}

Status mark_started(store::Tx& tx, Job& job, Attempt& attempt) {
  TAKT_ASSIGN(job.state, next(job.state, JobEvent::kStarted));
  attempt.state = JobState::kRunning;
  attempt.started_ms = tx.now_ms();
  if (job.started_ms == 0) job.started_ms = tx.now_ms();
  job.reason.clear();
  return events::append(tx, job, events::kStarted, job.submitted_by, {{"attempt", attempt.number}});
}

}  // namespace

Status write_submitted(store::Tx& tx, Job& job) {
  job.state = JobState::kWaiting;
  job.submitted_ms = tx.now_ms();
  TAKT_RETURN_IF_ERROR(insert_job(tx, job));
  if (!job.run.empty()) TAKT_RETURN_IF_ERROR(insert_run_of(tx, job));
  TAKT_RETURN_IF_ERROR(add_submission_edges(tx, job));
  Object details;
  if (!job.owner.empty()) details["owner"] = job.owner;
  return events::append(tx, job, events::kSubmitted, job.submitted_by, std::move(details));
}

Result<std::optional<Attempt>> write_placed(store::Tx& tx, JobId id) {
  TAKT_ASSIGN(Job job, get_job(tx, id));
  if (job.state != JobState::kWaiting) return std::nullopt;
  TAKT_ASSIGN(job.state, next(job.state, JobEvent::kPlaced));
  job.not_before_ms = 0;
  job.reason.clear();
  Attempt attempt;
  attempt.number = static_cast<int>(job.attempts.size()) + 1;
  attempt.token = random_hex(16);
  attempt.placed_ms = tx.now_ms();
  TAKT_RETURN_IF_ERROR(insert_attempt(tx, id, attempt));
  TAKT_RETURN_IF_ERROR(save_job(tx, job));
  TAKT_RETURN_IF_ERROR(
      events::append(tx, job, events::kPlaced, job.submitted_by, {{"attempt", attempt.number}}));
  return attempt;
}

Status write_started(store::Tx& tx, const Lease& lease) {
  TAKT_ASSIGN(Job job, get_job(tx, lease.job));
  Attempt* attempt = find_open_attempt(job, lease);
  if (attempt == nullptr || job.state != JobState::kStarting) return {};
  TAKT_RETURN_IF_ERROR(mark_started(tx, job, *attempt));
  TAKT_RETURN_IF_ERROR(save_attempt(tx, job.id, *attempt));
  return save_job(tx, job);
}

Result<std::optional<JobState>> write_ended(store::Tx& tx, const Lease& lease,
                                            const AttemptEnd& end) {
  TAKT_ASSIGN(Job job, get_job(tx, lease.job));
  Attempt* attempt = find_open_attempt(job, lease);
  if (attempt == nullptr) return std::nullopt;
  // Over before its start was noted: the log tells both.
  if (job.state == JobState::kStarting && end.exit.started_ms > 0 && end.exit.launch_error.empty())
    TAKT_RETURN_IF_ERROR(mark_started(tx, job, *attempt));
  fill_attempt(*attempt, end, tx.now_ms());
  if (job.state == JobState::kStopping) {
    attempt->state = JobState::kCancelled;
    if (attempt->failure != FailureClass::kNone) attempt->failure = FailureClass::kCancelled;
    if (is_endless(job.spec.kind) && end.exit.code == 0) attempt->reason.clear();  // as asked
    TAKT_ASSIGN(job.state, next(job.state, JobEvent::kGone));
  } else if (attempt->failure == FailureClass::kNone) {
    TAKT_RETURN_IF_ERROR(write_outputs(tx, job, end.collected));
    TAKT_ASSIGN(job.state, next(job.state, JobEvent::kSucceeded));
  } else if (may_retry(job, end)) {
    set_retry(job, end, tx.now_ms());
    TAKT_ASSIGN(job.state, next(job.state, JobEvent::kRetried));
    TAKT_RETURN_IF_ERROR(save_attempt(tx, job.id, *attempt));
    TAKT_RETURN_IF_ERROR(save_job(tx, job));
    TAKT_RETURN_IF_ERROR(
        events::append(tx, job, events::kAttemptEnded, job.submitted_by, end_details(*attempt)));
    return job.state;
  } else {
    job.reason = attempt->reason;
    TAKT_ASSIGN(job.state, next(job.state, JobEvent::kFailed));
  }
  TAKT_RETURN_IF_ERROR(save_attempt(tx, job.id, *attempt));
  TAKT_RETURN_IF_ERROR(end_job(tx, job, job.submitted_by, end_details(*attempt)));
  return job.state;
}

Result<Job> write_cancel(store::Tx& tx, const ProjectId& project, JobId id, const UserId& by,
                         std::int64_t grace_ms) {
  TAKT_ASSIGN(Job job, get_job(tx, id));
  if (job.project != project) return fail(Code::kNotFound, job_missing_text(id));
  if (is_final(job.state)) return job;
  if (job.state == JobState::kStopping) {
    const bool is_sooner = tx.now_ms() + grace_ms < job.cancel_ms + job.grace_ms;
    if (!is_sooner) return job;
  } else {
    TAKT_ASSIGN(job.state, next(job.state, JobEvent::kCancelAsked));
  }
  job.cancel_ms = tx.now_ms();
  job.grace_ms = grace_ms;
  job.reason = "cancelled by " + by.value;
  TAKT_RETURN_IF_ERROR(events::append(tx, job, events::kCancelAsked, by));
  if (job.state == JobState::kCancelled) {
    TAKT_RETURN_IF_ERROR(end_job(tx, job, by, {}));
    return job;
  }
  TAKT_RETURN_IF_ERROR(save_job(tx, job));
  return job;
}

}  // namespace takt::jobs
