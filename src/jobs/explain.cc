// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/explain.h"

#include <charconv>

#include "takt/base/units.h"
#include "takt/jobs/attempt_folder.h"
#include "takt/jobs/job_store.h"
#include "takt/jobs/log_file.h"
#include "takt/jobs/outcome.h"

namespace takt::jobs {
namespace {

constexpr std::size_t kLogLines = 20;
constexpr std::size_t kPiecesMax = 20;
constexpr int kStopsMax = 20;

std::string number_text(JobId id) { return std::to_string(id.value); }

std::string describe_request(const Job& job) {
  const Resources& r = job.spec.resources;
  std::string text =
      std::to_string(r.cpu_millicores) + "m CPU, " + format_bytes(r.memory_bytes) + " memory";
  if (r.gpus > 0) text += ", " + std::to_string(r.gpus) + " GPUs";
  return text;
}

std::string describe_attempt(const Attempt& attempt) {
  std::string text = "attempt " + std::to_string(attempt.number) + ": ";
  text += attempt.reason.empty() ? std::string(job_state_name(attempt.state)) : attempt.reason;
  if (attempt.started_ms > 0 && attempt.ended_ms > 0)
    text += " after " + format_duration_ms(attempt.ended_ms - attempt.started_ms) + " (" +
            format_duration_ms(attempt.cpu_ms) + " of CPU, at most " +
            format_bytes(attempt.memory_bytes_peak) + " of memory in one process)";
  return text;
}

void explain_waiting(const Job& job, UnixMs now, spine::Explanation& out) {
  out.lines.push_back(job.reason);
  out.lines.push_back("it asks for " + describe_request(job) + " at priority " +
                      std::to_string(job.spec.priority) + " and has waited " +
                      format_duration_ms(now - job.submitted_ms));
  for (const Attempt& attempt : job.attempts) out.lines.push_back(describe_attempt(attempt));
  out.next.push_back("takt jobs ls --state open");
  out.next.push_back("takt jobs cancel " + number_text(job.id));
}

void explain_failed(const Job& job, const std::vector<std::string>& log_tail,
                    spine::Explanation& out) {
  const FailureClass failure =
      job.attempts.empty() ? FailureClass::kNone : job.attempts.back().failure;
  out.lines.push_back(job.reason);
  out.lines.push_back("class: " + std::string(failure_class_name(failure)));
  for (const Attempt& attempt : job.attempts) out.lines.push_back(describe_attempt(attempt));
  if (job.spec.retries_max > 0)
    out.lines.push_back(std::to_string(job.retries_used) + " of " +
                        std::to_string(job.spec.retries_max) + " retries were used");
  if (log_tail.empty()) {
    out.lines.push_back("the log is empty");
  } else {
    out.lines.push_back("the log ends with:");
    for (const std::string& line : log_tail) out.lines.push_back("  " + line);
  }
  if (std::string step = next_step(failure, job.spec); !step.empty())
    out.next.push_back(std::move(step));
  out.next.push_back("takt jobs logs " + number_text(job.id));
}

void explain_running(const Job& job, UnixMs now, spine::Explanation& out) {
  const Attempt& attempt = job.attempts.back();
  if (job.state == JobState::kStarting)
    out.lines.push_back("its code and inputs are being laid out");
  if (job.state == JobState::kStopping)
    out.lines.push_back(job.reason + "; it has " + format_duration_ms(job.grace_ms) +
                        " to end by itself");
  if (job.state == JobState::kRunning && !job.reason.empty()) out.lines.push_back(job.reason);
  if (attempt.started_ms > 0)
    out.lines.push_back("attempt " + std::to_string(attempt.number) + " has run for " +
                        format_duration_ms(now - attempt.started_ms));
  out.lines.push_back("it holds " + describe_request(job));
  if (job.spec.timeout_ms > 0 && attempt.started_ms > 0)
    out.lines.push_back("its timeout of " + format_duration_ms(job.spec.timeout_ms) +
                        " strikes in " +
                        format_duration_ms(std::max<std::int64_t>(
                            attempt.started_ms + job.spec.timeout_ms - now, 0)));
  out.next.push_back("takt jobs logs --follow " + number_text(job.id));
}

class JobExplainer final : public spine::Explainer {
 public:
  explicit JobExplainer(ExplainParts parts) : parts_(std::move(parts)) {}

  std::vector<std::string> kinds() const override { return {"job"}; }

  Result<spine::Explanation> explain(const ProjectId& project, const Ref& ref) override {
    JobId id;
    const auto [end, error] =
        std::from_chars(ref.path.data(), ref.path.data() + ref.path.size(), id.value);
    if (error != std::errc() || end != ref.path.data() + ref.path.size())
      return fail(Code::kNotFound, "no job '" + ref.path + "'",
                  "jobs are called by number: job/41");
    const auto by = parts_.policy.as_server<access::Right::kRead>(project, UserId{"server"});
    TAKT_ASSIGN(const Job job, parts_.service.get(by, id));
    std::vector<std::string> tail;
    if (!job.attempts.empty())
      tail = last_log_lines(AttemptFolder(parts_.data_dir, id, job.attempts.back().number).log(),
                            kLogLines);
    return explain_job(job, tail, parts_.db.clock().now_ms());
  }

