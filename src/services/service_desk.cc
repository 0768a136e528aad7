// SPDX-License-Identifier: Apache-2.0
#include "takt/services/service_desk.h"

#include <algorithm>
#include <functional>

#include "takt/services/traffic.h"
#include "takt/store/lineage.h"

namespace takt::services {
namespace {

constexpr int kRevisionsShown = 20;
constexpr int kDecisionsShown = 20;
constexpr std::int64_t kSettleMs = 2'000;

bool is_same_work(const RevisionRow& revision, const RevisionRow& wished) {
  return revision.tree == wished.tree && revision.spec.replicas == wished.spec.replicas &&
         revision.spec.cpu_millicores == wished.spec.cpu_millicores &&
         revision.spec.memory_bytes == wished.spec.memory_bytes &&
         revision.spec.batch_rows_max == wished.spec.batch_rows_max &&
         revision.spec.batch_delay_us == wished.spec.batch_delay_us;
}

/// Whatever the model's files are, how to get ONNX out of what made them.
std::string exporter_hint(const std::vector<std::string>& paths) {
  const auto has = [&](std::string_view ending) {
    return std::ranges::any_of(paths,
                               [&](const std::string& path) { return path.ends_with(ending); });
  };
  if (has(".pt") || has(".pth") || has(".pt2"))
    return "export it with torch.onnx.export(model, example, 'model.onnx') and register the folder "
           "that holds model.onnx";
  if (has(".h5") || has(".keras") || has("saved_model.pb"))
    return "export it with tf2onnx.convert.from_keras(model, output_path='model.onnx') and "
           "register the folder that holds model.onnx";
  if (has(".xgb") || has(".ubj") || has(".cbm"))
    return "export it with onnxmltools.convert_xgboost(model, ...) and register the folder that "
           "holds model.onnx";
  return "export it with skl2onnx.to_onnx(model, X[:1]) into model.onnx and register the folder "
         "that holds it";
}

Result<std::optional<RevisionRow>> find_revision(store::Reader& reader, const ServiceRow& service,
                                                 std::int64_t number) {
  if (number == 0) return std::nullopt;
  TAKT_ASSIGN(RevisionRow revision, services::get_revision(reader, service.name, number));
  return revision;
}

const RevisionRow* pointer(const std::optional<RevisionRow>& revision) {
  return revision ? &*revision : nullptr;
}

Status check_owner(const std::optional<ServiceRow>& found, const ProjectId& project,
                   std::string_view name) {
  if (found && found->project != project)
    return fail(Code::kConflict,
                "the service name '" + std::string(name) + "' is taken in another project",
                "service names are the model names on the gateway's ports, unique in the server: "
                "choose another",
                "name");
  return {};
}

}  // namespace

Status ServiceDesk::check_onnx(const ProjectId& project, const RevisionRow& revision) const {
  if (revision.tree.empty())
    return fail(Code::kInvalid,
                "model version " + revision.model.text() + " has no files in this server",
                "register a run's output or upload its files first", "spec.model");
  TAKT_ASSIGN(const auto tree, blobs_.read_tree(project, revision.tree));
  std::vector<std::string> paths;
  std::string some;
  for (const auto& entry : tree.entries) {
    if (entry.path.ends_with(".onnx")) return {};
    if (paths.size() < 3) some += (some.empty() ? "" : ", ") + entry.path;
    paths.push_back(entry.path);
  }
  return fail(Code::kInvalid,
              "model version " + revision.model.text() + " is not ONNX: it has " +
                  (some.empty() ? "no files" : some) +
                  (paths.size() > 3 ? " and " + std::to_string(paths.size() - 3) + " more" : ""),
              exporter_hint(paths), "spec.model");
}

Result<RevisionRow> ServiceDesk::make_revision(
    const ProjectId& project, const UserId& user, const ServiceSpec& spec,
    const std::optional<actions::PortValue>& port) const {
  actions::PortValue model;
  if (port) {
    model = *port;
  } else {
    TAKT_ASSIGN(model, registry_.resolve(project, actions::PortKind::kModelVersion, spec.model)
                           .transform_error([](Error error) {
                             return std::move(error).with_field("spec.model");
                           }));
  }
  TAKT_ASSIGN(const VersionSelector version, parse_version_selector(model.ref.path));
  RevisionRow revision;
  revision.model = {{version.name, version.number}};
  revision.tree = model.digest;
  revision.spec = spec;
  revision.created_by = user;
  TAKT_RETURN_IF_ERROR(check_onnx(project, revision));
  return revision;
}

Result<ServiceStatus> ServiceDesk::apply(const access::CanOperate& by, std::string_view name,
                                         const ServiceSpec& spec) {
  TAKT_RETURN_IF_ERROR(check_name("service name", name));
  TAKT_ASSIGN(const RevisionRow wished, make_revision(by.project(), by.user(), spec, std::nullopt));
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(auto found, find_service(tx, name));
    TAKT_RETURN_IF_ERROR(check_owner(found, by.project(), name));
    ServiceRow service = found.value_or(
        ServiceRow{.name = std::string(name), .project = by.project(), .created_by = by.user()});
    TAKT_ASSIGN(const auto stable, find_revision(tx, service, service.stable));
    TAKT_ASSIGN(const auto candidate, find_revision(tx, service, service.candidate));
    const bool has_canary = candidate && !service.is_rollout && !service.is_stopped;
    if (has_canary)
      return fail(Code::kConflict,
                  "service " + service.name + " has an open canary, revision " +
                      std::to_string(candidate->number),
                  "promote or abort it first: takt canary promote|abort " + service.name);
    const bool is_stable = stable && is_same_work(*stable, wished);
    const bool is_coming =
        candidate && candidate->state != RevisionState::kFailed && is_same_work(*candidate, wished);
    if (!service.is_stopped && (candidate ? is_coming : is_stable)) return {};
    RevisionRow revision = is_stable ? *stable : is_coming ? *candidate : wished;
    if (!is_stable && !is_coming) {
      TAKT_ASSIGN(revision, insert_revision(tx, service, wished));
      TAKT_RETURN_IF_ERROR(record(
          tx, service, by.user(),
          {"revision.created",
           "revision " + std::to_string(revision.number) + " serves " + revision.model.text(),
           revision.number, Object{{"model", revision.model.text()}}}));
    }
    TAKT_RETURN_IF_ERROR(
        record(tx, service, by.user(), begin_rollout(service, revision, tx.now_ms())));
    return save_service(tx, service);
  }));
  controller_.wait_for_pass(kSettleMs);
  return status(by.project(), name);
}

