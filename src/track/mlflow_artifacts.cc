// SPDX-License-Identifier: Apache-2.0
#include "takt/track/download.h"
#include "takt/track/mlflow_request.h"
#include "takt/track/mlflow_routes.h"

namespace takt::track {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

constexpr std::size_t kArtifactBytesMax = std::size_t{1} << 40;
constexpr std::int64_t kArtifactDeadlineMs = 24ll * 3600 * 1000;

/// Items with paths below `folder` (run-relative listing) or with bare names.
Array mlflow_files(const std::vector<ArtifactItem>& items, std::string_view folder) {
  Array files;
  for (const ArtifactItem& item : items) {
    Object file{{"path", folder.empty() ? item.name : std::string(folder) + "/" + item.name},
                {"is_dir", item.is_folder}};
    if (!item.is_folder) file["file_size"] = item.size;
    files.push_back(std::move(file));
  }
  return files;
}

std::string trim_slashes(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

/// GET mlflow-artifacts/artifacts?path=: names relative to the folder.
Result<Response> list_proxied(ArtifactService& artifacts, access::Policy& policy,
                              Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "artifact"));
  TAKT_ASSIGN(const auto items, artifacts.list(by, trim_slashes(request.query_param("path"))));
  if (items.empty()) return mlflow_empty();
  return Response::json(Object{{"files", mlflow_files(items, "")}});
}

Result<Response> get_proxied(ArtifactService& artifacts, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "artifact"));
  TAKT_ASSIGN(const content::Entry file, artifacts.find(by, request.path_param("path")));
  return download(artifacts.blobs(), by.project(), file);
}

Result<Response> put_proxied(ArtifactService& artifacts, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "artifact"));
  TAKT_RETURN_IF_ERROR(artifacts.put(
      by, request.path_param("path"),
      [stream = request.stream](std::span<char> buffer) { return stream->read(buffer); }));
  return mlflow_empty();
}

Result<Response> delete_proxied(ArtifactService& artifacts, access::Policy& policy,
                                Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "artifact"));
  TAKT_RETURN_IF_ERROR(artifacts.remove(by, request.path_param("path")));
  return mlflow_empty();
}

Result<Response> list_of_run(TrackService& track, ArtifactService& artifacts,
                             access::Policy& policy, Request& request) {
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  const RunId id = args.run_id();
  const std::string folder = trim_slashes(args.text("path", ""));
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run/" + id.value));
  TAKT_ASSIGN(const Run run, track.run(by, id));
  TAKT_RETURN_IF_ERROR(check_artifact_path(folder));
  TAKT_ASSIGN(const auto items, artifacts.list_in(by, {root_of_run(id), {}, folder}));
  Object answer{{"root_uri", run.artifact_uri}};
  if (!items.empty()) answer["files"] = mlflow_files(items, folder);
  return Response::json(std::move(answer));
}

Result<Response> get_of_run(TrackService& track, ArtifactService& artifacts, access::Policy& policy,
                            Request& request) {
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  const RunId id = args.run_id();
  const std::string path = args.text("path");
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_RETURN_IF_ERROR(check_artifact_path(path));
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "run/" + id.value));
  TAKT_RETURN_IF_ERROR(track.run(by, id));
  TAKT_ASSIGN(const content::Entry file, artifacts.find_in(by, {root_of_run(id), {}, path}));
  return download(artifacts.blobs(), by.project(), file);
}

}  // namespace

void register_mlflow_artifacts(net::Router& router, TrackService& t, ArtifactService& a,
                               access::Policy& p) {
  const net::RouteOptions upload{.body = net::BodyMode::kStream,
                                 .body_bytes_max = kArtifactBytesMax,
                                 .deadline_ms = kArtifactDeadlineMs,
                                 .error_form = mlflow_error};
  const net::RouteOptions plain{.error_form = mlflow_error};
  const net::RouteOptions transfer{.deadline_ms = kArtifactDeadlineMs, .error_form = mlflow_error};
  for (const std::string prefix :
       {"/api/2.0/mlflow-artifacts/artifacts", "/ajax-api/2.0/mlflow-artifacts/artifacts"}) {
    router.add(Method::kGet, prefix, [&](Request& r) { return list_proxied(a, p, r); }, plain);
    router.add(
        Method::kGet, prefix + "/{path...}", [&](Request& r) { return get_proxied(a, p, r); },
        transfer);
    router.add(
        Method::kPut, prefix + "/{path...}", [&](Request& r) { return put_proxied(a, p, r); },
        upload);
    router.add(
        Method::kDelete, prefix + "/{path...}", [&](Request& r) { return delete_proxied(a, p, r); },
        plain);
  }
  add_mlflow_route(router, Method::kGet, "artifacts/list",
                   [&](Request& r) { return list_of_run(t, a, p, r); });
  router.add(
      Method::kGet, "/get-artifact", [&](Request& r) { return get_of_run(t, a, p, r); }, transfer);
}

}  // namespace takt::track
