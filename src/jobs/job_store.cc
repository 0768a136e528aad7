// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/job_store.h"

#include <algorithm>

#include "takt/jobs/sql.h"

namespace takt::jobs {
namespace {

std::string text_of(std::string_view word) { return std::string(word); }

std::string dump_ports(const std::map<std::string, actions::PortValue>& ports) {
  Object all;
  for (const auto& [name, port] : ports) all.emplace(name, actions::to_value(port));
  return dump_json(Value(std::move(all)));
}

Status load_ports(const std::string& text, std::map<std::string, actions::PortValue>& into) {
  TAKT_ASSIGN(const Value all, parse_json(text));
  for (const auto& [name, value] : all.as_object()) {
    TAKT_ASSIGN(actions::PortValue port, actions::port_value_from(value));
    into.emplace(name, std::move(port));
  }
  return {};
}

// The columns that find_job, list_jobs and list_failed_jobs share, in their order.
Result<Job> job_from(const store::Row& row) {
  Job job;
  job.id.value = row.integer(0);
  job.project.value = row.text(1);
  TAKT_ASSIGN(const Value spec, parse_json(row.text(5)));
  TAKT_ASSIGN(job.spec, parse_job_spec(row.text(2), spec));
  TAKT_ASSIGN(job.spec.kind, parse_job_kind(row.text(3)));
  TAKT_ASSIGN(job.state, parse_job_state(row.text(4)));
  job.submitted_by.value = row.text(6);
  job.run.value = row.text(7);
  job.owner = row.text(8);
  TAKT_RETURN_IF_ERROR(load_ports(row.text(9), job.inputs));
  TAKT_RETURN_IF_ERROR(load_ports(row.text(10), job.outputs));
  job.reason = row.text(11);
  job.submitted_ms = row.integer(12);
  job.started_ms = row.integer(13);
  job.ended_ms = row.integer(14);
  job.not_before_ms = row.integer(15);
  job.cancel_ms = row.integer(16);
  job.grace_ms = row.integer(17);
  job.retries_used = static_cast<int>(row.integer(18));
  job.lost_count = static_cast<int>(row.integer(19));
  return job;
}

Result<Attempt> attempt_from(const store::Row& row) {
  Attempt attempt;
  attempt.number = static_cast<int>(row.integer(0));
  TAKT_ASSIGN(attempt.state, parse_job_state(row.text(1)));
  attempt.token = row.text(2);
  attempt.exit_code = static_cast<int>(row.integer(3));
  attempt.signal = static_cast<int>(row.integer(4));
  TAKT_ASSIGN(attempt.failure, parse_failure_class(row.text(5)));
  attempt.reason = row.text(6);
  attempt.placed_ms = row.integer(7);
  attempt.started_ms = row.integer(8);
  attempt.ended_ms = row.integer(9);
  attempt.cpu_ms = row.integer(10);
  attempt.memory_bytes_peak = row.integer(11);
  return attempt;
}

Status load_attempts(store::Reader& reader, Job& job) {
  TAKT_ASSIGN(const store::Rows rows, reader.query(sql::kListAttempts, {job.id.value}));
  for (const store::Row& row : rows) {
    TAKT_ASSIGN(Attempt attempt, attempt_from(row));
    job.attempts.push_back(std::move(attempt));
  }
  return {};
}

Result<std::vector<Job>> jobs_from(store::Reader& reader, const store::Rows& rows) {
  std::vector<Job> jobs;
  for (const store::Row& row : rows) {
    TAKT_ASSIGN(Job job, job_from(row));
    TAKT_RETURN_IF_ERROR(load_attempts(reader, job));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<std::vector<OpenJob>> open_jobs_from(const store::Rows& rows) {
  std::vector<OpenJob> jobs;
  for (const store::Row& row : rows) {
    OpenJob job;
    job.id.value = row.integer(0);
    TAKT_ASSIGN(job.state, parse_job_state(row.text(1)));
    job.priority = static_cast<int>(row.integer(2));
    job.resources = {row.integer(3), row.integer(4), row.integer(5)};
    job.submitted_ms = row.integer(6);
    job.not_before_ms = row.integer(7);
    job.cancel_ms = row.integer(8);
    jobs.push_back(job);
  }
  return jobs;
}

// "%text%", lower case, with LIKE's own characters taken literally.
std::string contains_pattern(std::string_view text) {
  if (text.empty()) return {};
  std::string pattern = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return pattern + "%";
}

}  // namespace

std::string job_missing_text(JobId id) { return "no job " + std::to_string(id.value); }

Status insert_job(store::Tx& tx, Job& job) {
  TAKT_ASSIGN(job.id.value, tx.next_number("jobs"));
  const JobSpec& spec = job.spec;
  const auto inserted = tx.exec(sql::kInsertJob, {job.id.value,
                                                  job.project.value,
                                                  spec.name,
                                                  text_of(job_kind_name(spec.kind)),
                                                  text_of(job_state_name(job.state)),
                                                  std::int64_t{spec.priority},
                                                  spec.resources.cpu_millicores,
                                                  spec.resources.memory_bytes,
                                                  spec.resources.gpus,
                                                  dump_json(to_value(spec)),
                                                  job.submitted_by.value,
                                                  job.run.value,
                                                  job.owner,
                                                  dump_ports(job.inputs),
                                                  dump_ports(job.outputs),
                                                  job.reason,
                                                  job.submitted_ms,
                                                  job.started_ms,
                                                  job.ended_ms,
                                                  job.not_before_ms,
                                                  job.cancel_ms,
                                                  job.grace_ms,
                                                  std::int64_t{job.retries_used},
                                                  std::int64_t{job.lost_count}});
  TAKT_RETURN_IF_ERROR(inserted);
  return {};
}

Result<Job> get_job(store::Reader& reader, JobId id) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindJob, {id.value}));
  if (!row)
    return fail(Code::kNotFound, job_missing_text(id), "takt jobs ls shows the jobs there are");
  TAKT_ASSIGN(Job job, job_from(*row));
  TAKT_RETURN_IF_ERROR(load_attempts(reader, job));
  return job;
}

