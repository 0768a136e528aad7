// SPDX-License-Identifier: Apache-2.0
#include "takt/models/gate_store.h"

#include <algorithm>

#include "takt/models/sql.h"
#include "takt/store/lineage.h"
#include "takt/track/logged_model_store.h"
#include "takt/track/run_store.h"

namespace takt::models {
namespace {

constexpr std::size_t kEvaluationsMax = 50;

store::Params of_version(const ProjectId& project, const ModelVersionId& id) {
  return {project.value, id.name, id.number};
}

Status add_recorded(store::Reader& reader, const ProjectId& project, Evidence& evidence) {
  const store::Params version = of_version(project, evidence.version.id);
  TAKT_ASSIGN(const auto measured, reader.query(sql::kListMeasurements, version));
  for (const auto& row : measured)
    evidence.measurements.push_back(
        {row.text(0), row.text(1), row.real(2), row.text(3), UserId{row.text(4)}, row.integer(5)});
  TAKT_ASSIGN(const auto approvals, reader.query(sql::kListApprovals, version));
  for (const auto& row : approvals)
    evidence.approvals.push_back(
        {row.text(0), UserId{row.text(1)}, row.text(2) == "approved", row.text(3), row.integer(4)});
  TAKT_ASSIGN(const auto reports, reader.query(sql::kListReports, version));
  for (const auto& row : reports) {
    TAKT_ASSIGN(Value report, parse_json(row.text(1)));
    evidence.reports[row.text(0)] = {std::move(report), UserId{row.text(2)}, row.integer(3)};
  }
  return {};
}

void add_metrics(const track::Run& run, const std::string& data, Evidence& evidence) {
  for (const auto& [key, point] : run.metrics)
    evidence.measurements.push_back(
        {data, key, point.value, ref_of(run.id).text(), run.user, point.timestamp_ms});
}

/// What the run that made it logged: on no named data, as training looks at several.
Status add_own_run(store::Reader& reader, const ProjectId& project, Evidence& evidence) {
  if (evidence.version.run.empty()) return {};
  TAKT_ASSIGN(const auto run, track::find_run(reader, project, evidence.version.run));
  if (!run) return {};
  if (!run->user.empty() && run->user != evidence.version.created_by)
    evidence.submitters.push_back(run->user);
  add_metrics(*run, "", evidence);
  return {};
}

Status add_logged_model(store::Reader& reader, const ProjectId& project, Evidence& evidence) {
  if (evidence.version.logged_model.empty()) return {};
  TAKT_ASSIGN(const auto model,
              track::find_logged_model(reader, project, evidence.version.logged_model));
  if (!model) return {};
  for (const auto& measured : model->metrics) {
    std::string data = measured.dataset_name;
    if (!data.empty() && !measured.dataset_digest.empty()) data += "@" + measured.dataset_digest;
    evidence.measurements.push_back({std::move(data), measured.key, measured.point.value,
                                     ref_of(measured.run).text(), model->creator,
                                     measured.point.timestamp_ms});
  }
  return {};
}

Status add_evaluations(store::Reader& reader, const ProjectId& project, Evidence& evidence) {
  TAKT_ASSIGN(auto users, store::edges_to(reader, project, ref_of(evidence.version.id)));
  std::erase_if(users, [](const store::Edge& edge) {
    return edge.relation != "used" || edge.from.kind != "run";
  });
  std::ranges::stable_sort(users, std::greater{}, &store::Edge::time_ms);
  if (users.size() > kEvaluationsMax) users.resize(kEvaluationsMax);
  for (const store::Edge& edge : users) {
    TAKT_ASSIGN(const auto run, track::find_run(reader, project, RunId{edge.from.path}));
    if (!run || run->is_deleted) continue;
    TAKT_ASSIGN(const std::string data, data_of_run(reader, project, run->id));
    add_metrics(*run, data, evidence);
  }
  return {};
}

}  // namespace

Result<StoredRules> load_rules(store::Reader& reader, const ProjectId& project,
                               std::string_view model) {
  StoredRules stored;
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindRules, {project.value, std::string(model)}));
  if (!row) return stored;
  TAKT_ASSIGN(const Value rules, parse_json(row->text(0)));
  TAKT_ASSIGN(stored.rules, parse_rules(rules));
  stored.updated_by.value = row->text(1);
  stored.updated_ms = row->integer(2);
  return stored;
}

Status store_rules(store::Tx& tx, const ProjectId& project, std::string_view model,
                   const std::vector<Rule>& rules, const UserId& by) {
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kStoreRules,
      {project.value, std::string(model), dump_json(to_value(rules)), by.value, tx.now_ms()}));
  return {};
}

