// SPDX-License-Identifier: Apache-2.0
// Workspace on the server's disk, below DATA/jobs.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "takt/base/digest.h"
#include "takt/base/file.h"
#include "takt/base/safe_path.h"
#include "takt/base/units.h"
#include "takt/jobs/environment.h"
#include "takt/jobs/outcome.h"
#include "takt/jobs/workspace.h"

namespace takt::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kJsonOutputBytesMax = 1 << 20;
constexpr std::size_t kLockBytesMax = 8 << 20;
constexpr std::int64_t kTokenSpareMs = 3'600'000;
constexpr std::int64_t kTokenMsWithoutTimeout = 30ll * 24 * 3'600'000;

using actions::PortKind;

// For what a crash makes worthless: an attempt that was being laid out is laid out anew.
Status write_plainly(const fs::path& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0444));
  if (!file) return fail(errno_error("creating " + path.string(), errno));
  return write_all(file.get(), text);
}

std::unexpected<Error> output_fault(const std::string& name, const std::string& text,
                                    std::string hint = {}) {
  return fail(Code::kInvalid, "output '" + name + "' " + text, std::move(hint));
}

Result<std::string> read_json_output(const fs::path& outputs, const std::string& name) {
  TAKT_ASSIGN(const SafeRoot root, SafeRoot::open(outputs));
  TAKT_ASSIGN(const SafePath path, root.resolve(name + ".json"));
  const Result<Fd> file = path.open_read();
  if (!file)
    return output_fault(name, "was not written",
                        "write a JSON object to the file TAKT_OUTPUT_" + variable_name(name));
  std::string text(kJsonOutputBytesMax + 1, '\0');
  std::size_t used = 0;
  while (used < text.size()) {
    const ssize_t got = ::read(file->get(), text.data() + used, text.size() - used);
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  if (used > kJsonOutputBytesMax)
    return output_fault(name, "is larger than the limit of " + format_bytes(kJsonOutputBytesMax),
                        "declare it as an artifact");
  text.resize(used);
  return text;
}

// The folder belongs to the job's user: what it put in place of it may be a link to anywhere.
Status check_output_folder(const std::string& name, const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  const bool is_folder = fs::is_directory(status);
  if (fs::exists(status) && !is_folder)
    return output_fault(name, "is not a folder",
                        "write files into the folder TAKT_OUTPUT_" + variable_name(name));
  if (!is_folder || fs::is_empty(path, error))
    return output_fault(name, "was not written",
                        "write files into the folder TAKT_OUTPUT_" + variable_name(name));
  return {};
}

class DiskWorkspace final : public Workspace {
 public:
  DiskWorkspace(fs::path data_dir, std::string server_url, WorkspaceParts parts)
      : data_dir_(std::move(data_dir)), server_url_(std::move(server_url)), parts_(parts) {}

  Result<Launch> prepare(const Job& submitted, const Attempt& attempt) override {
    Job job = submitted;
    if (job.spec.python.empty() && !job.spec.environment.empty()) {
      TAKT_ASSIGN(job.spec.python, interpreter_of(job.project, job.spec.environment));
    }
    Launch launch;
    launch.lease = {job.id, attempt.number, attempt.token};
    launch.kind = job.spec.kind;
    launch.folder = AttemptFolder(data_dir_, job.id, attempt.number);
    TAKT_RETURN_IF_ERROR(make_folders(job, launch.folder));
    TAKT_RETURN_IF_ERROR(lay_out(job, launch.folder));
    EnvironmentFacts facts{server_url_, {}};
    if (!is_endless(job.spec.kind)) {
      const std::int64_t ttl_ms =
          job.spec.timeout_ms > 0 ? job.spec.timeout_ms + kTokenSpareMs : kTokenMsWithoutTimeout;
      TAKT_ASSIGN(facts.token, parts_.access.job_token(job.project, job.submitted_by, job.id,
                                                       attempt.number, ttl_ms));
    }
    launch.environment = build_environment(job, attempt, launch.folder, facts);
    launch.command = build_command(job.spec, launch.environment);
    launch.python = job.spec.python;
    launch.resources = job.spec.resources;
    launch.limit_cpu_millicores = job.spec.limit_cpu_millicores;
    launch.limit_memory_bytes = memory_cap_of(job.spec);
    launch.timeout_ms = job.spec.timeout_ms;
    return launch;
  }

  Result<Collected> collect(const Job& job, const Attempt& attempt) override {
    const AttemptFolder folder(data_dir_, job.id, attempt.number);
    Collected collected;
    for (const JobOutput& output : job.spec.outputs) {
      TAKT_ASSIGN(CollectedOutput one, output.kind == PortKind::kJson
                                           ? collect_json(job, output, folder, collected.metrics)
                                           : collect_tree(job, output, folder));
      collected.outputs.emplace(output.name, std::move(one));
    }
    return collected;
  }

  void discard(const Job& job, const Attempt& attempt, bool is_last) override {
    const AttemptFolder folder(data_dir_, job.id, attempt.number);
    // The work folder goes last: while it is there, a server that was killed here begins anew.
    if (is_last && !is_endless(job.spec.kind)) (void)parts_.access.end_job_tokens(job.id);
    if (is_last) (void)remove_tree(folder.checkpoint());
    for (const fs::path& path : {folder.inputs(), folder.outputs(), folder.home(), folder.tmp(),
                                 folder.ports(), folder.work()})
      (void)remove_tree(path);
  }

 private:
  // The interpreter that the environment's lock was taken from.
  Result<std::string> interpreter_of(const ProjectId& project, const Digest& lock) {
    TAKT_ASSIGN(const std::string text,
                parts_.blobs.read_bytes(project, lock, kLockBytesMax)
                    .transform_error(while_("reading the environment's lock")));
    const Result<Value> json = parse_json(text);
    if (!json) return std::string();  // a lock of another tool: nothing to learn from it
    const Value& python = (*json)["python"];
    const std::string path =
        python.is_string() ? python.as_string() : python.text_or("executable", "");
    return path.starts_with('/') ? path : std::string();
  }

  Status make_folders(const Job& job, const AttemptFolder& folder) const {
    // A try before this one may have been interrupted here; nothing runs in the folder yet.
    for (const fs::path& path : {folder.work(), folder.inputs(), folder.outputs()})
      TAKT_RETURN_IF_ERROR(remove_tree(path));
    for (const fs::path& path : {folder.checkpoint(), folder.inputs(), folder.outputs(),
                                 folder.home(), folder.tmp(), folder.ports()})
      TAKT_RETURN_IF_ERROR(make_dirs(path));
    for (const JobOutput& output : job.spec.outputs)
      if (output.kind != PortKind::kJson)
        TAKT_RETURN_IF_ERROR(make_dirs(output_path(folder, output.name, output.kind)));
    return {};
  }

  Status lay_out(const Job& job, const AttemptFolder& folder) {
    if (job.spec.code.empty())
      TAKT_RETURN_IF_ERROR(make_dirs(folder.work()));
    else
      TAKT_RETURN_IF_ERROR(parts_.blobs.checkout(job.project, job.spec.code, folder.work(), false)
                               .transform_error(while_("laying out the code")));
    for (const auto& [name, port] : job.inputs) {
      const fs::path path = input_path(folder, name, port.kind);
      if (port.kind == PortKind::kJson || port.kind == PortKind::kReport) {
        TAKT_RETURN_IF_ERROR(write_plainly(path, dump_json(port.json) + "\n"));
        continue;
      }
      TAKT_RETURN_IF_ERROR(parts_.blobs.checkout(job.project, port.digest, path, true)
                               .transform_error(while_("laying out input '" + name + "'")));
    }
    Object params;
    for (const auto& [name, value] : job.spec.params) params.emplace(name, value);
    return write_plainly(folder.params(), dump_json(Value(std::move(params))) + "\n");
  }

  Result<CollectedOutput> collect_json(const Job& job, const JobOutput& output,
                                       const AttemptFolder& folder,
                                       std::map<std::string, double>& metrics) {
    TAKT_ASSIGN(const std::string text, read_json_output(folder.outputs(), output.name));
    const Result<Value> json = parse_json(text);
    if (!json) return output_fault(output.name, "is not JSON: " + json.error().message);
    TAKT_ASSIGN(const Digest digest, parts_.blobs.add_bytes(job.project, text));
    if (json->is_object())
      for (const auto& [name, value] : json->as_object())
        if (value.is_number() && std::isfinite(value.as_number()))
          metrics[name] = value.as_number();
    CollectedOutput collected;
    collected.port = {PortKind::kJson, Ref{"artifact", digest.value}, digest, *json};
    return collected;
  }

  Result<CollectedOutput> collect_tree(const Job& job, const JobOutput& output,
                                       const AttemptFolder& folder) {
    const fs::path path = output_path(folder, output.name, output.kind);
    TAKT_RETURN_IF_ERROR(check_output_folder(output.name, path));
    TAKT_ASSIGN(const Digest tree,
                parts_.blobs.add_folder(job.project, path)
                    .transform_error(while_("storing output '" + output.name + "'")));
    CollectedOutput collected;
    TAKT_ASSIGN(collected.tree, parts_.blobs.read_tree(job.project, tree));
    collected.port = {output.kind, Ref{"artifact", tree.value}, tree, {}};
    if (output.kind != PortKind::kDataset) {
      collected.is_artifact = true;
      if (!job.run.empty())
        collected.port.json = Object{{"run", job.run.value}, {"path", output.name}};
      return collected;
    }
    const auto by = parts_.access.as_server<access::Right::kWrite>(job.project, job.submitted_by);
    const std::string note = "output '" + output.name + "' of " + job.spec.name;
    TAKT_ASSIGN(const data::DatasetService::Added added,
                parts_.datasets.add_version(by, output.dataset, tree, ref_of(job.id), note));
    collected.port.ref = ref_of(added.version.id);
    collected.is_made_here = added.created || added.version.made_by == ref_of(job.id);
    return collected;
  }

  const fs::path data_dir_;
  const std::string server_url_;
  const WorkspaceParts parts_;
};

}  // namespace

std::unique_ptr<Workspace> make_disk_workspace(fs::path data_dir, std::string server_url,
                                               WorkspaceParts parts) {
  return std::make_unique<DiskWorkspace>(std::move(data_dir), std::move(server_url), parts);
}

}  // namespace takt::jobs
