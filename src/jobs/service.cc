// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/service.h"

#include <algorithm>

#include "takt/base/digest.h"
#include "takt/jobs/job_store.h"
#include "takt/jobs/log_file.h"
#include "takt/jobs/metrics.h"
#include "takt/jobs/plan.h"
#include "takt/jobs/transitions.h"

namespace takt::jobs {
namespace {

constexpr std::int64_t kLogBytesMax = 8 << 20;
constexpr std::size_t kOwnerBytesMax = 512;

using actions::PortKind;

Error at_field(Error error, std::string field) {
  error.field = std::move(field);
  return error;
}

class StoredJobService final : public JobService {
 public:
  explicit StoredJobService(ServiceParts parts) : parts_(std::move(parts)) {}

  Result<Job> submit(const access::CanWrite& by, const Submission& submission) override {
    if (submission.owner.size() > kOwnerBytesMax)
      return fail(Code::kTooLarge,
                  "owner is longer than " + std::to_string(kOwnerBytesMax) + " bytes");
    TAKT_ASSIGN(std::optional<Job> existing, find_owned(by.project(), submission.owner));
    if (existing) return with_present(std::move(*existing));
    Job job;
    job.project = by.project();
    job.spec = submission.spec;
    job.submitted_by = by.user();
    job.owner = submission.owner;
    job.inputs = submission.inputs;
    job.reproduces = submission.reproduces;
    TAKT_RETURN_IF_ERROR(check(job));
    TAKT_RETURN_IF_ERROR(resolve_inputs(job));
    if (!is_endless(job.spec.kind)) job.run.value = random_hex(16);
    bool is_new = false;
    const Status written = parts_.db.write([&](store::Tx& tx) -> Status {
      TAKT_ASSIGN(const auto owned, find_job_by_owner(tx, job.project, job.owner));
      is_new = !owned;
      if (!owned) return write_submitted(tx, job);
      job.id = *owned;
      return {};
    });
    TAKT_RETURN_IF_ERROR(written);
    if (is_new) count_submission();
    parts_.wake();
    return load(job.project, job.id);
  }

  Result<Job> get(const access::CanRead& by, JobId id) override {
    TAKT_ASSIGN(Job job, load(by.project(), id));
    return job;
  }

  Result<std::optional<Job>> find_by_owner(const access::CanRead& by,
                                           std::string_view owner) override {
    TAKT_ASSIGN(std::optional<Job> job, find_owned(by.project(), std::string(owner)));
    if (job) job = with_present(std::move(*job));
    return job;
  }

  Result<std::vector<Job>> list(const access::CanRead& by, const JobFilter& filter) override {
    std::vector<Job> jobs;
    TAKT_RETURN_IF_ERROR(parts_.db.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(jobs, list_jobs(reader, by.project(), filter));
      return {};
    }));
    for (Job& job : jobs) job = with_present(std::move(job));
    return jobs;
  }

  Result<Job> cancel(const access::CanWrite& by, JobId id, std::int64_t grace_ms) override {
    Job job;
    TAKT_RETURN_IF_ERROR(parts_.db.write([&](store::Tx& tx) -> Status {
      TAKT_ASSIGN(job, write_cancel(tx, by.project(), id, by.user(), grace_ms));
      return {};
    }));
    parts_.wake();
    return job;
  }

  Result<LogChunk> log(const access::CanRead& by, JobId id, int attempt, std::int64_t offset,
                       std::int64_t bytes_max) override {
    TAKT_ASSIGN(const Job job, load(by.project(), id));
    const int last = job.attempts.empty() ? 0 : job.attempts.back().number;
    const int number = attempt == 0 ? std::max(last, 1) : attempt;
    if (attempt > last)
      return fail(Code::kNotFound, "job " + std::to_string(id.value) + " has no attempt " +
                                       std::to_string(attempt) + "; it has had " +
                                       std::to_string(last));
    // The state was read before the bytes are: once it is final, they are all there.
    const bool is_over =
        last == 0 ? is_final(job.state)
                  : is_final(job.attempts.at(static_cast<std::size_t>(number) - 1).state);
    const AttemptFolder folder(parts_.data_dir, id, number);
    TAKT_ASSIGN(LogBytes bytes, read_log(folder.log(), offset,
                                         std::clamp<std::int64_t>(bytes_max, 0, kLogBytesMax)));
    return LogChunk{std::move(bytes.bytes), bytes.offset, bytes.size, is_over};
  }

