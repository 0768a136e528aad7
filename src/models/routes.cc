// SPDX-License-Identifier: Apache-2.0
#include "takt/models/routes.h"

#include <algorithm>

#include "takt/models/checks.h"
#include "takt/track/artifact_service.h"
#include "takt/track/download.h"

namespace takt::models {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

template <class Map>
Value object_of(const Map& map) {
  Object object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

Value json_of(const Model& model) {
  return Object{{"name", model.name},
                {"description", model.description},
                {"tags", object_of(model.tags)},
                {"aliases", object_of(model.aliases)},
                {"latest", model.latest},
                {"versions", model.versions},
                {"created_at", format_time(model.created_ms)},
                {"updated_at", format_time(model.updated_ms)}};
}

Value json_of(const ModelVersion& version) { return to_value(version); }

Array texts_of(const std::vector<std::string>& words) {
  Array texts;
  for (const std::string& word : words) texts.push_back(word);
  return texts;
}

template <class T>
Array items_of(const std::vector<T>& things) {
  Array items;
  for (const T& thing : things) items.push_back(json_of(thing));
  return items;
}

std::map<std::string, std::string> words_field(Fields& fields, std::string_view key) {
  std::map<std::string, std::string> words;
  for (const auto& [word, value] : fields.object(key)) {
    if (value.is_string())
      words[word] = value.as_string();
    else
      fields.reject(key, "tag '" + word + "' is no text");
  }
  return words;
}

struct AskedVersion {
  access::CanRead by;
  ModelVersion version;
};
Result<AskedVersion> asked_version(ModelRegistry& registry, access::Policy& policy,
                                   const Request& request) {
  TAKT_ASSIGN(const auto by,
              policy.check<Right::kRead>(request.caller, "model/" + request.path_param("name")));
  TAKT_ASSIGN(const VersionSelector selector, version_of_path(request));
  TAKT_ASSIGN(ModelVersion version, registry.resolve(by, selector));
  return AskedVersion{by, std::move(version)};
}

Result<Response> add_version(ModelRegistry& registry, access::Policy& policy, Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "model/" + name));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  NewVersion asked;
  asked.model = name;
  const std::string run = fields.text("run", "");
  const std::string path = fields.text("path", "");
  asked.tree.value = fields.text("tree", "");
  asked.description = fields.text("description", "");
  asked.tags = words_field(fields, "tags");
  asked.alias = fields.text("alias", "");
  asked.metrics_data = fields.text("data", "");
  for (const auto& [key, value] : fields.object("metrics")) {
    if (value.is_number())
      asked.metrics[key] = value.as_number();
    else
      fields.reject("metrics", "metric '" + key + "' is no number");
  }
  if (run.empty() == asked.tree.empty()) fields.reject("run", "name either a run or a tree");
  if (!asked.tree.empty() && !is_digest(asked.tree.value))
    fields.reject("tree", "'" + asked.tree.value + "' is no SHA-256 digest");
  TAKT_RETURN_IF_ERROR(fields.done());
  const std::string_view id = std::string_view(run).starts_with("run/")
                                  ? std::string_view(run).substr(4)
                                  : std::string_view(run);
  TAKT_ASSIGN(const auto added,
              run.empty() ? registry.add(by, asked)
                          : registry.add_from_run(by, asked, RunId{std::string(id)}, path));
  return Response::json(json_of(added.version), added.created ? 201 : 200);
}

Result<Response> update_version(ModelRegistry& registry, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by,
              policy.check<Right::kWrite>(request.caller, "model/" + request.path_param("name")));
  TAKT_ASSIGN(const AskedVersion asked, asked_version(registry, policy, request));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const bool describes = fields.has("description");
  const std::string description = fields.text("description", "");
  const auto tags = words_field(fields, "tags");
  TAKT_RETURN_IF_ERROR(fields.done());
  if (describes) TAKT_RETURN_IF_ERROR(registry.describe_version(by, asked.version.id, description));
  for (const auto& [key, value] : tags)
    TAKT_RETURN_IF_ERROR(registry.set_version_tag(by, asked.version.id, key, value));
  TAKT_ASSIGN(const ModelVersion version,
              registry.resolve(asked.by, {asked.version.id.name, asked.version.id.number, ""}));
  return Response::json(json_of(version));
}

