// SPDX-License-Identifier: Apache-2.0
// The tables of services.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/services/service.h"
#include "takt/store/database.h"

namespace takt::services {

Result<std::optional<ServiceRow>> find_service(store::Reader& reader, std::string_view name);
/// kNotFound names the nearest of the project; a service of another project is not found.
Result<ServiceRow> get_service(store::Reader& reader, const ProjectId& project,
                               std::string_view name);
/// All projects when `project` is empty.
Result<std::vector<ServiceRow>> list_services(store::Reader& reader, const ProjectId& project);
/// `updated_ms` becomes the transaction's time.
Status save_service(store::Tx& tx, const ServiceRow& service);

/// Takes the service's next number (also in `service`) and writes the lineage: serves, part-of,
/// made-by.
Result<RevisionRow> insert_revision(store::Tx& tx, ServiceRow& service, RevisionRow revision);
Result<RevisionRow> get_revision(store::Reader& reader, std::string_view service,
                                 std::int64_t number);
Result<std::optional<RevisionRow>> find_revision_by_owner(store::Reader& reader,
                                                          std::string_view owner);
/// Newest first.
Result<std::vector<RevisionRow>> list_revisions(store::Reader& reader, std::string_view service,
                                                int limit);
/// Newest first: those with a role, with replicas, and those that have not ended. However many
/// others there are, what serves is among them.
Result<std::vector<RevisionRow>> list_live_revisions(store::Reader& reader,
                                                     const ServiceRow& service);
Status save_revision_state(store::Tx& tx, const RevisionRow& revision);

Result<std::vector<ReplicaRow>> list_replicas(store::Reader& reader, std::string_view service);
Status save_replica(store::Tx& tx, const ReplicaRow& replica);
Status remove_replica(store::Tx& tx, const ReplicaRow& replica);

/// Something was decided about a service: one event and one row.
struct Decided {
  std::string verb, text;
  std::int64_t revision = 0;  // the subject is this one; 0: the service
  Object details;
};
Status record(store::Tx& tx, const ServiceRow& service, const UserId& actor, Decided decided);
/// Newest first.
Result<std::vector<DecisionRow>> list_decisions(store::Reader& reader, std::string_view service,
                                                int limit);

}  // namespace takt::services