Result<ServiceStatus> ServiceDesk::change(
    const ProjectId& project, const UserId& user, std::string_view name,
    const std::function<Result<Decided>(store::Tx&, ServiceRow&)>& change) {
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(ServiceRow service, get_service(tx, project, name));
    TAKT_ASSIGN(Decided decided, change(tx, service));
    if (decided.verb.empty()) return {};  // it is so already
    TAKT_RETURN_IF_ERROR(record(tx, service, user, std::move(decided)));
    return save_service(tx, service);
  }));
  controller_.wait_for_pass(kSettleMs);
  return status(project, name);
}

Result<ServiceStatus> ServiceDesk::start_canary(const access::CanOperate& by,
                                                const CanaryWish& wish) {
  std::optional<ServiceRow> known;
  std::optional<RevisionRow> base;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(known, find_service(reader, wish.service));
    TAKT_RETURN_IF_ERROR(check_owner(known, by.project(), wish.service));
    if (!known && wish.owner.empty())
      return get_service(reader, by.project(), wish.service).transform([](auto&&) {});
    if (known && known->last_revision > 0) {
      TAKT_ASSIGN(base, find_revision(reader, *known,
                                      known->stable != 0 ? known->stable : known->last_revision));
    }
    return {};
  }));
  if (!known) TAKT_RETURN_IF_ERROR(check_name("service name", wish.service));
  ServiceSpec spec = base ? base->spec : ServiceSpec{};
  spec.model = wish.port ? wish.port->ref.path : wish.model;
  if (wish.replicas > 0) spec.replicas = wish.replicas;
  TAKT_ASSIGN(RevisionRow wished, make_revision(by.project(), by.user(), spec, wish.port));
  wished.owner = wish.owner;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(auto found, find_service(tx, wish.service));
    TAKT_RETURN_IF_ERROR(check_owner(found, by.project(), wish.service));  // made meanwhile
    ServiceRow service = found.value_or(
        ServiceRow{.name = wish.service, .project = by.project(), .created_by = by.user()});
    if (!wish.owner.empty()) {
      TAKT_ASSIGN(const auto made, find_revision_by_owner(tx, wish.owner));
      if (made) return {};
    }
    TAKT_ASSIGN(const auto stable, find_revision(tx, service, service.stable));
    TAKT_ASSIGN(const auto candidate, find_revision(tx, service, service.candidate));
    const bool is_running = !service.is_stopped;
    if (is_running && stable && stable->tree == wished.tree && stable->model == wished.model) {
      if (!wish.owner.empty()) return {};
      return fail(
          Code::kConflict,
          wished.model.text() + " is the stable revision of service " + service.name + " already",
          "start a canary with another model version");
    }
    if (is_running && stable && candidate && !service.is_rollout &&
        candidate->model == wished.model && candidate->tree == wished.tree) {
      if (service.share_wanted == wish.share) return {};
      TAKT_ASSIGN(Decided moved, services::set_share(service, &*candidate, wish.share));
      TAKT_RETURN_IF_ERROR(record(tx, service, by.user(), std::move(moved)));
      return save_service(tx, service);
    }
    TAKT_ASSIGN(const RevisionRow revision, insert_revision(tx, service, wished));
    TAKT_RETURN_IF_ERROR(
        record(tx, service, by.user(),
               {"revision.created",
                "revision " + std::to_string(revision.number) + " serves " + revision.model.text(),
                revision.number, Object{{"model", revision.model.text()}}}));
    const bool is_first = !stable || !is_running;  // nothing to compare with: it takes all
    TAKT_RETURN_IF_ERROR(record(tx, service, by.user(),
                                is_first
                                    ? begin_rollout(service, revision, tx.now_ms())
                                    : begin_canary(service, revision, wish.share, tx.now_ms())));
    return save_service(tx, service);
  }));
  // A pipeline polls; people see the routes in place when the answer comes.
  if (wish.owner.empty())
    controller_.wait_for_pass(kSettleMs);
  else
    controller_.wake();
  return status(by.project(), wish.service);
}

