// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/reproduce.h"

#include <charconv>

#include "takt/jobs/job_store.h"
#include "takt/store/lineage.h"
#include "takt/track/run_store.h"

namespace takt::jobs {
namespace {

Result<Job> job_of_run(store::Reader& reader, const ProjectId& project, const RunId& run) {
  TAKT_ASSIGN(const auto known, track::find_run_row(reader, project, run));
  if (!known) return fail(Code::kNotFound, "no run " + run.value, "see `takt runs ls`", "run");
  TAKT_ASSIGN(const auto edges, store::edges_from(reader, project, ref_of(run)));
  for (const store::Edge& edge : edges) {
    if (edge.relation != "came-from" || edge.to.kind != "job") continue;
    const std::string& path = edge.to.path;
    JobId id;
    std::from_chars(path.data(), path.data() + path.size(), id.value);
    TAKT_ASSIGN(Job job, get_job(reader, id));
    if (job.run == run && job.project == project) return job;
  }
  return fail(Code::kConflict,
              "run " + run.value + " was not made by a job: how to start it was not recorded",
              "submit the script with `takt submit`, then its runs can be reproduced");
}

/// Replaces whole members, but those of `params` and `inputs` one by one.
Status merge(const Value& changes, Value& spec) {
  Fields fields(changes, "");
  for (const char* key : {"params", "inputs"})
    for (const auto& [name, value] : fields.object(key)) spec[key][name] = value;
  for (const char* key : {"seed", "environment", "code"})
    if (const Value& value = fields.any(key); !value.is_null()) spec[key] = value;
  return fields.done();
}

}  // namespace

Result<Submission> reproduction_of(store::Reader& reader, const ProjectId& project,
                                   const RunId& run, const Value& changes) {
  TAKT_ASSIGN(Job job, job_of_run(reader, project, run));
  Value spec = to_value(job.spec);
  TAKT_RETURN_IF_ERROR(merge(changes, spec));
  Submission submission;
  submission.reproduces = run;
  TAKT_ASSIGN(submission.spec, parse_job_spec(job.spec.name, spec));
  // The versions that were used then, not what an alias or a bare name means today.
  submission.inputs = std::move(job.inputs);
  if (const Value& changed = changes["inputs"]; changed.is_object())
    for (const auto& [name, value] : changed.as_object()) submission.inputs.erase(name);
  return submission;
}

}  // namespace takt::jobs