Status store_approval(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                      const Approval& approval) {
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kStoreApproval, {project.value, id.name, id.number, approval.alias, approval.user.value,
                            std::string(approval.is_approval ? "approved" : "rejected"),
                            approval.comment, tx.now_ms()}));
  return {};
}

Status store_measurement(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                         const Measurement& measurement) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kStoreMeasurement,
              {project.value, id.name, id.number, measurement.data, measurement.metric,
               measurement.value, measurement.source, measurement.by.value, tx.now_ms()}));
  return {};
}

Status store_report(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                    std::string_view kind, const Value& report, const UserId& by) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kStoreReport, {project.value, id.name, id.number, std::string(kind),
                                  dump_json(report), by.value, tx.now_ms()}));
  return {};
}

std::string_view move_kind_name(MoveKind kind) {
  switch (kind) {
    case MoveKind::kSet:
      return "set";
    case MoveKind::kRolledBack:
      return "rolled-back";
    case MoveKind::kRemoved:
      return "removed";
  }
  return "";
}

Status store_alias_move(store::Tx& tx, const ProjectId& project, std::string_view model,
                        std::string_view alias, const AliasMove& move) {
  const store::Params named{project.value, std::string(model), std::string(alias)};
  TAKT_ASSIGN(const auto last, tx.find(sql::kLastAliasMove, named));
  store::Params row = named;
  for (store::Cell cell :
       {store::Cell(last->integer(0) + 1), store::Cell(move.number),
        store::Cell(std::string(move_kind_name(move.kind))), store::Cell(move.by.value),
        store::Cell(move.reason), store::Cell(tx.now_ms())})
    row.push_back(std::move(cell));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertAliasMove, row));
  return {};
}

Result<std::vector<AliasMove>> load_alias_moves(store::Reader& reader, const ProjectId& project,
                                                std::string_view model, std::string_view alias) {
  TAKT_ASSIGN(
      const auto rows,
      reader.query(sql::kListAliasMoves, {project.value, std::string(model), std::string(alias)}));
  std::vector<AliasMove> moves;
  for (const auto& row : rows) {
    AliasMove move;
    move.number = row.integer(1);
    for (const MoveKind kind : {MoveKind::kRolledBack, MoveKind::kRemoved})
      if (row.text(2) == move_kind_name(kind)) move.kind = kind;
    move.by.value = row.text(3);
    move.reason = row.text(4);
    move.time_ms = row.integer(5);
    moves.push_back(std::move(move));
  }
  return moves;
}

Result<std::string> data_of_run(store::Reader& reader, const ProjectId& project, const RunId& run) {
  TAKT_ASSIGN(const auto edges, store::edges_from(reader, project, ref_of(run)));
  std::string data;
  int found = 0;
  for (const store::Edge& edge : edges)
    if (edge.relation == "used" && edge.to.kind == "dataset") {
      data = edge.to.path;
      ++found;
    }
  return found == 1 ? data : std::string();
}

Result<Origin> load_origin(store::Reader& reader, const ProjectId& project,
                           const ModelVersion& version) {
  Origin origin;
  if (version.run.empty()) return origin;
  origin.run = version.run;
  TAKT_ASSIGN(const auto run, track::find_run(reader, project, version.run));
  if (!run) return origin;
  const auto ref_text = [&](std::string_view tag, std::string_view kind) {
    const std::string word = track::word_of(run->tags, tag);
    return word.empty() ? word : std::string(kind) + "/" + word;
  };
  origin.job = ref_text(track::kJobTag, "job");
  origin.code = ref_text("takt.code", "code");
  origin.environment = ref_text("takt.environment", "environment");
  origin.seed = track::word_of(run->tags, "takt.seed");
  origin.params = run->params;
  TAKT_ASSIGN(const auto edges, store::edges_from(reader, project, ref_of(run->id)));
  for (const store::Edge& edge : edges)
    if (edge.relation == "used") origin.data.push_back(edge.to);
  return origin;
}

Result<Evidence> load_evidence(store::Reader& reader, const ProjectId& project,
                               ModelVersion version) {
  Evidence evidence;
  evidence.version = std::move(version);
  evidence.submitters.push_back(evidence.version.created_by);
  TAKT_RETURN_IF_ERROR(add_recorded(reader, project, evidence));
  for (const auto& [key, value] : evidence.version.metrics)
    evidence.measurements.push_back(
        {"", key, value, "registration", evidence.version.created_by, evidence.version.created_ms});
  TAKT_RETURN_IF_ERROR(add_own_run(reader, project, evidence));
  TAKT_RETURN_IF_ERROR(add_logged_model(reader, project, evidence));
  TAKT_RETURN_IF_ERROR(add_evaluations(reader, project, evidence));
  std::ranges::stable_sort(evidence.measurements, std::greater{}, &Measurement::time_ms);
  return evidence;
}

}  // namespace takt::models
