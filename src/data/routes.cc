// SPDX-License-Identifier: Apache-2.0
#include "takt/data/routes.h"

#include <algorithm>

#include "takt/data/diff.h"
#include "takt/data/table.h"
#include "takt/store/pull.h"

namespace takt::data {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

constexpr std::int64_t kFilesPerPage = 1000;
constexpr std::int64_t kFilesPerPageMax = 10'000;
constexpr std::int64_t kInMemoryBytesMax = 8 << 20;

Value json_of(const Dataset& dataset) {
  return Object{{"name", dataset.name},
                {"latest", dataset.latest},
                {"versions", dataset.versions},
                {"created_at", format_time(dataset.created_ms)},
                {"updated_at", format_time(dataset.updated_ms)}};
}

Value json_of(const DatasetVersion& version) {
  Object object{{"name", version.id.name},
                {"version", version.id.number},
                {"ref", ref_of(version.id).text()},
                {"tree", version.tree.value},
                {"files", version.files},
                {"size_bytes", version.bytes},
                {"note", version.note},
                {"created_by", version.created_by.value},
                {"created_at", format_time(version.created_ms)},
                {"profile", version.profile},
                {"checks", version.checks}};
  if (version.rows >= 0) object["rows"] = version.rows;
  if (!version.made_by.kind.empty()) object["made_by"] = version.made_by.text();
  return object;
}

Value json_of(const content::Entry& entry) {
  return Object{{"path", entry.path}, {"size_bytes", entry.size}, {"digest", entry.digest.value}};
}

template <class T>
Array json_array(const std::vector<T>& things) {
  Array array;
  for (const T& thing : things) array.push_back(json_of(thing));
  return array;
}

Value json_of(const DatasetDiff& diff) {
  Array changed, tables;
  for (const auto& pair : diff.files.changed)
    changed.push_back(Object{{"path", pair.after.path},
                             {"before", json_of(pair.before)},
                             {"after", json_of(pair.after)}});
  for (const TableDiff& table : diff.tables) {
    Array added, removed;
    for (const auto& row : table.added_rows) added.push_back(row);
    for (const auto& row : table.removed_rows) removed.push_back(row);
    tables.push_back(Object{{"path", table.path},
                            {"added", table.added},
                            {"removed", table.removed},
                            {"added_rows", std::move(added)},
                            {"removed_rows", std::move(removed)}});
  }
  return Object{{"from", ref_of(diff.from).text()},
                {"to", ref_of(diff.to).text()},
                {"files", Object{{"added", json_array(diff.files.added)},
                                 {"removed", json_array(diff.files.removed)},
                                 {"changed", std::move(changed)}}},
                {"rows", std::move(tables)}};
}

Result<std::int64_t> version_param(const Request& request) {
  const std::string& text = request.path_param("version");
  if (text == "latest") return 0;
  TAKT_ASSIGN(const VersionSelector selector, parse_version_selector("x@" + text));
  if (selector.number == 0)
    return fail(Code::kInvalid, "'" + text + "' is no version", "use a number or latest",
                "version");
  return selector.number;
}

/// A request about one version: who asks, and the version.
struct Asked {
  access::CanRead by;
  DatasetVersion version;
};
Result<Asked> asked_version(DatasetService& datasets, access::Policy& policy,
                            const Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "dataset/" + name));
  TAKT_ASSIGN(const std::int64_t number, version_param(request));
  TAKT_ASSIGN(DatasetVersion version, datasets.get(by, name, number));
  return Asked{by, std::move(version)};
}

Result<content::Entry> file_of(DatasetService& datasets, const Asked& asked,
                               std::string_view path) {
  TAKT_ASSIGN(const content::Manifest manifest, datasets.files(asked.by, asked.version));
  const content::Entry* entry = manifest.find(path);
  if (entry == nullptr)
    return fail(Code::kNotFound,
                asked.version.id.text() + " has no file '" + std::string(path) + "'",
                "see `takt data show " + asked.version.id.text() + " --files`");
  return *entry;
}

Result<Response> add_version(DatasetService& datasets, access::Policy& policy, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "dataset/" + name));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::string tree = fields.text("tree");
  const std::string note = fields.text("note", "");
  if (!is_digest(tree)) fields.reject("tree", "'" + tree + "' is no SHA-256 digest");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const auto added, datasets.add_version(by, name, Digest{tree}, {}, note));
  return Response::json(json_of(added.version), added.created ? 201 : 200);
}

Result<Response> list_files(DatasetService& datasets, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const Asked asked, asked_version(datasets, policy, request));
  TAKT_ASSIGN(const std::int64_t limit,
              request.query_integer("limit", kFilesPerPage, 1, kFilesPerPageMax));
  const std::string after(request.query_param("after"));
  TAKT_ASSIGN(const content::Manifest manifest, datasets.files(asked.by, asked.version));
  Array items;
  Object body{{"tree", asked.version.tree.value}};
  auto entry = std::ranges::upper_bound(manifest.entries, after, {}, &content::Entry::path);
  for (; entry != manifest.entries.end() && static_cast<std::int64_t>(items.size()) < limit;
       ++entry)
    items.push_back(json_of(*entry));
  if (entry != manifest.entries.end()) body["next_page_token"] = std::prev(entry)->path;
  body["items"] = std::move(items);
  return Response::json(std::move(body));
}