Result<Response> list_files(ModelRegistry& registry, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const AskedVersion asked, asked_version(registry, policy, request));
  Array items;
  if (!asked.version.tree.empty()) {
    TAKT_ASSIGN(const content::Manifest files,
                registry.blobs().read_tree(asked.by.project(), asked.version.tree));
    for (const auto& entry : files.entries)
      items.push_back(
          Object{{"path", entry.path}, {"size_bytes", entry.size}, {"digest", entry.digest.value}});
  }
  return Response::json(Object{{"items", std::move(items)}});
}

Result<Response> get_file(ModelRegistry& registry, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const AskedVersion asked, asked_version(registry, policy, request));
  const std::string& path = request.path_param("path");
  TAKT_RETURN_IF_ERROR(track::check_artifact_path(path));
  const std::string name = asked.version.id.text();
  if (asked.version.tree.empty())
    return fail(Code::kNotFound,
                "the files of " + name + " are not here but at " + asked.version.storage);
  TAKT_ASSIGN(const content::Manifest files,
              registry.blobs().read_tree(asked.by.project(), asked.version.tree));
  const content::Entry* file = files.find(path);
  if (file == nullptr) return fail(Code::kNotFound, name + " has no file '" + path + "'");
  return track::download(registry.blobs(), asked.by.project(), *file);
}

Result<Response> set_alias_route(ModelRegistry& registry, access::Policy& policy,
                                 Request& request) {
  const std::string& name = request.path_param("name");
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "model/" + name));
  TAKT_ASSIGN(const auto can_read, policy.check<Right::kRead>(request.caller, "model/" + name));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::int64_t number = fields.integer("version", 0, 1, INT64_MAX);
  const std::string reason = fields.text("reason", "");
  TAKT_RETURN_IF_ERROR(fields.done());
  // First, for the hint of what exists.
  TAKT_RETURN_IF_ERROR(registry.resolve(can_read, {name, number, ""}));
  TAKT_RETURN_IF_ERROR(registry.set_alias(by, name, request.path_param("alias"), number, reason));
  TAKT_ASSIGN(const ModelVersion version, registry.resolve(can_read, {name, number, ""}));
  return Response::json(json_of(version));
}

void add_model_views(net::Router& router, ModelRegistry& g, access::Policy& p) {
  const std::string one = "/api/v1/models/{name}";
  router.add(Method::kGet, "/api/v1/models", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "model"));
    TAKT_ASSIGN(const auto models, g.list(by));
    return Response::json(Object{{"items", items_of(models)}});
  });
  router.add(Method::kPost, "/api/v1/models", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, "model"));
    TAKT_ASSIGN(const Value body, r.json());
    Fields fields(body, "");
    const std::string name = fields.text("name");
    const std::string description = fields.text("description", "");
    const auto tags = words_field(fields, "tags");
    TAKT_RETURN_IF_ERROR(fields.done());
    TAKT_RETURN_IF_ERROR(check_name("model name", name));
    TAKT_ASSIGN(const Model model, g.create_model(by, name, description, tags));
    return Response::json(json_of(model), 201);
  });
  router.add(Method::kGet, one, [&](Request& r) -> Result<Response> {
    const std::string& name = r.path_param("name");
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "model/" + name));
    TAKT_ASSIGN(const Model model, g.get(by, name));
    return Response::json(json_of(model));
  });
  router.add(Method::kPatch, one, [&](Request& r) -> Result<Response> {
    const std::string& name = r.path_param("name");
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, "model/" + name));
    TAKT_ASSIGN(const Value body, r.json());
    Fields fields(body, "");
    const std::string description = fields.text("description");
    TAKT_RETURN_IF_ERROR(fields.done());
    TAKT_ASSIGN(const Model model, g.describe_model(by, name, description));
    return Response::json(json_of(model));
  });
  router.add(Method::kDelete, one, [&](Request& r) -> Result<Response> {
    const std::string& name = r.path_param("name");
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, "model/" + name));
    TAKT_RETURN_IF_ERROR(g.remove_model(by, name, r.query_param("force") == "true"));
    return Response::empty();
  });
  router.add(Method::kPut, one + "/aliases/{alias}",
             [&](Request& r) { return set_alias_route(g, p, r); });
  router.add(Method::kDelete, one + "/aliases/{alias}", [&](Request& r) -> Result<Response> {
    const std::string& name = r.path_param("name");
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, "model/" + name));
    TAKT_RETURN_IF_ERROR(g.delete_alias(by, name, r.path_param("alias")));
    return Response::empty();
  });
}

}  // namespace

