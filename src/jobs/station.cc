// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/station.h"

#include "takt/base/log.h"
#include "takt/jobs/attempt_folder.h"
#include "takt/jobs/explain.h"
#include "takt/jobs/job_step.h"
#include "takt/jobs/leftovers.h"
#include "takt/jobs/reproduce.h"
#include "takt/jobs/service.h"
#include "takt/jobs/workspace.h"

namespace takt::jobs {

// Members end in the reverse of their order: side tasks before the dispatcher they report to.
struct JobStation::Impl {
  Impl(StationParts p, StationOptions o, std::unique_ptr<Executor> e)
      : parts(p),
        options(std::move(o)),
        data_dir(options.executor.data_dir),
        executor(std::move(e)),
        workspace(
            make_disk_workspace(data_dir, options.server_url, {p.blobs, p.datasets, p.access})) {}

  ExplainParts explain_parts() { return {parts.db, *service, parts.access, data_dir}; }

  StationParts parts;
  StationOptions options;
  std::filesystem::path data_dir;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<JobService> service;
  LogFollower follower;
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<Aside> aside;
};

Result<std::unique_ptr<JobStation>> JobStation::open(StationParts parts, StationOptions options) {
  std::error_code error;
  options.executor.data_dir = std::filesystem::canonical(options.executor.data_dir, error);
  if (error) return fail(errno_error("opening the data folder", error.value()));
  TAKT_ASSIGN(std::unique_ptr<Executor> executor, open_local_executor(options.executor));
  for (const std::string& warning : executor->facts().warnings)
    log_warn("jobs are not kept apart fully", {{"why", warning}});
  auto impl = std::make_unique<Impl>(parts, std::move(options), std::move(executor));
  impl->aside = make_thread_aside(impl->options.side_threads);
  impl->dispatcher = std::make_unique<Dispatcher>(
      DispatcherParts{parts.db, *impl->executor, *impl->workspace, *impl->aside},
      impl->options.dispatcher);
  Dispatcher& dispatcher = *impl->dispatcher;
  impl->service =
      make_job_service({parts.db, parts.blobs, parts.registry, *impl->executor, impl->data_dir,
                        [&dispatcher] { dispatcher.wake(); },
                        [&dispatcher](JobId id) { return dispatcher.wait_reason(id); }});
  return std::unique_ptr<JobStation>(new JobStation(std::move(impl)));
}

JobStation::JobStation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

JobStation::~JobStation() { stop(); }

JobService& JobStation::service() { return *impl_->service; }
Executor& JobStation::executor() { return *impl_->executor; }
LogFollower& JobStation::follower() { return impl_->follower; }

std::filesystem::path JobStation::log_path(JobId job, int attempt) const {
  return AttemptFolder(impl_->data_dir, job, attempt).log();
}

void JobStation::start() {
  impl_->dispatcher->start();
  impl_->aside->run([impl = impl_.get()] {
    discard_leftovers(impl->parts.db, *impl->workspace, impl->data_dir);
  });
}

Result<Job> JobStation::reproduce(const access::CanWrite& by, const RunId& run,
                                  const Value& changes) {
  Submission submission;
  TAKT_RETURN_IF_ERROR(impl_->parts.db.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(submission, reproduction_of(reader, by.project(), run, changes));
    return {};
  }));
  return service().submit(by, submission);
}

void JobStation::stop() { impl_->dispatcher->stop(); }

std::unique_ptr<actions::StepRunner> JobStation::make_step() {
  return make_job_step(*impl_->service, impl_->parts.access);
}
std::shared_ptr<spine::Explainer> JobStation::make_explainer() {
  return make_job_explainer(impl_->explain_parts());
}
std::shared_ptr<spine::LineSource> JobStation::make_line_source() {
  return make_job_line_source(impl_->explain_parts());
}

}  // namespace takt::jobs
