// SPDX-License-Identifier: Apache-2.0
#include "takt/models/register_step.h"

#include "takt/models/checks.h"
#include "takt/models/gate_store.h"
#include "takt/store/lineage.h"
#include "takt/track/artifact_store.h"
#include "takt/track/run_store.h"

namespace takt::models {
namespace {

struct RegisterOptions {
  std::string model, alias, description;
};

Result<RegisterOptions> parse_options(const Value& with) {
  Fields fields(with, "with");
  RegisterOptions options;
  options.model = fields.text("model");
  options.alias = fields.text("alias", "");
  options.description = fields.text("description", "");
  // A name that a parameter fills in later is checked when it runs.
  const bool is_open = options.model.find("${") != std::string::npos;
  if (!options.model.empty() && !is_open)
    if (const Status named = check_name("model name", options.model); !named)
      fields.reject("model", named.error().message, named.error().hint);
  if (!options.alias.empty() && options.alias.find("${") == std::string::npos)
    if (const Status named = check_alias(options.alias); !named)
      fields.reject("alias", named.error().message, named.error().hint);
  TAKT_RETURN_IF_ERROR(fields.done());
  return options;
}

/// Is the run's job a node of the pipeline run that this node belongs to?
Result<bool> is_of_same_run(store::Reader& reader, const actions::StepRequest& request,
                            const RunId& run) {
  const std::string path = request.node.path.substr(0, request.node.path.rfind('/') + 1);
  TAKT_ASSIGN(const auto origins, store::edges_from(reader, request.project, ref_of(run)));
  for (const store::Edge& origin : origins) {
    if (origin.relation != "came-from" || origin.to.kind != "job") continue;
    TAKT_ASSIGN(const auto places, store::edges_from(reader, request.project, origin.to));
    for (const store::Edge& place : places)
      if (place.relation == "part-of" && place.to.kind == request.node.kind &&
          place.to.path.starts_with(path))
        return true;
  }
  return false;
}

/// The runs that made these bytes: those of the same pipeline run, else all of them, as a node may
/// have been taken from the cache.
Result<std::vector<RunId>> makers_of(store::Reader& reader, const actions::StepRequest& request,
                                     const Ref& made) {
  std::vector<RunId> all, own;
  if (made.kind.empty()) return all;
  TAKT_ASSIGN(const auto edges, store::edges_from(reader, request.project, made));
  for (const store::Edge& edge : edges) {
    if (edge.relation != "made-by" || edge.to.kind != "run") continue;
    const RunId run{edge.to.path};
    TAKT_ASSIGN(const bool is_own, is_of_same_run(reader, request, run));
    (is_own ? own : all).push_back(run);
  }
  return own.empty() ? all : own;
}

}  // namespace

Result<actions::StepPorts> RegisterStep::describe(const actions::StepDefinition& definition) const {
  TAKT_RETURN_IF_ERROR(parse_options(definition.with));
  actions::StepPorts ports;
  ports.inputs = {{"model", actions::PortKind::kModel, true},
                  {"metrics", actions::PortKind::kJson, false}};
  ports.outputs = {{"version", actions::PortKind::kModelVersion, true}};
  ports.cacheable = false;
  return ports;
}

Status RegisterStep::start(const actions::StepRequest&) { return {}; }

Result<RunId> RegisterStep::run_of(const ProjectId& project, const Ref& ref) {
  constexpr int kDepth = 2;
  constexpr int kEdgesMax = 200;
  if (ref.kind == "run") return RunId{ref.path.substr(0, ref.path.find('/'))};
  RunId run;
  if (ref.kind.empty()) return run;
  TAKT_RETURN_IF_ERROR(registry_.db().read([&](store::Reader& reader) -> Status {
    if (ref.kind == "job") {
      TAKT_ASSIGN(const auto runs, track::runs_by_tag(reader, project, track::kJobTag, ref.path));
      if (!runs.empty()) {
        run = runs.back();
        return {};
      }
    }
    // Made-by and part-of lead from the files to what made them; the newest wins, as the same bytes
    // may have been made before.
    TAKT_ASSIGN(const auto edges, store::walk_lineage(reader, project, ref, kDepth, kEdgesMax));
    UnixMs newest = -1;
    for (const store::Edge& edge : edges)
      if (edge.from == ref && edge.to.kind == "run" && edge.time_ms > newest) {
        run.value = edge.to.path;
        newest = edge.time_ms;
      }
    return {};
  }));
  return run;
}

Result<std::string> RegisterStep::source_of(const ProjectId& project, const RunId& run,
                                            const Digest& tree) {
  std::string source = "runs:/" + run.value;
  TAKT_RETURN_IF_ERROR(registry_.db().read([&](store::Reader& reader) -> Status {
    const std::string root = track::root_of_run(run);
    TAKT_ASSIGN(const auto files, track::artifacts_below(reader, project, root, ""));
    for (const track::ArtifactItem& item : track::children_of(files, "")) {
      if (!item.is_folder) continue;
      TAKT_ASSIGN(const auto folder, track::artifact_tree(reader, project, root, item.name));
      if (content::manifest_digest(folder) != tree) continue;
      source += "/" + item.name;
      return {};
    }
    return {};
  }));
  return source;
}

Status RegisterStep::read_metrics(const actions::StepRequest& request,
                                  const actions::PortValue& port, NewVersion& asked) {
  for (const auto& [key, value] : port.json.as_object())
    if (value.is_number()) asked.metrics[key] = value.as_number();
  return registry_.db().read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const auto makers, makers_of(reader, request, port.ref));
    for (const RunId& run : makers) {
      TAKT_ASSIGN(const std::string data, data_of_run(reader, request.project, run));
      const bool is_first = run == makers.front();
      if (!is_first && data != asked.metrics_data) {
        // The same numbers came of several data versions, and nothing says which of them is meant.
        asked.metrics_data.clear();
        asked.metrics_source.clear();
        return {};
      }
      asked.metrics_data = data;
      asked.metrics_source = ref_of(run).text();
    }
    return {};
  });
}

Result<actions::StepProgress> RegisterStep::poll(const actions::StepRequest& request) {
  TAKT_ASSIGN(const RegisterOptions options, parse_options(request.definition.with));
  const auto model = request.inputs.find("model");
  if (model == request.inputs.end()) return fail(Code::kInvalid, "register has no input `model`");
  const auto by = policy_.as_server<access::Right::kWrite>(request.project, request.actor);
  NewVersion asked;
  asked.model = options.model;
  asked.alias = options.alias;
  asked.description = options.description;
  asked.tree = model->second.digest;
  asked.owner = request.node.text();
  TAKT_ASSIGN(asked.run, run_of(request.project, model->second.ref));
  if (!asked.run.empty()) {
    TAKT_ASSIGN(asked.source, source_of(request.project, asked.run, asked.tree));
  }
  if (const auto metrics = request.inputs.find("metrics");
      metrics != request.inputs.end() && metrics->second.json.is_object())
    TAKT_RETURN_IF_ERROR(read_metrics(request, metrics->second, asked));
  TAKT_ASSIGN(const ModelVersion version, registry_.add_version(by, asked));
  actions::StepProgress progress;
  progress.state = actions::StepState::kDone;
  progress.work = ref_of(version.id);
  progress.outputs["version"] = {
      actions::PortKind::kModelVersion, ref_of(version.id), version.tree, {}};
  return progress;
}

Status RegisterStep::cancel(const actions::StepRequest&) { return {}; }

}  // namespace takt::models