Result<ServiceStatus> ServiceDesk::set_share(const access::CanOperate& by, std::string_view name,
                                             double share) {
  return change(by.project(), by.user(), name,
                [&](store::Tx& tx, ServiceRow& service) -> Result<Decided> {
                  TAKT_ASSIGN(const auto candidate, find_revision(tx, service, service.candidate));
                  if (candidate && !service.is_rollout && service.share_wanted == share &&
                      service.share == share)
                    return Decided{};
                  return services::set_share(service, pointer(candidate), share);
                });
}

Result<ServiceStatus> ServiceDesk::promote(const access::CanOperate& by, std::string_view name,
                                           const UserId& approver) {
  return change(
      by.project(), by.user(), name, [&](store::Tx& tx, ServiceRow& service) -> Result<Decided> {
        TAKT_ASSIGN(const auto candidate, find_revision(tx, service, service.candidate));
        TAKT_ASSIGN(Decided promoted, services::promote(service, pointer(candidate), tx.now_ms()));
        if (!approver.empty()) {
          promoted.text += ", approved by " + approver.value;
          promoted.details["approver"] = approver.value;
          TAKT_RETURN_IF_ERROR(store::add_edge(tx, service.project,
                                               revision_ref(service.name, candidate->number),
                                               "approved-by", ref_of(approver)));
        }
        return promoted;
      });
}

