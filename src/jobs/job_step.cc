// SPDX-License-Identifier: Apache-2.0
// The step "job": a pipeline node that is a job. `with` is the job's spec; outputs that only the
// node declares are added to it.
#include "takt/jobs/job_step.h"

namespace takt::jobs {
namespace {

using actions::PortKind;
using actions::StepDefinition;
using actions::StepPorts;
using actions::StepProgress;
using actions::StepRequest;
using actions::StepState;

std::string owner_of(const StepRequest& request) {
  return request.node.text() + "#" + std::to_string(request.attempt);
}

// A node's name may hold what a job's name may not; both follow check_name, so it is used as it is.
Result<JobSpec> spec_of(const StepDefinition& definition) {
  Value with = definition.with;
  // References were resolved by the engine and come as values; the spec may not name them again.
  if (with.is_object()) with.as_object().erase("inputs");
  TAKT_ASSIGN(JobSpec spec, parse_job_spec(definition.name, with));
  for (const auto& [name, port] : definition.outputs_declared) {
    bool is_known = false;
    for (const JobOutput& output : spec.outputs) is_known |= output.name == name;
    if (is_known) continue;
    JobOutput output{.name = name, .kind = port.kind};
    if (output.kind == PortKind::kDataset) output.dataset = name;
    spec.outputs.push_back(std::move(output));
  }
  return spec;
}

class JobStep final : public actions::StepRunner {
 public:
  JobStep(JobService& service, access::Policy& policy) : service_(service), policy_(policy) {}

  std::string_view action() const override { return "job"; }

  Result<StepPorts> describe(const StepDefinition& definition) const override {
    TAKT_ASSIGN(const JobSpec spec, spec_of(definition));
    StepPorts ports;
    ports.inputs_open = true;
    for (const JobOutput& output : spec.outputs)
      ports.outputs.push_back({output.name, output.kind, true});
    return ports;
  }

  Status start(const StepRequest& request) override {
    Submission submission;
    TAKT_ASSIGN(submission.spec, spec_of(request.definition));
    submission.owner = owner_of(request);
    submission.inputs = request.inputs;
    if (submission.spec.code.empty()) submission.spec.code = request.code;
    if (submission.spec.environment.empty()) submission.spec.environment = request.environment;
    if (submission.spec.experiment.empty()) submission.spec.experiment = request.experiment;
    const auto by = policy_.as_server<access::Right::kWrite>(request.project, request.actor);
    TAKT_RETURN_IF_ERROR(service_.submit(by, submission));
    return {};
  }

  Result<StepProgress> poll(const StepRequest& request) override {
    TAKT_ASSIGN(const std::optional<Job> job, find(request));
    StepProgress progress;
    if (!job) return fail(Code::kNotFound, "no job of " + owner_of(request) + " was submitted");
    progress.work = ref_of(job->id);
    progress.reason = job->reason;
    switch (job->state) {
      case JobState::kSucceeded:
        progress.state = StepState::kDone;
        progress.outputs = job->outputs;
        break;
      case JobState::kFailed:
      case JobState::kCancelled:
        progress.state = StepState::kFailed;
        progress.reason = "job " + std::to_string(job->id.value) + ": " + job->reason;
        break;
      default:
        break;
    }
    return progress;
  }

  Status cancel(const StepRequest& request) override {
    TAKT_ASSIGN(const std::optional<Job> job, find(request));
    if (!job) return {};
    const auto by = policy_.as_server<access::Right::kWrite>(request.project, request.actor);
    TAKT_RETURN_IF_ERROR(service_.cancel(by, job->id));
    return {};
  }

 private:
  Result<std::optional<Job>> find(const StepRequest& request) {
    const auto by = policy_.as_server<access::Right::kRead>(request.project, request.actor);
    return service_.find_by_owner(by, owner_of(request));
  }

  JobService& service_;
  access::Policy& policy_;
};

}  // namespace

std::unique_ptr<actions::StepRunner> make_job_step(JobService& service, access::Policy& policy) {
  return std::make_unique<JobStep>(service, policy);
}

}  // namespace takt::jobs
