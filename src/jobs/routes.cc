// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/routes.h"

#include <charconv>
#include <sstream>

#include "takt/base/limits.h"
#include "takt/base/units.h"

namespace takt::jobs {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

constexpr std::int64_t kGraceMsDefault = 5'000;
constexpr std::int64_t kGraceMsMax = 3'600'000;
constexpr std::int64_t kLogBytesDefault = 1 << 20;
constexpr std::int64_t kLogBytesMaxPerAnswer = 8 << 20;

struct JobRoutes {
  JobStation& station;
  access::Policy& policy;
};

Value resources_value(const Resources& resources) {
  return Object{{"cpu_millicores", resources.cpu_millicores},
                {"memory_bytes", resources.memory_bytes},
                {"gpus", resources.gpus}};
}

void put_time(Object& object, const char* key, UnixMs time_ms) {
  if (time_ms > 0) object[key] = format_time(time_ms);
}

Value attempt_value(const Attempt& attempt) {
  Object object{{"number", attempt.number}, {"state", job_state_name(attempt.state)}};
  put_time(object, "started_at", attempt.started_ms);
  put_time(object, "ended_at", attempt.ended_ms);
  if (!is_final(attempt.state)) return Value(std::move(object));
  object["failure"] = failure_class_name(attempt.failure);
  if (attempt.exit_code >= 0) object["exit_code"] = attempt.exit_code;
  if (attempt.signal > 0) object["signal"] = attempt.signal;
  if (!attempt.reason.empty()) object["reason"] = attempt.reason;
  object["cpu_ms"] = attempt.cpu_ms;
  object["memory_bytes_peak"] = attempt.memory_bytes_peak;
  return Value(std::move(object));
}

Value ports_value(const std::map<std::string, actions::PortValue>& ports) {
  Object object;
  for (const auto& [name, port] : ports) object[name] = actions::to_value(port);
  return Value(std::move(object));
}

Result<JobId> job_number(const Request& request) {
  const std::string& text = request.path_param("job");
  JobId id;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id.value);
  if (error != std::errc() || end != text.data() + text.size() || id.value < 1)
    return fail(Code::kNotFound, "no job '" + text + "'", "jobs are called by number: 41");
  return id;
}

Result<std::vector<JobState>> states_of(std::string_view text) {
  std::vector<JobState> states;
  std::istringstream words{std::string(text)};
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "open") {
      states.insert(states.end(), {JobState::kWaiting, JobState::kStarting, JobState::kRunning,
                                   JobState::kStopping});
      continue;
    }
    TAKT_ASSIGN(const JobState state, parse_job_state(word).transform_error([](Error error) {
      error.field = "state";
      return error;
    }));
    states.push_back(state);
  }
  return states;
}

Result<Submission> decode_submission(const Value& document) {
  Fields fields(document, "");
  const std::string kind = fields.text("kind", "Job");
  if (kind != "Job") fields.reject("kind", "must be Job, got " + kind);
  std::string name = fields.text("name", "");
  const Value& spec = fields.any("spec");
  if (spec.is_null()) fields.reject("spec", "required");
  Submission submission;
  submission.owner = fields.text("owner", "");
  TAKT_RETURN_IF_ERROR(fields.done());
  if (name.empty()) name = "job";
  TAKT_ASSIGN(submission.spec, parse_job_spec(name, spec));
  return submission;
}

Result<Response> submit_job(JobRoutes& r, Request& request) {
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kWrite>(request.caller, "job"));
  TAKT_ASSIGN(const Value document, request.json());
  TAKT_ASSIGN(const Submission submission, decode_submission(document));
  TAKT_ASSIGN(const Job job, r.station.service().submit(by, submission));
  return Response::json(job_to_value(job), 201);
}

Result<Response> reproduce_run(JobRoutes& r, Request& request) {
  const RunId run{request.path_param("run")};
  // What it makes is a job, which a job's own token may not.
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kWrite>(request.caller, "job"));
  Value changes{Object{}};
  if (!request.body.empty()) {
    TAKT_ASSIGN(changes, request.json());
  }
  TAKT_ASSIGN(const Job job, r.station.reproduce(by, run, changes));
  return Response::json(job_to_value(job), 201);
}