Result<Response> get_content(DatasetService& datasets, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const Asked asked, asked_version(datasets, policy, request));
  TAKT_ASSIGN(const content::Entry entry, file_of(datasets, asked, request.path_param("path")));
  Response response;
  if (entry.size <= kInMemoryBytesMax) {
    // Read whole first, so that a corrupted file is an error and never a body.
    std::string bytes;
    TAKT_RETURN_IF_ERROR(datasets.read_file(asked.by, entry, [&](std::string_view part) -> Status {
      bytes += part;
      return {};
    }));
    response = Response::bytes(std::move(bytes), "application/octet-stream");
  } else {
    response.headers.set("Content-Type", "application/octet-stream");
    response.content_length = entry.size;
    response.body = net::PullBody(
        store::pull_blob(datasets.blobs(), asked.by.project(), entry.digest, entry.size));
  }
  const auto slash = entry.path.rfind('/');
  const std::string file_name =
      slash == std::string::npos ? entry.path : entry.path.substr(slash + 1);
  response.headers.set("Content-Disposition",
                       "attachment; filename*=UTF-8''" + net::percent_encode(file_name));
  response.headers.set("Content-Security-Policy", "sandbox; default-src 'none'");
  return response;
}

Result<Response> preview(DatasetService& datasets, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const Asked asked, asked_version(datasets, policy, request));
  TAKT_ASSIGN(const std::int64_t wanted, request.query_integer("rows", 50, 1, 500));
  std::string path(request.query_param("path"));
  TAKT_ASSIGN(const content::Manifest manifest, datasets.files(asked.by, asked.version));
  for (const auto& entry : manifest.entries)
    if (path.empty() && table_format(entry.path) != TableFormat::kNone) path = entry.path;
  if (path.empty() || table_format(path) == TableFormat::kNone)
    return fail(Code::kNotFound, asked.version.id.text() + " has no table to preview");
  TAKT_ASSIGN(const content::Entry entry, file_of(datasets, asked, path));
  TableHead head(table_format(path), static_cast<std::size_t>(wanted));
  constexpr std::int64_t kPreviewBytes = 1 << 20;
  const bool is_whole = entry.size <= kPreviewBytes;
  TAKT_RETURN_IF_ERROR(datasets.blobs().read(
      asked.by.project(), entry.digest, 0, std::min(entry.size, kPreviewBytes),
      [&](std::string_view bytes) { return head.feed(bytes); }));
  if (is_whole) TAKT_RETURN_IF_ERROR(head.finish());
  Array columns, rows;
  for (const auto& name : head.columns()) columns.push_back(name);
  for (const Cells& cells : head.rows()) {
    Array row;
    for (const auto& cell : cells) row.push_back(cell.value_or(""));
    rows.push_back(std::move(row));
  }
  return Response::json(
      Object{{"path", path}, {"columns", std::move(columns)}, {"rows", std::move(rows)}});
}

Result<Response> diff(DatasetService& datasets, access::Policy& policy, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "dataset/" + name));
  TAKT_ASSIGN(const std::int64_t from, request.query_integer("from", 0, 1, INT64_MAX));
  TAKT_ASSIGN(const std::int64_t to, request.query_integer("to", 0, 1, INT64_MAX));
  TAKT_ASSIGN(const DatasetVersion before, datasets.get(by, name, from));
  TAKT_ASSIGN(const DatasetVersion after, datasets.get(by, name, to));
  TAKT_ASSIGN(const DatasetDiff result, diff_versions(datasets, by, before, after));
  return Response::json(json_of(result));
}

Result<Response> remove(DatasetService& datasets, access::Policy& policy, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "dataset/" + name));
  TAKT_ASSIGN(const std::int64_t number, version_param(request));
  TAKT_RETURN_IF_ERROR(datasets.remove(by, name, number, request.query_param("force") == "true"));
  return Response::empty();
}

}  // namespace

void register_routes(net::Router& router, DatasetService& d, access::Policy& p) {
  const std::string one = "/api/v1/datasets/{name}";
  const std::string version = one + "/versions/{version}";
  router.add(Method::kGet, "/api/v1/datasets", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "dataset"));
    TAKT_ASSIGN(const auto datasets, d.list(by));
    return Response::json(Object{{"items", json_array(datasets)}});
  });
  router.add(Method::kGet, one, [&](Request& r) -> Result<Response> {
    const std::string& name = r.path_param("name");
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "dataset/" + name));
    TAKT_RETURN_IF_ERROR(d.versions(by, name));  // kNotFound with the nearest name
    TAKT_ASSIGN(const auto datasets, d.list(by));
    const auto found = std::ranges::find(datasets, name, &Dataset::name);
    return Response::json(json_of(*found));
  });
  router.add(Method::kGet, one + "/versions", [&](Request& r) -> Result<Response> {
    const std::string& name = r.path_param("name");
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "dataset/" + name));
    TAKT_ASSIGN(const auto versions, d.versions(by, name));
    return Response::json(Object{{"items", json_array(versions)}});
  });
  router.add(Method::kPost, one + "/versions", [&](Request& r) { return add_version(d, p, r); },
             {.deadline_ms = 600'000});
  router.add(Method::kGet, version, [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const Asked asked, asked_version(d, p, r));
    return Response::json(json_of(asked.version));
  });
  router.add(Method::kDelete, version, [&](Request& r) { return remove(d, p, r); });
  router.add(Method::kGet, version + "/files", [&](Request& r) { return list_files(d, p, r); });
  router.add(Method::kGet, version + "/content/{path...}",
             [&](Request& r) { return get_content(d, p, r); });
  router.add(Method::kGet, version + "/preview", [&](Request& r) { return preview(d, p, r); });
  router.add(Method::kGet, one + "/diff", [&](Request& r) { return diff(d, p, r); });
}

}  // namespace takt::data