Result<ServiceStatus> ServiceDesk::abort(const access::CanOperate& by, std::string_view name) {
  return change(by.project(), by.user(), name,
                [](store::Tx&, ServiceRow& service) { return abort_canary(service, ""); });
}

Result<ServiceStatus> ServiceDesk::roll_back(const access::CanOperate& by, std::string_view name) {
  return change(by.project(), by.user(), name,
                [&](store::Tx& tx, ServiceRow& service) -> Result<Decided> {
                  TAKT_ASSIGN(const auto previous, find_revision(tx, service, service.previous));
                  return services::roll_back(service, pointer(previous), tx.now_ms());
                });
}

Result<ServiceStatus> ServiceDesk::stop(const access::CanOperate& by, std::string_view name) {
  return change(by.project(), by.user(), name,
                [](store::Tx&, ServiceRow& service) -> Result<Decided> {
                  return service.is_stopped ? Decided{} : services::stop(service);
                });
}

Status ServiceDesk::fill(store::Reader& reader, const LiveState& live,
                         ServiceStatus& status) const {
  status.revisions.clear();
  TAKT_ASSIGN(const auto revisions, list_revisions(reader, status.row.name, kRevisionsShown));
  for (const RevisionRow& revision : revisions) status.revisions.push_back({revision, 0, {}});
  // What serves is shown however many have come and gone since.
  for (const std::int64_t number : {status.row.stable, status.row.candidate, status.row.previous}) {
    if (number == 0 || status.find(number) != nullptr) continue;
    TAKT_ASSIGN(RevisionRow revision, services::get_revision(reader, status.row.name, number));
    status.revisions.push_back({std::move(revision), 0, {}});
  }
  std::ranges::sort(status.revisions, std::greater{}, [](const auto& r) { return r.row.number; });
  TAKT_ASSIGN(status.decisions, list_decisions(reader, status.row.name, kDecisionsShown));
  if (const auto replicas = live.replicas.find(status.row.name); replicas != live.replicas.end())
    status.replicas = replicas->second;
  status.http = live.gateway_http;
  status.grpc = live.gateway_grpc;
  return {};
}

Result<ServiceStatus> ServiceDesk::status(const ProjectId& project, std::string_view name) const {
  const LiveState live = controller_.live();
  ServiceStatus status;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(status.row, get_service(reader, project, name));
    return fill(reader, live, status);
  }));
  judge(status, live.gateway_problem);
  return status;
}

Result<ServiceStatus> ServiceDesk::get(const access::CanRead& by, std::string_view name) {
  return status(by.project(), name);
}

Result<std::vector<ServiceStatus>> ServiceDesk::list(const access::CanRead& by) {
  const LiveState live = controller_.live();
  std::vector<ServiceStatus> all;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    all.clear();
    TAKT_ASSIGN(const auto services, list_services(reader, by.project()));
    for (const ServiceRow& service : services) {
      all.push_back(ServiceStatus{.row = service});
      TAKT_RETURN_IF_ERROR(fill(reader, live, all.back()));
    }
    return {};
  }));
  for (ServiceStatus& status : all) judge(status, live.gateway_problem);
  return all;
}

Result<std::vector<RevisionTraffic>> ServiceDesk::traffic(const access::CanRead& by,
                                                          std::string_view name,
                                                          std::int64_t range_ms) {
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    return get_service(reader, by.project(), name).transform([](auto&&) {});
  }));
  return history_.read(std::string(name), range_ms, db_.clock().now_ms());
}

Result<std::optional<RevisionRow>> ServiceDesk::find_by_owner(const access::CanRead&,
                                                              std::string_view owner) {
  std::optional<RevisionRow> found;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(found, find_revision_by_owner(reader, owner));
    return {};
  }));
  return found;
}

Result<RevisionRow> ServiceDesk::get_revision(const access::CanRead& by, std::string_view name,
                                              std::int64_t number) {
  RevisionRow revision;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const ServiceRow service, get_service(reader, by.project(), name));
    TAKT_ASSIGN(revision, services::get_revision(reader, service.name, number));
    return {};
  }));
  return revision;
}

}  // namespace takt::services