Result<Response> list_page(JobRoutes& r, Request& request) {
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kRead>(request.caller, "job"));
  JobFilter filter;
  TAKT_ASSIGN(filter.states, states_of(request.query_param("state")));
  const std::string_view kind = request.query_param("kind");
  if (!kind.empty()) {
    TAKT_ASSIGN(filter.kind, parse_job_kind(kind));
  }
  filter.text = request.query_param("q");
  TAKT_ASSIGN(const std::int64_t size, request.query_integer("page_size", limits::kPageSizeDefault,
                                                             1, limits::kPageSizeMax));
  TAKT_ASSIGN(filter.before, request.query_integer("page_token", 0, 0, INT64_MAX));
  filter.limit = static_cast<int>(size) + 1;
  TAKT_ASSIGN(std::vector<Job> jobs, r.station.service().list(by, filter));
  const bool has_more = static_cast<std::int64_t>(jobs.size()) > size;
  if (has_more) jobs.pop_back();
  Array items;
  for (const Job& job : jobs) items.push_back(job_to_value(job));
  Object page{{"items", std::move(items)}};
  if (has_more) page["next_page_token"] = std::to_string(jobs.back().id.value);
  return Response::json(Value(std::move(page)));
}

Result<Response> show_job(JobRoutes& r, Request& request) {
  TAKT_ASSIGN(const JobId id, job_number(request));
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kRead>(request.caller, ref_of(id).text()));
  TAKT_ASSIGN(const Job job, r.station.service().get(by, id));
  return Response::json(job_to_value(job));
}

Result<Response> cancel_job(JobRoutes& r, Request& request) {
  TAKT_ASSIGN(const JobId id, job_number(request));
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kWrite>(request.caller, ref_of(id).text()));
  std::int64_t grace_ms = kGraceMsDefault;
  if (!request.body.empty()) {
    TAKT_ASSIGN(const Value body, request.json());
    Fields fields(body, "");
    const std::string grace = fields.text("grace", "5s");
    TAKT_RETURN_IF_ERROR(fields.done());
    TAKT_ASSIGN(grace_ms, parse_duration_ms(grace));
    if (grace_ms > kGraceMsMax)
      return fail(Code::kInvalid,
                  "grace: must be at most " + format_duration_ms(kGraceMsMax) + ", got " + grace,
                  {}, "grace");
  }
  TAKT_ASSIGN(const Job job, r.station.service().cancel(by, id, grace_ms));
  return Response::json(job_to_value(job));
}

Response log_head(const LogChunk& chunk, int attempt) {
  Response response;
  response.headers.set("Content-Type", "text/plain; charset=utf-8");
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Takt-Log-Offset", std::to_string(chunk.offset));
  response.headers.set("Takt-Log-Size", std::to_string(chunk.size));
  response.headers.set("Takt-Log-Final", chunk.final ? "true" : "false");
  response.headers.set("Takt-Log-Attempt", std::to_string(attempt));
  return response;
}

// The rest of the log as it grows, until the attempt's end.
Response follow_log(JobRoutes& r, const access::CanRead& by, JobId id, int attempt,
                    const LogChunk& from) {
  Response response = log_head(from, attempt);
  FollowedLog log;
  log.path = r.station.log_path(id, attempt);
  log.offset = from.offset;
  log.has_ended = [&service = r.station.service(), by, id, attempt] {
    const Result<Job> job = service.get(by, id);
    if (!job) return true;
    if (is_final(job->state)) return true;
    const auto number = static_cast<std::size_t>(attempt);
    return job->attempts.size() >= number && is_final(job->attempts.at(number - 1).state);
  };
  response.body =
      net::PushBody([&follower = r.station.follower(), log](std::shared_ptr<net::StreamSink> sink) {
        follower.follow(log, std::move(sink));
      });
  return response;
}