 private:
  const ExplainParts parts_;
};

class JobLineSource final : public spine::LineSource {
 public:
  explicit JobLineSource(ExplainParts parts) : parts_(std::move(parts)) {}

  Result<spine::LineCard> line_card(const ProjectId& project, std::int64_t since_ms) override {
    std::map<JobState, std::int64_t> counts;
    std::vector<Job> failed;
    TAKT_RETURN_IF_ERROR(parts_.db.read([&](store::Reader& reader) -> Status {
      TAKT_ASSIGN(counts, count_jobs(reader, project));
      TAKT_ASSIGN(failed, list_failed_jobs(reader, project, since_ms, kStopsMax));
      return {};
    }));
    const auto by = parts_.policy.as_server<access::Right::kRead>(project, UserId{"server"});
    JobFilter open;
    open.states = {JobState::kWaiting, JobState::kStarting, JobState::kRunning,
                   JobState::kStopping};
    TAKT_ASSIGN(const std::vector<Job> moving, parts_.service.list(by, open));
    return card_of(counts, failed, moving);
  }

 private:
  static spine::LineCard card_of(const std::map<JobState, std::int64_t>& counts,
                                 const std::vector<Job>& failed, const std::vector<Job>& open) {
    spine::LineCard card;
    card.station = "jobs";
    for (const auto& [state, count] : counts) card.total += count;
    for (const Job& job : open) {
      if (card.pieces.size() < kPiecesMax) card.pieces.push_back(ref_of(job.id));
      if (job.state == JobState::kWaiting && card.stops.size() < kPiecesMax)
        card.stops.push_back({"waiting", ref_of(job.id), job.spec.name + ": " + job.reason,
                              "takt why job/" + number_text(job.id), job.submitted_ms});
    }
    for (const Job& job : failed)
      card.stops.push_back({"failed", ref_of(job.id), job.spec.name + ": " + job.reason,
                            "takt why job/" + number_text(job.id), job.ended_ms});
    // Counted in the rows: of open jobs only the newest are at hand.
    const auto count_of = [&counts](JobState state) {
      const auto found = counts.find(state);
      return found == counts.end() ? 0 : found->second;
    };
    card.moving = count_of(JobState::kStarting) + count_of(JobState::kRunning) +
                  count_of(JobState::kStopping);
    card.lines.push_back(std::to_string(card.moving) + " running, " +
                         std::to_string(count_of(JobState::kWaiting)) + " waiting");
    card.lines.push_back(std::to_string(count_of(JobState::kSucceeded)) + " succeeded, " +
                         std::to_string(count_of(JobState::kFailed)) + " failed");
    return card;
  }

  const ExplainParts parts_;
};

}  // namespace

spine::Explanation explain_job(const Job& job, const std::vector<std::string>& log_tail,
                               UnixMs now) {
  spine::Explanation out;
  const std::string name = "job " + number_text(job.id) + " (" + job.spec.name + ")";
  out.state = job_state_name(job.state);
  out.facts["state"] = out.state;
  out.facts["priority"] = job.spec.priority;
  out.facts["submitted_by"] = job.submitted_by.value;
  if (!job.run.empty()) out.facts["run"] = job.run.value;
  switch (job.state) {
    case JobState::kWaiting:
      out.title = name + " waits";
      explain_waiting(job, now, out);
      break;
    case JobState::kStarting:
    case JobState::kRunning:
    case JobState::kStopping:
      out.title = name + " is " + out.state;
      explain_running(job, now, out);
      break;
    case JobState::kSucceeded:
      out.title = name + " succeeded";
      for (const Attempt& attempt : job.attempts) out.lines.push_back(describe_attempt(attempt));
      for (const auto& [output, port] : job.outputs)
        out.lines.push_back(output + ": " + port.ref.text());
      break;
    case JobState::kFailed:
      out.title = name + " failed";
      out.facts["failure"] = failure_class_name(job.attempts.empty() ? FailureClass::kNone
                                                                     : job.attempts.back().failure);
      explain_failed(job, log_tail, out);
      break;
    case JobState::kCancelled:
      out.title = name + " was cancelled";
      out.lines.push_back(job.reason);
      break;
  }
  return out;
}

std::shared_ptr<spine::Explainer> make_job_explainer(ExplainParts parts) {
  return std::make_shared<JobExplainer>(std::move(parts));
}

std::shared_ptr<spine::LineSource> make_job_line_source(ExplainParts parts) {
  return std::make_shared<JobLineSource>(std::move(parts));
}

}  // namespace takt::jobs
