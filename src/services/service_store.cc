// SPDX-License-Identifier: Apache-2.0
#include "takt/services/service_store.h"

#include "takt/services/sql.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"

namespace takt::services {
namespace {

ServiceRow service_from(const store::Row& row) {
  ServiceRow service;
  service.name = row.text(0);
  service.project.value = row.text(1);
  service.is_stopped = row.integer(2) != 0;
  service.stable = row.integer(3);
  service.candidate = row.integer(4);
  service.previous = row.integer(5);
  service.is_rollout = row.integer(6) != 0;
  service.share_wanted = row.real(7);
  service.share = row.real(8);
  service.last_revision = row.integer(9);
  service.candidate_ms = row.integer(10);
  service.keep_until_ms = row.integer(11);
  service.created_by.value = row.text(12);
  service.updated_ms = row.integer(13);
  return service;
}

Result<RevisionRow> revision_from(const store::Row& row) {
  RevisionRow revision;
  revision.service = row.text(0);
  revision.number = row.integer(1);
  TAKT_ASSIGN(const VersionSelector model, parse_version_selector(row.text(2)));
  revision.model = {{model.name, model.number}};
  revision.tree.value = row.text(3);
  TAKT_ASSIGN(const Value spec, parse_json(row.text(4)));
  TAKT_ASSIGN(revision.spec, parse_service_spec(spec));
  TAKT_ASSIGN(revision.state, parse_revision_state(row.text(5)));
  revision.reason = row.text(6);
  revision.owner = row.text(7);
  revision.created_by.value = row.text(8);
  revision.created_ms = row.integer(9);
  return revision;
}

Result<std::vector<RevisionRow>> revisions_from(const store::Rows& rows) {
  std::vector<RevisionRow> revisions;
  for (const auto& row : rows) {
    TAKT_ASSIGN(RevisionRow revision, revision_from(row));
    revisions.push_back(std::move(revision));
  }
  return revisions;
}

}  // namespace

Result<std::optional<ServiceRow>> find_service(store::Reader& reader, std::string_view name) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindService, {std::string(name)}));
  if (!row) return std::nullopt;
  return service_from(*row);
}

Result<ServiceRow> get_service(store::Reader& reader, const ProjectId& project,
                               std::string_view name) {
  TAKT_ASSIGN(const auto found, find_service(reader, name));
  if (found && found->project == project) return *found;
  TAKT_ASSIGN(const auto all, list_services(reader, project));
  std::vector<std::string> names;
  for (const ServiceRow& service : all) names.push_back(service.name);
  const std::string near = nearest_name(name, names);
  return fail(Code::kNotFound, "no service '" + std::string(name) + "'",
              near.empty() ? "deploy one with `takt deploy NAME --model MODEL@N`"
                           : "did you mean '" + near + "'?");
}

Result<std::vector<ServiceRow>> list_services(store::Reader& reader, const ProjectId& project) {
  TAKT_ASSIGN(const auto rows, reader.query(sql::kListServices, {project.value}));
  std::vector<ServiceRow> services;
  for (const auto& row : rows) services.push_back(service_from(row));
  return services;
}

Status save_service(store::Tx& tx, const ServiceRow& service) {
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kSaveService,
      {service.name, service.project.value, std::int64_t{service.is_stopped}, service.stable,
       service.candidate, service.previous, std::int64_t{service.is_rollout}, service.share_wanted,
       service.share, service.last_revision, service.candidate_ms, service.keep_until_ms,
       service.created_by.value, tx.now_ms()}));
  return {};
}

Result<RevisionRow> insert_revision(store::Tx& tx, ServiceRow& service, RevisionRow revision) {
  revision.service = service.name;
  revision.number = ++service.last_revision;
  revision.created_ms = tx.now_ms();
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertRevision,
                               {revision.service, revision.number, revision.model.text(),
                                revision.tree.value, dump_json(to_value(revision.spec)),
                                revision.owner, revision.created_by.value, revision.created_ms}));
  const Ref ref = revision_ref(revision.service, revision.number);
  TAKT_RETURN_IF_ERROR(store::add_edge(tx, service.project, ref, "serves", ref_of(revision.model)));
  TAKT_RETURN_IF_ERROR(
      store::add_edge(tx, service.project, ref, "part-of", service_ref(service.name)));
  const std::string node = revision.owner.substr(0, revision.owner.find('#'));
  if (const auto maker = parse_ref(node); !node.empty() && maker)
    TAKT_RETURN_IF_ERROR(store::add_edge(tx, service.project, ref, "made-by", *maker));
  return revision;
}

