// SPDX-License-Identifier: Apache-2.0
#include "takt/services/explainer.h"

#include <charconv>

#include "takt/gateway/request_id.h"

namespace takt::services {
namespace {

constexpr std::int64_t kTrafficRangeMs = 5 * 60 * 1000;
constexpr std::size_t kPiecesMax = 20;
constexpr std::size_t kDecisionsTold = 3;

std::string short_number(double value) {
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, 1).ptr;
  return {buffer, end};
}

std::string revision_line(const ServiceStatus& status, const RevisionStatus& revision) {
  std::string text = "revision " + std::to_string(revision.row.number) + " serves " +
                     revision.row.model.text() + ", " +
                     std::string(revision_state_name(revision.row.state)) + ", " +
                     share_text(share_of(status.row, revision.row.number)) + " of the traffic, " +
                     std::to_string(revision.ready_replicas) + " of " +
                     std::to_string(revision.row.spec.replicas) + " replicas ready";
  if (!revision.reason.empty()) text += ": " + revision.reason;
  return text;
}

std::string traffic_line(const RevisionTraffic& traffic) {
  std::string text = "revision " + std::to_string(traffic.revision) + " answered " +
                     std::to_string(traffic.totals.requests) + " requests in the last 5 min, " +
                     std::to_string(traffic.totals.errors) + " of them with an error";
  if (traffic.totals.p99_ms)
    text += ", p50 " + short_number(*traffic.totals.p50_ms) + " ms, p99 " +
            short_number(*traffic.totals.p99_ms) + " ms";
  return text;
}

spine::Explanation explain_service(const ServiceStatus& status,
                                   const std::vector<RevisionTraffic>& traffic) {
  const std::string& name = status.row.name;
  spine::Explanation out;
  out.ref = service_ref(name);
  out.state = status.state;
  out.title = "service " + name + " is " + status.state;
  if (!status.reason.empty()) out.lines.push_back(status.reason);
  for (const RevisionStatus& revision : status.revisions)
    if (role_of(status.row, revision.row.number) != "none")
      out.lines.push_back(revision_line(status, revision));
  for (const RevisionTraffic& one : traffic)
    if (one.totals.requests > 0) out.lines.push_back(traffic_line(one));
  for (const std::string& warning : status.warnings) out.lines.push_back("warning: " + warning);
  for (std::size_t i = 0; i < status.decisions.size() && i < kDecisionsTold; ++i)
    out.lines.push_back(format_time(status.decisions[i].time_ms) + " " +
                        status.decisions[i].actor.value + ": " + status.decisions[i].text);
  for (const LiveReplica& replica : status.replicas)
    if (replica.state != "ready" && replica.job.value != 0)
      out.next.push_back("takt why " + ref_of(replica.job).text());
  if (status.state == "canary") {
    out.next.push_back("takt canary promote " + name);
    out.next.push_back("takt canary abort " + name);
  }
  if (status.state == "stopped") out.next.push_back("takt deploy " + name + " --model NAME@N");
  return out;
}

}  // namespace