Value to_value(const ModelVersion& version) {
  Array aliases;
  for (const std::string& alias : version.aliases) aliases.push_back(alias);
  Object object{{"name", version.id.name},
                {"version", version.id.number},
                {"ref", ref_of(version.id).text()},
                {"files", version.files},
                {"size_bytes", version.bytes},
                {"source", version.source},
                {"description", version.description},
                {"tags", object_of(version.tags)},
                {"aliases", std::move(aliases)},
                {"metrics", object_of(version.metrics)},
                {"created_by", version.created_by.value},
                {"created_at", format_time(version.created_ms)},
                {"updated_at", format_time(version.updated_ms)}};
  if (!version.tree.empty()) object["tree"] = version.tree.value;
  if (version.has_code_scan())
    object["code"] =
        Object{{"verdict", version.code_verdict}, {"globals", texts_of(version.code_globals)}};
  if (!version.run.empty()) object["run"] = ref_of(version.run).text();
  return object;
}

Result<VersionSelector> version_of_path(const net::Request& request) {
  const std::string& name = request.path_param("name");
  const std::string& word = request.path_param("version");
  VersionSelector selector;
  selector.name = name;
  if (word == "latest") return selector;
  if (const auto number = parse_version_number(word))
    selector.number = *number;
  else
    selector.alias = word;
  return selector;
}

void register_routes(net::Router& router, ModelRegistry& g, access::Policy& p) {
  add_model_views(router, g, p);
  const std::string versions = "/api/v1/models/{name}/versions";
  const std::string one = versions + "/{version}";
  router.add(Method::kGet, versions, [&](Request& r) -> Result<Response> {
    const std::string& name = r.path_param("name");
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "model/" + name));
    TAKT_ASSIGN(const auto all, g.versions(by, name));
    return Response::json(Object{{"items", items_of(all)}});
  });
  router.add(Method::kPost, versions, [&](Request& r) { return add_version(g, p, r); });
  router.add(Method::kGet, one, [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const AskedVersion asked, asked_version(g, p, r));
    return Response::json(json_of(asked.version));
  });
  router.add(Method::kPatch, one, [&](Request& r) { return update_version(g, p, r); });
  router.add(Method::kDelete, one, [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kWrite>(r.caller, "model/" + r.path_param("name")));
    TAKT_ASSIGN(const AskedVersion asked, asked_version(g, p, r));
    TAKT_RETURN_IF_ERROR(g.remove_version(by, asked.version.id, r.query_param("force") == "true"));
    return Response::empty();
  });
  router.add(Method::kGet, one + "/files", [&](Request& r) { return list_files(g, p, r); });
  router.add(Method::kGet, one + "/content/{path...}",
             [&](Request& r) { return get_file(g, p, r); });
  register_gate_routes(router, g, p);
  register_mlflow_registry(router, g, p);
}

}  // namespace takt::models
