// SPDX-License-Identifier: Apache-2.0
#include "takt/access/routes.h"

namespace takt::access {
namespace {

using net::Method;
using net::Request;
using net::Response;

constexpr std::int64_t kVerifyDeadlineMs = 3600'000;

/// A time of the query; 0 when it is not there.
Result<UnixMs> time_param(const Request& request, std::string_view name) {
  const std::string_view text = request.query_param(name);
  if (text.empty()) return 0;
  return parse_time(text).transform_error(
      [&](Error error) { return std::move(error).with_field(std::string(name)); });
}

Result<Response> list_audit(AuditService& audit, Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kAdminister>(request.caller, "audit"));
  TAKT_ASSIGN(const std::int64_t limit, request.query_integer("limit", 100, 1, 1000));
  store::EventFilter filter;
  TAKT_ASSIGN(filter.before, request.query_integer("before", 0, 0, INT64_MAX));
  TAKT_ASSIGN(filter.since_ms, time_param(request, "since"));
  TAKT_ASSIGN(filter.until_ms, time_param(request, "until"));
  filter.project.value = request.query_param("of_project");
  filter.actor.value = request.query_param("actor");
  filter.verb = request.query_param("verb");
  filter.subject = request.query_param("subject");
  TAKT_ASSIGN(const auto events, audit.list(by, filter, static_cast<int>(limit)));
  Array items;
  for (const auto& event : events) items.push_back(store::to_value(event));
  Object body{{"items", std::move(items)}};
  if (static_cast<std::int64_t>(events.size()) == limit)
    body["next_page_token"] = std::to_string(events.back().sequence);
  return Response::json(std::move(body));
}

Result<Response> verify_audit(AuditService& audit, Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kAdminister>(request.caller, "audit"));
  const std::string expected(request.query_param("expect"));
  TAKT_ASSIGN(const store::ChainCheck found, audit.verify(by, expected));
  Object body{{"intact", found.is_intact()},
              {"events", found.events},
              {"head", Object{{"sequence", found.head_sequence}, {"hash", found.head}}}};
  if (!found.is_intact())
    body["broken"] = Object{{"sequence", found.broken_sequence}, {"reason", found.broken_reason}};
  if (!expected.empty()) body["expected_sequence"] = found.expected_sequence;
  return Response::json(std::move(body));
}

}  // namespace

void register_audit_routes(net::Router& router, AuditService& audit, Policy& policy) {
  router.add(Method::kGet, "/api/v1/audit",
             [&](Request& r) { return list_audit(audit, policy, r); });
  router.add(Method::kGet, "/api/v1/audit/verify",
             [&](Request& r) { return verify_audit(audit, policy, r); },
             {.deadline_ms = kVerifyDeadlineMs});
}

}  // namespace takt::access
