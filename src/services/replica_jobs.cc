// SPDX-License-Identifier: Apache-2.0
#include "takt/services/replica_jobs.h"

#include <cstdlib>

namespace takt::services {
namespace {

using access::Right;

constexpr int kReplicaPriority = 7;  // before training, after what people hurry
constexpr int kGatewayPriority = 9;
constexpr std::int64_t kStopGraceMs = 35'000;  // infer and the gateway drain for at most 30 s
constexpr std::int64_t kLastWordsBytes = 4'096;

std::string owner_of(const ReplicaRow& replica) {
  if (replica.service.empty()) return "gateway#" + std::to_string(replica.generation);
  return revision_ref(replica.service, replica.revision).text() + "#replica-" +
         std::to_string(replica.slot) + "#" + std::to_string(replica.generation);
}

/// The inference library that the server was told to use.
void pass_runtime(jobs::JobSpec& spec) {
  if (const char* runtime = std::getenv("TAKT_ONNXRUNTIME")) spec.env["TAKT_ONNXRUNTIME"] = runtime;
}

std::string error_of_log_line(const std::string& line) {
  const auto json = parse_json(line);
  if (!json || !json->is_object()) return line;
  return json->text_or("error", json->text_or("message", line));
}

}  // namespace

ProjectId gateway_project() { return ProjectId{"default"}; }
UserId system_user() { return UserId{"takt"}; }

Result<JobId> ReplicaJobs::submit(const ServiceRow& service, const RevisionRow& revision,
                                  const ReplicaRow& replica) {
  const ServiceSpec& wanted = revision.spec;
  jobs::Submission submission;
  jobs::JobSpec& spec = submission.spec;
  spec.name =
      service.name + "-r" + std::to_string(revision.number) + "-" + std::to_string(replica.slot);
  spec.kind = jobs::JobKind::kReplica;
  spec.command = {options_.takt_binary.string(),
                  "infer",
                  "--model-dir",
                  "${TAKT_INPUT_MODEL}",
                  "--model-name",
                  service.name,
                  "--model-version",
                  std::to_string(revision.model.number),
                  "--http-port",
                  "0",
                  "--grpc-port",
                  "0",
                  "--max-batch-size",
                  std::to_string(wanted.batch_rows_max),
                  "--max-delay-us",
                  std::to_string(wanted.batch_delay_us),
                  "--ports-dir",
                  "${TAKT_PORTS_DIR}"};
  spec.inputs = {{"model", actions::PortKind::kModelVersion, revision.model.text()}};
  spec.resources = {wanted.cpu_millicores, wanted.memory_bytes, 0};
  spec.ports = {"http", "grpc"};
  spec.priority = kReplicaPriority;
  pass_runtime(spec);
  submission.inputs["model"] = {
      actions::PortKind::kModelVersion, ref_of(revision.model), revision.tree, {}};
  submission.owner = owner_of(replica);
  const auto by = policy_.as_server<Right::kWrite>(service.project, revision.created_by);
  TAKT_ASSIGN(const jobs::Job job, jobs_.submit(by, submission));
  return job.id;
}

Result<JobId> ReplicaJobs::submit_gateway(const ReplicaRow& replica) {
  jobs::Submission submission;
  jobs::JobSpec& spec = submission.spec;
  spec.name = "gateway";
  spec.kind = jobs::JobKind::kGateway;
  spec.command = {options_.takt_binary.string(),
                  "gateway",
                  "--folder",
                  options_.gateway_folder.string(),
                  "--http",
                  options_.gateway_http,
                  "--grpc",
                  options_.gateway_grpc};
  spec.resources = {50, 64 << 20, 0};
  spec.limit_memory_bytes = 2ll << 30;  // bodies of requests in flight
  spec.ports = {"http", "grpc"};
  spec.priority = kGatewayPriority;
  submission.owner = owner_of(replica);
  TAKT_ASSIGN(
      const jobs::Job job,
      jobs_.submit(policy_.as_server<Right::kWrite>(gateway_project(), system_user()), submission));
  return job.id;
}

Result<ReplicaJob> ReplicaJobs::find(const ProjectId& project, JobId id) {
  const auto found = jobs_.get(policy_.as_server<Right::kRead>(project, system_user()), id);
  if (!found && found.error().code == Code::kNotFound)
    return ReplicaJob{.is_final = true, .reason = "its job is gone"};
  if (!found) return fail(found.error());
  const jobs::Job& job = *found;
  ReplicaJob facts;
  facts.is_final = jobs::is_final(job.state);
  facts.is_running = job.state == jobs::JobState::kRunning;
  facts.is_stopping = job.state == jobs::JobState::kStopping || job.cancel_ms > 0;
  facts.reason = job.reason;
  facts.started_ms = job.started_ms;
  facts.ended_ms = job.ended_ms;
  if (const auto http = job.endpoints.find("http"); http != job.endpoints.end())
    facts.http = http->second;
  if (const auto grpc = job.endpoints.find("grpc"); grpc != job.endpoints.end())
    facts.grpc = grpc->second;
  return facts;
}

Status ReplicaJobs::cancel(const ProjectId& project, JobId job) {
  const auto cancelled =
      jobs_.cancel(policy_.as_server<Right::kWrite>(project, system_user()), job, kStopGraceMs);
  if (!cancelled && cancelled.error().code != Code::kNotFound) return fail(cancelled.error());
  return {};
}

Status ReplicaJobs::cancel_unrecorded(const ProjectId& project, const ReplicaRow& replica) {
  TAKT_ASSIGN(const auto job,
              jobs_.find_by_owner(policy_.as_server<Right::kRead>(project, system_user()),
                                  owner_of(replica)));
  if (!job || jobs::is_final(job->state)) return {};
  return cancel(project, job->id);
}

std::string ReplicaJobs::last_words(const ProjectId& project, JobId job) {
  if (job.value == 0) return {};
  const auto log = jobs_.log(policy_.as_server<Right::kRead>(project, system_user()), job, 0,
                             -kLastWordsBytes, kLastWordsBytes);
  if (!log) return {};
  std::string_view text = log->bytes;
  while (text.ends_with('\n')) text.remove_suffix(1);
  const auto start = text.rfind('\n');
  return error_of_log_line(
      std::string(start == std::string_view::npos ? text : text.substr(start + 1)));
}

}  // namespace takt::services