Result<std::optional<JobId>> find_job_by_owner(store::Reader& reader, const ProjectId& project,
                                               std::string_view owner) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindJobByOwner, {project.value, text_of(owner)}));
  if (!row) return std::nullopt;
  return JobId{row->integer(0)};
}

Result<std::vector<Job>> list_jobs(store::Reader& reader, const ProjectId& project,
                                   const JobFilter& filter) {
  std::string states;
  for (const JobState state : filter.states) states += "," + text_of(job_state_name(state));
  if (!states.empty()) states += ",";
  TAKT_ASSIGN(const store::Rows rows,
              reader.query(sql::kListJobs, {project.value, text_of(job_kind_name(filter.kind)),
                                            filter.before, states, contains_pattern(filter.text),
                                            filter.text, std::int64_t{filter.limit}}));
  return jobs_from(reader, rows);
}

Result<std::vector<OpenJob>> list_placed_jobs(store::Reader& reader) {
  TAKT_ASSIGN(const store::Rows rows, reader.query(sql::kListPlacedJobs));
  return open_jobs_from(rows);
}

Result<std::vector<OpenJob>> list_waiting_jobs(store::Reader& reader, int limit) {
  TAKT_ASSIGN(const store::Rows rows, reader.query(sql::kListWaitingJobs, {std::int64_t{limit}}));
  return open_jobs_from(rows);
}

Status save_job(store::Tx& tx, const Job& job) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kUpdateJob,
              {job.id.value, text_of(job_state_name(job.state)), dump_ports(job.outputs),
               job.reason, job.started_ms, job.ended_ms, job.not_before_ms, job.cancel_ms,
               job.grace_ms, std::int64_t{job.retries_used}, std::int64_t{job.lost_count}}));
  return {};
}

Status insert_attempt(store::Tx& tx, JobId job, const Attempt& attempt) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kInsertAttempt,
              {job.value, std::int64_t{attempt.number}, text_of(job_state_name(attempt.state)),
               attempt.token, std::int64_t{attempt.exit_code}, std::int64_t{attempt.signal},
               text_of(failure_class_name(attempt.failure)), attempt.reason, attempt.placed_ms,
               attempt.started_ms, attempt.ended_ms, attempt.cpu_ms, attempt.memory_bytes_peak}));
  return {};
}

Status save_attempt(store::Tx& tx, JobId job, const Attempt& attempt) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kUpdateAttempt,
              {job.value, std::int64_t{attempt.number}, text_of(job_state_name(attempt.state)),
               std::int64_t{attempt.exit_code}, std::int64_t{attempt.signal},
               text_of(failure_class_name(attempt.failure)), attempt.reason, attempt.started_ms,
               attempt.ended_ms, attempt.cpu_ms, attempt.memory_bytes_peak}));
  return {};
}

Result<std::map<JobState, std::int64_t>> count_jobs(store::Reader& reader,
                                                    const ProjectId& project) {
  TAKT_ASSIGN(const store::Rows rows, reader.query(sql::kCountJobsByState, {project.value}));
  std::map<JobState, std::int64_t> counts;
  for (const store::Row& row : rows) {
    TAKT_ASSIGN(const JobState state, parse_job_state(row.text(0)));
    counts[state] = row.integer(1);
  }
  return counts;
}

Result<std::vector<Job>> list_failed_jobs(store::Reader& reader, const ProjectId& project,
                                          UnixMs since_ms, int limit) {
  TAKT_ASSIGN(const store::Rows rows,
              reader.query(sql::kListFailedJobs, {project.value, since_ms, std::int64_t{limit}}));
  return jobs_from(reader, rows);
}

}  // namespace takt::jobs