Result<RevisionRow> get_revision(store::Reader& reader, std::string_view service,
                                 std::int64_t number) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindRevision, {std::string(service), number}));
  if (!row)
    return fail(Code::kNotFound,
                "service '" + std::string(service) + "' has no revision " + std::to_string(number));
  return revision_from(*row);
}

Result<std::optional<RevisionRow>> find_revision_by_owner(store::Reader& reader,
                                                          std::string_view owner) {
  TAKT_ASSIGN(const auto row, reader.find(sql::kFindRevisionByOwner, {std::string(owner)}));
  if (!row) return std::nullopt;
  TAKT_ASSIGN(RevisionRow revision, revision_from(*row));
  return revision;
}

Result<std::vector<RevisionRow>> list_revisions(store::Reader& reader, std::string_view service,
                                                int limit) {
  TAKT_ASSIGN(const auto rows,
              reader.query(sql::kListRevisions, {std::string(service), std::int64_t{limit}}));
  return revisions_from(rows);
}

Result<std::vector<RevisionRow>> list_live_revisions(store::Reader& reader,
                                                     const ServiceRow& service) {
  TAKT_ASSIGN(const auto rows,
              reader.query(sql::kListLiveRevisions,
                           {service.name, service.stable, service.candidate, service.previous}));
  return revisions_from(rows);
}

Status save_revision_state(store::Tx& tx, const RevisionRow& revision) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kSaveRevisionState,
              {revision.service, revision.number, std::string(revision_state_name(revision.state)),
               revision.reason}));
  return {};
}

Result<std::vector<ReplicaRow>> list_replicas(store::Reader& reader, std::string_view service) {
  TAKT_ASSIGN(const auto rows, reader.query(sql::kListReplicas, {std::string(service)}));
  std::vector<ReplicaRow> replicas;
  for (const auto& row : rows)
    replicas.push_back({row.text(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4),
                        row.integer(5), row.integer(6), JobId{row.integer(7)}, row.text(8)});
  return replicas;
}

Status save_replica(store::Tx& tx, const ReplicaRow& replica) {
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kSaveReplica,
      {replica.service, replica.revision, replica.slot, replica.generation, replica.failures,
       replica.restarts, replica.not_before_ms, replica.job.value, replica.reason}));
  return {};
}

Status remove_replica(store::Tx& tx, const ReplicaRow& replica) {
  TAKT_RETURN_IF_ERROR(
      tx.exec(sql::kRemoveReplica, {replica.service, replica.revision, replica.slot}));
  return {};
}

Status record(store::Tx& tx, const ServiceRow& service, const UserId& actor, Decided decided) {
  TAKT_ASSIGN(const std::int64_t number, tx.next_number("service-decision"));
  TAKT_RETURN_IF_ERROR(tx.exec(sql::kInsertDecision, {service.name, number, tx.now_ms(),
                                                      actor.value, decided.verb, decided.text}));
  store::Event event;
  event.verb = std::move(decided.verb);
  event.project = service.project;
  event.actor = actor;
  event.subject = decided.revision == 0 ? service_ref(service.name)
                                        : revision_ref(service.name, decided.revision);
  event.details = std::move(decided.details);
  event.details["service"] = service.name;
  event.details["text"] = decided.text;
  TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
  return {};
}

Result<std::vector<DecisionRow>> list_decisions(store::Reader& reader, std::string_view service,
                                                int limit) {
  TAKT_ASSIGN(const auto rows,
              reader.query(sql::kListDecisions, {std::string(service), std::int64_t{limit}}));
  std::vector<DecisionRow> decisions;
  for (const auto& row : rows)
    decisions.push_back({row.integer(0), UserId{row.text(1)}, row.text(2), row.text(3)});
  return decisions;
}

}  // namespace takt::services