Result<spine::Explanation> ServiceExplainer::explain(const ProjectId& project, const Ref& ref) {
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  if (ref.kind == "request") return explain_request(by, ref.path);
  if (ref.kind == "service") {
    TAKT_ASSIGN(const ServiceStatus status, desk_.get(by, ref.path));
    TAKT_ASSIGN(const auto traffic, desk_.traffic(by, ref.path, kTrafficRangeMs));
    return explain_service(status, traffic);
  }
  const auto slash = ref.path.rfind('/');
  std::int64_t number = 0;
  const std::string digits = slash == std::string::npos ? "" : ref.path.substr(slash + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return fail(Code::kInvalid, "'" + ref.path + "' is no revision", "write revision/SERVICE/N");
  return explain_revision(by, ref.path.substr(0, slash), number);
}

Result<spine::Explanation> ServiceExplainer::explain_revision(const access::CanRead& by,
                                                              const std::string& service,
                                                              std::int64_t number) {
  TAKT_ASSIGN(const ServiceStatus status, desk_.get(by, service));
  TAKT_ASSIGN(const RevisionRow row, desk_.get_revision(by, service, number));
  const RevisionStatus* live = status.find(number);
  const RevisionStatus revision = live != nullptr ? *live : RevisionStatus{row, 0, row.reason};
  spine::Explanation out;
  out.ref = revision_ref(service, number);
  out.state = std::string(revision_state_name(row.state));
  out.title = "revision " + std::to_string(number) + " of service " + service + " is " + out.state;
  if (!revision.reason.empty()) out.lines.push_back(revision.reason);
  out.lines.push_back(revision_line(status, revision));
  out.lines.push_back("made by " + row.created_by.value + " at " + format_time(row.created_ms));
  for (const LiveReplica& replica : status.replicas)
    if (replica.revision == number && replica.job.value != 0)
      out.lines.push_back("replica " + std::to_string(replica.slot) + " is " + replica.state +
                          " as " + ref_of(replica.job).text() +
                          (replica.endpoint.empty() ? "" : " at " + replica.endpoint));
  out.next.push_back("takt why " + ref_of(row.model).text());
  out.facts =
      Object{{"model", row.model.text()}, {"tree", row.tree.value}, {"spec", to_value(row.spec)}};
  return out;
}

Result<spine::Explanation> ServiceExplainer::explain_request(const access::CanRead& by,
                                                             const std::string& id) {
  TAKT_ASSIGN(const gateway::RequestStamp stamp, gateway::parse_request_id(id));
  TAKT_ASSIGN(const auto services, desk_.list(by));
  for (const ServiceStatus& status : services) {
    if (gateway::hash_service(status.row.name) != stamp.service_hash) continue;
    TAKT_ASSIGN(const RevisionRow row, desk_.get_revision(by, status.row.name, stamp.revision));
    spine::Explanation out;
    // The lineage goes on from the revision that answered.
    out.ref = revision_ref(status.row.name, stamp.revision);
    out.state = "answered";
    out.title = "request " + id + " was answered by revision " + std::to_string(stamp.revision) +
                " of service " + status.row.name;
    out.lines.push_back("it came at " + format_time(stamp.time_ms));
    out.lines.push_back("the revision serves " + row.model.text() + ", deployed by " +
                        row.created_by.value + " at " + format_time(row.created_ms));
    out.next.push_back("takt why " + ref_of(row.model).text());
    out.next.push_back("takt why " + revision_ref(status.row.name, stamp.revision).text());
    out.facts = Object{{"service", status.row.name},
                       {"revision", stamp.revision},
                       {"model", row.model.text()},
                       {"at", format_time(stamp.time_ms)}};
    return out;
  }
  return fail(Code::kNotFound, "no service of this project answered request " + id,
              "the id holds a service, a revision and a time; look in the project of that service");
}

Result<spine::LineCard> ServiceExplainer::line_card(const ProjectId& project,
                                                    std::int64_t since_ms) {
  const auto by = policy_.as_server<access::Right::kRead>(project, UserId{});
  TAKT_ASSIGN(const auto services, desk_.list(by));
  spine::LineCard card;
  card.station = "services";
  std::int64_t live = 0, canaries = 0, requests = 0;
  for (const ServiceStatus& status : services) {
    ++card.total;
    const std::string& name = status.row.name;
    if (status.state == "live" || status.state == "canary" || status.state == "degraded") ++live;
    if (status.state == "canary") ++canaries;
    if (status.state == "starting" || status.state == "canary") ++card.moving;
    if (status.state != "stopped" && card.pieces.size() < kPiecesMax)
      card.pieces.push_back(service_ref(name));
    if (status.state == "failed" || status.state == "degraded")
      card.stops.push_back({"failed", service_ref(name), name + ": " + status.reason,
                            "takt why service/" + name, status.row.updated_ms});
    TAKT_ASSIGN(const auto traffic, desk_.traffic(by, name, kTrafficRangeMs));
    for (const RevisionTraffic& one : traffic) requests += one.totals.requests;
  }
  (void)since_ms;
  card.lines.push_back(std::to_string(live) + " live" +
                       (canaries > 0 ? ", " + std::to_string(canaries) + " with a canary" : ""));
  card.lines.push_back(std::to_string(requests) + " requests in 5 min");
  return card;
}

}  // namespace takt::services
