// SPDX-License-Identifier: Apache-2.0
#include "takt/app/system_routes.h"

#include <memory>

#include "takt/app/assets.h"
#include "takt/app/backup.h"
#include "takt/app/console.h"
#include "takt/base/version.h"
#include "takt/jobs/metrics.h"
#include "takt/store/event_log.h"
#include "takt/track/mlflow_level.h"

namespace takt::app {
namespace {

using net::Method;
using net::Request;
using net::Response;

Result<std::int64_t> last_sequence(store::Database& db) {
  std::int64_t sequence = 0;
  TAKT_RETURN_IF_ERROR(db.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(sequence, store::last_event_sequence(reader));
    return {};
  }));
  return sequence;
}

Result<Response> metrics(const SystemParts& parts) {
  TAKT_ASSIGN(const std::int64_t events, last_sequence(parts.db));
  TAKT_ASSIGN(const std::int64_t stored, parts.blobs.stored_bytes());
  const net::Server::Stats http = parts.http_stats();
  std::string text;
  const auto put = [&](std::string_view name, std::string_view type, std::string_view help,
                       std::int64_t value) {
    text += "# HELP " + std::string(name) + " " + std::string(help) + "\n# TYPE " +
            std::string(name) + " " + std::string(type) + "\n" + std::string(name) + " " +
            std::to_string(value) + "\n";
  };
  put("takt_http_requests_total", "counter", "Requests answered by the server.", http.requests);
  put("takt_http_connections", "gauge", "Open connections.", http.connections);
  put("takt_http_requests_in_flight", "gauge", "Requests being answered.", http.in_flight);
  put("takt_store_events_total", "counter", "Events in the log.", events);
  put("takt_store_blobs_bytes", "gauge", "Bytes of stored content.", stored);
  return Response::bytes(text + jobs::render_job_metrics(), "text/plain; version=0.0.4");
}

Result<Response> ready(const SystemParts& parts) {
  if (!parts.is_ready)
    return fail(Code::kUnavailable, "the server is starting or stopping", "ask again");
  TAKT_RETURN_IF_ERROR(last_sequence(parts.db));
  return Response::json(Object{{"ready", true}});
}

Result<Response> create_backup(const SystemParts& parts, Request& request) {
  TAKT_ASSIGN(const auto by,
              parts.policy.check<access::Right::kAdminister>(request.caller, "backup"));
  TAKT_ASSIGN(const Backup backup, make_backup(parts.db, parts.data_dir));
  return Response::json(Object{{"path", backup.path.string()},
                               {"size_bytes", backup.bytes},
                               {"created_at", format_time(backup.created_ms)},
                               {"created_by", by.user().value}},
                        201);
}

Response api_description(const Request& request) {
  for (const Asset& asset : api_assets()) return asset_bytes(asset, request);
  return Response::json(Object{}, 404);
}

}  // namespace

void register_system_routes(net::Router& router, SystemParts given) {
  const auto parts = std::make_shared<SystemParts>(std::move(given));
  const net::RouteOptions anonymous{.access = net::Access::kAnonymous};
  router.add(
      Method::kGet, "/healthz",
      [](Request&) -> Result<Response> { return Response::json(Object{{"live", true}}); },
      anonymous);
  router.add(Method::kGet, "/readyz", [parts](Request&) { return ready(*parts); }, anonymous);
  router.add(
      Method::kGet, "/health", [](Request&) -> Result<Response> { return Response::text("OK"); },
      anonymous);
  router.add(
      Method::kGet, "/version",
      [](Request&) -> Result<Response> { return Response::text(std::string(track::kMlflowLevel)); },
      anonymous);
  router.add(
      Method::kGet, "/api/v1/version",
      [](Request&) -> Result<Response> {
        return Response::json(Object{{"version", kVersion}, {"mlflow_level", track::kMlflowLevel}});
      },
      anonymous);
  router.add(
      Method::kGet, "/openapi.json",
      [](Request& r) -> Result<Response> { return api_description(r); }, anonymous);
  router.add(Method::kGet, "/metrics", [parts](Request&) { return metrics(*parts); });
  router.add(Method::kPost, "/api/v1/backups",
             [parts](Request& r) { return create_backup(*parts, r); }, {.deadline_ms = 3600'000});
}

}  // namespace takt::app
