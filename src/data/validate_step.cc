// SPDX-License-Identifier: Apache-2.0
#include "takt/data/validate_step.h"

#include "takt/base/passing.h"
#include "takt/data/validation.h"

namespace takt::data {
namespace {

std::string key_of(const actions::StepRequest& request) {
  return request.node.text() + "#" + std::to_string(request.attempt);
}

}  // namespace

ValidateStep::ValidateStep(DatasetService& datasets, access::Policy& policy)
    : datasets_(datasets), policy_(policy), thread_([this] { run(); }) {}

ValidateStep::~ValidateStep() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

Result<actions::StepPorts> ValidateStep::describe(const actions::StepDefinition& definition) const {
  TAKT_RETURN_IF_ERROR(parse_rules(definition.with));
  actions::StepPorts ports;
  ports.inputs = {{"data", actions::PortKind::kDataset, true}};
  ports.outputs = {{"report", actions::PortKind::kReport, true}};
  return ports;
}

Status ValidateStep::start(const actions::StepRequest& request) {
  std::lock_guard lock(mutex_);
  if (results_.contains(key_of(request))) return {};
  for (const auto& queued : queue_)
    if (key_of(queued) == key_of(request)) return {};
  queue_.push_back(request);
  wake_.notify_all();
  return {};
}

Result<actions::StepProgress> ValidateStep::poll(const actions::StepRequest& request) {
  {
    std::lock_guard lock(mutex_);
    if (const auto done = results_.find(key_of(request)); done != results_.end()) {
      // Kept until the next start of a node, should the engine crash before it stores the result;
      // but what only the moment refused is tried again.
      auto result = done->second;
      if (!result && is_passing(result.error().code)) results_.erase(done);
      return result;
    }
  }
  TAKT_RETURN_IF_ERROR(start(request));
  return actions::StepProgress{};
}

Status ValidateStep::cancel(const actions::StepRequest& request) {
  std::lock_guard lock(mutex_);
  std::erase_if(queue_, [&](const auto& queued) { return key_of(queued) == key_of(request); });
  return {};
}

void ValidateStep::run() {
  constexpr std::size_t kResultsKept = 1000;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return !queue_.empty() || is_stopping_; });
    if (is_stopping_) return;
    const actions::StepRequest request = queue_.front();
    lock.unlock();
    auto result = validate(request);
    lock.lock();
    if (results_.size() >= kResultsKept) results_.clear();
    results_.insert_or_assign(key_of(request), std::move(result));
    if (!queue_.empty() && key_of(queue_.front()) == key_of(request)) queue_.pop_front();
  }
}

Result<actions::StepProgress> ValidateStep::validate(const actions::StepRequest& request) {
  const auto read = policy_.as_server<access::Right::kRead>(request.project, request.actor);
  const auto write = policy_.as_server<access::Right::kWrite>(request.project, request.actor);
  TAKT_ASSIGN(const std::vector<Rule> rules, parse_rules(request.definition.with));
  const auto input = request.inputs.find("data");
  if (input == request.inputs.end()) return fail(Code::kInvalid, "validate has no input `data`");
  TAKT_ASSIGN(const VersionSelector selector, parse_version_selector(input->second.ref.path));
  TAKT_ASSIGN(const DatasetVersion version, datasets_.get(read, selector.name, selector.number));
  TAKT_ASSIGN(const content::Manifest manifest, datasets_.files(read, version));
  std::int64_t rows = 0;
  bool has_table = false;
  std::string problem;
  for (const auto& file : manifest.entries) {
    const TableFormat format = table_format(file.path);
    if (format == TableFormat::kNone) continue;
    has_table = true;
    std::int64_t number = 0;
    const auto scan = TableScan::make(
        format, [&](const std::vector<std::string>& columns, const Cells& cells) -> Status {
          ++number;
          for (const Rule& rule : rules) rule.check->row(file.path, number, columns, cells);
          return {};
        });
    Status scanned;
    TAKT_RETURN_IF_ERROR(datasets_.read_file(read, file, [&](std::string_view bytes) -> Status {
      if (scanned) scanned = scan->feed(bytes);
      return {};
    }));
    if (scanned) scanned = scan->finish();
    if (!scanned && problem.empty()) problem = file.path + ": " + scanned.error().message;
    rows += number;
  }
  const Value report = make_report(rules, ref_of(version.id).text(), rows, has_table, problem);
  TAKT_RETURN_IF_ERROR(datasets_.save_checks(write, version.id, report));
  actions::StepProgress progress;
  progress.work = ref_of(version.id);
  if (report["passed"].as_bool()) {
    progress.state = actions::StepState::kDone;
    progress.outputs["report"] = {actions::PortKind::kReport, ref_of(version.id),
                                  sha256(dump_json(report)), report};
  } else {
    progress.state = actions::StepState::kFailed;
    progress.reason = ref_of(version.id).text() + " does not pass: " + failed_messages(report);
  }
  return progress;
}

}  // namespace takt::data