  Result<CapacityUse> capacity(const access::CanRead&) override {
    std::vector<PlacedJob> placed;
    TAKT_RETURN_IF_ERROR(parts_.db.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const std::vector<OpenJob> open, list_placed_jobs(reader));
      for (const OpenJob& job : open) placed.push_back({job.id, job.resources});
      return {};
    }));
    return CapacityUse{parts_.executor.capacity(), sum(placed)};
  }

 private:
  Status check(const Job& job) {
    if (job.spec.command.empty())
      return fail(Code::kInvalid, "spec.command: required", {}, "spec.command");
    TAKT_RETURN_IF_ERROR(check_fits(job.spec.resources, parts_.executor.capacity()));
    if (!job.spec.code.empty()) {
      const auto tree = parts_.blobs.read_tree(job.project, job.spec.code);
      if (!tree && tree.error().code == Code::kNotFound)
        return fail(Code::kInvalid,
                    "spec.code: the code snapshot " + job.spec.code.value.substr(0, 12) +
                        " is not in the store",
                    "upload it first, as takt submit does", "spec.code");
      if (!tree) return fail(at_field(tree.error(), "spec.code"));
    }
    return {};
  }

  Status resolve_inputs(Job& job) {
    for (const JobInput& input : job.spec.inputs) {
      if (job.inputs.contains(input.name)) continue;
      Result<actions::PortValue> port = resolve(job.project, input);
      if (!port) return fail(at_field(port.error(), "spec.inputs." + input.name));
      job.inputs.emplace(input.name, std::move(*port));
    }
    return {};
  }

  Result<actions::PortValue> resolve(const ProjectId& project, const JobInput& input) {
    if (input.kind != PortKind::kArtifact)
      return parts_.registry.resolve(project, input.kind, input.reference);
    if (!is_digest(input.reference))
      return fail(Code::kInvalid, "'" + input.reference + "' is not the digest of an artifact");
    const Digest tree{input.reference};
    TAKT_RETURN_IF_ERROR(parts_.blobs.read_tree(project, tree));
    return actions::PortValue{PortKind::kArtifact, Ref{"artifact", tree.value}, tree, {}};
  }

  Result<std::optional<Job>> find_owned(const ProjectId& project, const std::string& owner) {
    std::optional<Job> found;
    if (owner.empty()) return found;
    TAKT_RETURN_IF_ERROR(parts_.db.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(const auto id, find_job_by_owner(reader, project, owner));
      if (!id) return {};
      TAKT_ASSIGN(found, get_job(reader, *id));
      return {};
    }));
    return found;
  }

  Result<Job> load(const ProjectId& project, JobId id) {
    Job job;
    TAKT_RETURN_IF_ERROR(parts_.db.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(job, get_job(reader, id));
      return {};
    }));
    if (job.project != project)
      return fail(Code::kNotFound, job_missing_text(id), "takt jobs ls shows the jobs there are");
    return with_present(std::move(job));
  }

  // Adds what is true now and stands in no row: why it waits, where it listens.
  Job with_present(Job job) {
    if (job.state == JobState::kWaiting) {
      job.reason = parts_.wait_reason(job.id);
      if (job.reason.empty()) job.reason = "the queue has not looked at it yet";
    }
    if (job.state == JobState::kRunning) {
      if (std::string stuck = parts_.wait_reason(job.id); !stuck.empty()) job.reason = stuck;
    }
    if (job.state == JobState::kRunning && !job.spec.ports.empty() && !job.attempts.empty()) {
      const Attempt& last = job.attempts.back();
      job.endpoints = parts_.executor.endpoints({job.id, last.number, last.token}, job.spec.ports);
    }
    return job;
  }

  const ServiceParts parts_;
};

}  // namespace

std::unique_ptr<JobService> make_job_service(ServiceParts parts) {
  return std::make_unique<StoredJobService>(std::move(parts));
}

}  // namespace takt::jobs