Result<Response> send_log(JobRoutes& r, Request& request) {
  TAKT_ASSIGN(const JobId id, job_number(request));
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kRead>(request.caller, ref_of(id).text()));
  TAKT_ASSIGN(const std::int64_t attempt, request.query_integer("attempt", 0, 0, INT32_MAX));
  TAKT_ASSIGN(const std::int64_t from, request.query_integer("from", 0, INT64_MIN, INT64_MAX));
  TAKT_ASSIGN(const std::int64_t limit,
              request.query_integer("limit", kLogBytesDefault, 1, kLogBytesMaxPerAnswer));
  TAKT_ASSIGN(const std::int64_t follow, request.query_integer("follow", 0, 0, 1));
  TAKT_ASSIGN(const Job job, r.station.service().get(by, id));
  const int last = job.attempts.empty() ? 1 : job.attempts.back().number;
  const int number = attempt == 0 ? last : static_cast<int>(attempt);
  const int asked = job.attempts.empty() && attempt <= 1 ? 0 : number;
  TAKT_ASSIGN(LogChunk chunk,
              r.station.service().log(by, id, asked, from, follow == 1 ? 0 : limit));
  if (follow == 1) return follow_log(r, by, id, number, chunk);
  // Final means also: this answer reaches the end.
  chunk.final =
      chunk.final && chunk.offset + static_cast<std::int64_t>(chunk.bytes.size()) >= chunk.size;
  Response response = log_head(chunk, number);
  response.body = std::move(chunk.bytes);
  return response;
}

Result<Response> show_capacity(JobRoutes& r, Request& request) {
  TAKT_ASSIGN(const auto by, r.policy.check<Right::kRead>(request.caller, "capacity"));
  TAKT_ASSIGN(const CapacityUse use, r.station.service().capacity(by));
  const ExecutorFacts facts = r.station.executor().facts();
  Array warnings;
  for (const std::string& warning : facts.warnings) warnings.emplace_back(warning);
  return Response::json(Object{{"total", resources_value(use.total)},
                               {"reserved", resources_value(use.reserved)},
                               {"isolation", facts.isolation},
                               {"memory_cap", facts.memory_cap},
                               {"tree_kill", facts.tree_kill},
                               {"warnings", std::move(warnings)}});
}

}  // namespace

Value job_to_value(const Job& job) {
  Object object{{"number", job.id.value},
                {"ref", ref_of(job.id).text()},
                {"project", job.project.value},
                {"name", job.spec.name},
                {"kind", job_kind_name(job.spec.kind)},
                {"state", job_state_name(job.state)},
                {"priority", job.spec.priority},
                {"resources", resources_value(job.spec.resources)},
                {"submitted_by", job.submitted_by.value},
                {"spec", to_value(job.spec)},
                {"inputs", ports_value(job.inputs)},
                {"outputs", ports_value(job.outputs)}};
  if (!job.reason.empty()) object["reason"] = job.reason;
  if (!job.run.empty()) object["run"] = job.run.value;
  if (!job.owner.empty()) object["owner"] = job.owner;
  put_time(object, "submitted_at", job.submitted_ms);
  put_time(object, "started_at", job.started_ms);
  put_time(object, "ended_at", job.ended_ms);
  Array attempts;
  for (const Attempt& attempt : job.attempts) attempts.push_back(attempt_value(attempt));
  object["attempts"] = std::move(attempts);
  if (job.state == JobState::kFailed && !job.attempts.empty())
    object["failure"] = failure_class_name(job.attempts.back().failure);
  Object endpoints;
  for (const auto& [port, address] : job.endpoints) endpoints[port] = address;
  if (!endpoints.empty()) object["endpoints"] = std::move(endpoints);
  return Value(std::move(object));
}

void register_routes(net::Router& router, JobStation& station, access::Policy& policy) {
  const auto routes = std::make_shared<JobRoutes>(JobRoutes{station, policy});
  const auto add = [&](Method method, const char* pattern,
                       Result<Response> (*handler)(JobRoutes&, Request&)) {
    router.add(method, pattern,
               [routes, handler](Request& request) { return handler(*routes, request); });
  };
  add(Method::kPost, "/api/v1/jobs", &submit_job);
  add(Method::kGet, "/api/v1/jobs", &list_page);
  add(Method::kGet, "/api/v1/jobs/{job}", &show_job);
  add(Method::kPost, "/api/v1/jobs/{job}/cancel", &cancel_job);
  add(Method::kGet, "/api/v1/jobs/{job}/log", &send_log);
  add(Method::kPost, "/api/v1/runs/{run}/reproduce", &reproduce_run);
  add(Method::kGet, "/api/v1/capacity", &show_capacity);
}

}  // namespace takt::jobs
