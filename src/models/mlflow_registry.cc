// SPDX-License-Identifier: Apache-2.0
// MLflow's registered-models and model-versions routes.
#include <algorithm>
#include <charconv>

#include "takt/models/checks.h"
#include "takt/models/routes.h"
#include "takt/track/artifact_service.h"
#include "takt/track/download.h"
#include "takt/track/filter.h"
#include "takt/track/mlflow_request.h"

namespace takt::models {
namespace {

using access::CanRead;
using access::Right;
using net::Method;
using net::Request;
using net::Response;
using track::MlflowArgs;

Value mlflow_aliases(const Model& model) {
  Array aliases;
  for (const auto& [alias, number] : model.aliases)
    aliases.push_back(Object{{"alias", alias}, {"version", std::to_string(number)}});
  return aliases;
}

Value mlflow_version(const ModelVersion& version) {
  Array aliases;
  for (const std::string& alias : version.aliases) aliases.push_back(alias);
  Object object{{"name", version.id.name},
                {"version", std::to_string(version.id.number)},
                {"creation_timestamp", version.created_ms},
                {"last_updated_timestamp", version.updated_ms},
                {"user_id", version.created_by.value},
                {"current_stage", version.stage},
                {"source", version.source},
                {"status", "READY"},
                {"tags", track::mlflow_words(version.tags)},
                {"aliases", std::move(aliases)}};
  if (!version.description.empty()) object["description"] = version.description;
  if (!version.run.empty()) object["run_id"] = version.run.value;
  if (!version.run_link.empty()) object["run_link"] = version.run_link;
  if (!version.logged_model.empty()) object["model_id"] = version.logged_model;
  return object;
}

/// The newest of each stage, as the peer calls them latest.
std::vector<const ModelVersion*> latest_of_stages(const std::vector<ModelVersion>& versions) {
  std::vector<const ModelVersion*> latest;
  for (const ModelVersion& version : versions)
    if (std::ranges::none_of(latest,
                             [&](const auto* seen) { return seen->stage == version.stage; }))
      latest.push_back(&version);
  return latest;
}

Value mlflow_model(const Model& model, const std::vector<ModelVersion>& versions) {
  Array latest;
  for (const ModelVersion* version : latest_of_stages(versions))
    latest.push_back(mlflow_version(*version));
  Object object{{"name", model.name},
                {"creation_timestamp", model.created_ms},
                {"last_updated_timestamp", model.updated_ms},
                {"latest_versions", std::move(latest)},
                {"tags", track::mlflow_words(model.tags)},
                {"aliases", mlflow_aliases(model)}};
  if (!model.description.empty()) object["description"] = model.description;
  return object;
}

Result<Value> whole_model(ModelRegistry& registry, const CanRead& by, const Model& model) {
  TAKT_ASSIGN(const auto versions, registry.versions(by, model.name));
  return mlflow_model(model, versions);
}

struct SearchLimits {
  std::int64_t fallback, max;
};

Result<RegistrySearch> search_args(const Request& request, const track::FilterRules& rules,
                                   SearchLimits limits) {
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  RegistrySearch search;
  const std::string filter = args.text("filter", "");
  const auto order = args.texts("order_by");
  search.limit = args.integer("max_results", limits.fallback);
  search.page_token = args.text("page_token", "");
  search.counts = args.boolean("count", false);
  TAKT_RETURN_IF_ERROR(args.done());
  const std::string asked = std::to_string(search.limit);
  const std::string wrong = "Invalid value " + asked + " for parameter 'max_results' supplied. ";
  if (search.limit < 1)
    return fail(Code::kInvalid, wrong + "It must be a positive integer", {}, "max_results");
  if (search.limit > limits.max)
    return fail(
        Code::kInvalid,
        wrong + "It must be at most " + std::to_string(limits.max) + ", but got value " + asked, {},
        "max_results");
  TAKT_ASSIGN(search.filter, track::parse_filter(filter, rules));
  TAKT_ASSIGN(search.order, track::parse_order(order, rules));
  return search;
}

template <class Page>
Response page_response(std::string_view key, Array items, const Page& page) {
  Object answer{{std::string(key), std::move(items)}};
  if (!page.next_page_token.empty()) answer["next_page_token"] = page.next_page_token;
  if (page.total >= 0) answer["total"] = page.total;
  return Response::json(std::move(answer));
}

Result<Response> search_model_route(ModelRegistry& registry, access::Policy& policy,
                                    Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "model"));
  TAKT_ASSIGN(const RegistrySearch search,
              search_args(request, track::registered_model_filter_rules(), {100, 1000}));
  TAKT_ASSIGN(const ModelPage page, registry.search(by, search));
  Array items;
  for (const FoundModel& found : page.models)
    items.push_back(mlflow_model(found.model, found.latest_of_stages));
  return page_response("registered_models", std::move(items), page);
}

Result<Response> search_version_route(ModelRegistry& registry, access::Policy& policy,
                                      Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "model"));
  TAKT_ASSIGN(const RegistrySearch search,
              search_args(request, track::model_version_filter_rules(), {10'000, 200'000}));
  TAKT_ASSIGN(const VersionPage page, registry.search_versions(by, search));
  Array items;
  for (const ModelVersion& version : page.versions) items.push_back(mlflow_version(version));
  return page_response("model_versions", std::move(items), page);
}

std::map<std::string, std::string> tags_argument(MlflowArgs& args) {
  std::map<std::string, std::string> tags;
  for (auto& [key, value] : args.words("tags")) tags[key] = value;
  return tags;
}

/// A call about one model: its name and who asks.
template <Right R>
struct NamedCall {
  access::Authorized<R> by;
  MlflowArgs args;
  std::string name;
};
template <Right R>
Result<NamedCall<R>> named_call(access::Policy& policy, const Request& request) {
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  std::string name = args.text("name");
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_ASSIGN(auto by, policy.check<R>(request.caller, "model/" + name));
  return NamedCall<R>{std::move(by), std::move(args), std::move(name)};
}

Result<ModelVersionId> version_argument(MlflowArgs& args, const std::string& name) {
  // A string on the wire; some clients send a number.
  if (args.object()["version"].is_int())
    return ModelVersionId{{name, args.object()["version"].as_int()}};
  const std::string text = args.text("version");
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_ASSIGN(const std::int64_t number, parse_version_number(text));
  return ModelVersionId{{name, number}};
}

Result<ModelVersion> version_of(ModelRegistry& registry, const CanRead& by,
                                const ModelVersionId& id) {
  TAKT_ASSIGN(const auto versions, registry.versions(by, id.name));
  for (const ModelVersion& version : versions)
    if (version.id == id) return version;
  return fail(Code::kNotFound, "Model Version (name=" + id.name +
                                   ", version=" + std::to_string(id.number) + ") not found");
}

Response version_response(const ModelVersion& version) {
  return Response::json(Object{{"model_version", mlflow_version(version)}});
}

Result<Response> create_version(ModelRegistry& registry, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(auto call, named_call<Right::kWrite>(policy, request));
  SourceVersion asked;
  asked.model = call.name;
  asked.source = call.args.text("source");
  asked.run.value = call.args.text("run_id", "");
  asked.logged_model = call.args.text("model_id", "");
  asked.run_link = call.args.text("run_link", "");
  asked.description = call.args.text("description", "");
  asked.tags = tags_argument(call.args);
  TAKT_RETURN_IF_ERROR(call.args.done());
  TAKT_ASSIGN(const ModelVersion made, registry.add_from_source(call.by, asked));
  return version_response(made);
}

Result<Response> latest_versions(ModelRegistry& registry, access::Policy& policy,
                                 Request& request) {
  TAKT_ASSIGN(auto call, named_call<Right::kRead>(policy, request));
  std::vector<std::string> stages;
  for (const std::string& stage : call.args.texts("stages")) {
    TAKT_ASSIGN(std::string known, parse_stage(stage));
    stages.push_back(std::move(known));
  }
  TAKT_RETURN_IF_ERROR(call.args.done());
  TAKT_ASSIGN(const auto versions, registry.versions(call.by, call.name));
  Array items;
  for (const ModelVersion* version : latest_of_stages(versions))
    if (stages.empty() || std::ranges::find(stages, version->stage) != stages.end())
      items.push_back(mlflow_version(*version));
  return Response::json(Object{{"model_versions", std::move(items)}});
}

Result<Response> get_by_alias(ModelRegistry& registry, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(auto call, named_call<Right::kRead>(policy, request));
  const std::string alias = call.args.text("alias");
  TAKT_RETURN_IF_ERROR(call.args.done());
  TAKT_ASSIGN(const Model model, registry.get(call.by, call.name));
  const auto found = model.aliases.find(alias);
  if (found == model.aliases.end())
    return fail(Code::kInvalid, "Registered model alias " + alias + " not found.", {}, "alias");
  TAKT_ASSIGN(const ModelVersion version,
              version_of(registry, call.by, ModelVersionId{{call.name, found->second}}));
  return version_response(version);
}

Result<Response> get_version_artifact(ModelRegistry& registry, access::Policy& policy,
                                      Request& request) {
  TAKT_ASSIGN(auto call, named_call<Right::kRead>(policy, request));
  const std::string path = call.args.text("path");
  TAKT_RETURN_IF_ERROR(call.args.done());
  TAKT_RETURN_IF_ERROR(track::check_artifact_path(path));
  TAKT_ASSIGN(const ModelVersionId id, version_argument(call.args, call.name));
  TAKT_ASSIGN(const ModelVersion version, version_of(registry, call.by, id));
  if (version.tree.empty())
    return fail(Code::kNotFound,
                "the files of " + id.text() + " are not here but at " + version.storage);
  TAKT_ASSIGN(const content::Manifest files,
              registry.blobs().read_tree(call.by.project(), version.tree));
  const content::Entry* file = files.find(path);
  if (file == nullptr) return fail(Code::kNotFound, id.text() + " has no file '" + path + "'");
  return track::download(registry.blobs(), call.by.project(), *file);
}

using AddRoute = std::function<void(Method, std::string_view, net::Handler)>;

void add_model_routes(const AddRoute& add, ModelRegistry& g, access::Policy& p) {
  add(Method::kPost, "registered-models/create", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string description = call.args.text("description", "");
    const auto tags = tags_argument(call.args);
    TAKT_RETURN_IF_ERROR(call.args.done());
    TAKT_ASSIGN(const Model model, g.create_model(call.by, call.name, description, tags));
    return Response::json(Object{{"registered_model", mlflow_model(model, {})}});
  });
  add(Method::kGet, "registered-models/get", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kRead>(p, r));
    TAKT_ASSIGN(const Model model, g.get(call.by, call.name));
    TAKT_ASSIGN(Value item, whole_model(g, call.by, model));
    return Response::json(Object{{"registered_model", std::move(item)}});
  });
  add(Method::kPatch, "registered-models/update", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string description = call.args.text("description", "");
    TAKT_RETURN_IF_ERROR(call.args.done());
    TAKT_ASSIGN(const Model model, g.describe_model(call.by, call.name, description));
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "model/" + call.name));
    TAKT_ASSIGN(Value item, whole_model(g, by, model));
    return Response::json(Object{{"registered_model", std::move(item)}});
  });
  add(Method::kPost, "registered-models/rename", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string new_name = call.args.text("new_name");
    TAKT_RETURN_IF_ERROR(call.args.done());
    TAKT_ASSIGN(const Model model, g.rename_model(call.by, call.name, new_name));
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "model/" + new_name));
    TAKT_ASSIGN(Value item, whole_model(g, by, model));
    return Response::json(Object{{"registered_model", std::move(item)}});
  });
  add(Method::kDelete, "registered-models/delete", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    TAKT_RETURN_IF_ERROR(g.remove_model(call.by, call.name, true));
    return track::mlflow_empty();
  });
}

void add_model_word_routes(const AddRoute& add, ModelRegistry& g, access::Policy& p) {
  add(Method::kGet, "registered-models/search",
      [&](Request& r) { return search_model_route(g, p, r); });
  add(Method::kPost, "registered-models/get-latest-versions",
      [&](Request& r) { return latest_versions(g, p, r); });
  add(Method::kGet, "registered-models/get-latest-versions",
      [&](Request& r) { return latest_versions(g, p, r); });
  add(Method::kPost, "registered-models/set-tag", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string key = call.args.text("key");
    const std::string value = call.args.text("value", "");
    TAKT_RETURN_IF_ERROR(call.args.done());
    TAKT_RETURN_IF_ERROR(g.set_model_tag(call.by, call.name, key, value));
    return track::mlflow_empty();
  });
  add(Method::kDelete, "registered-models/delete-tag", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string key = call.args.text("key");
    TAKT_RETURN_IF_ERROR(call.args.done());
    TAKT_RETURN_IF_ERROR(g.delete_model_tag(call.by, call.name, key));
    return track::mlflow_empty();
  });
  add(Method::kGet, "registered-models/alias", [&](Request& r) { return get_by_alias(g, p, r); });
  add(Method::kPost, "registered-models/alias", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string alias = call.args.text("alias");
    TAKT_RETURN_IF_ERROR(call.args.done());
    TAKT_ASSIGN(const ModelVersionId id, version_argument(call.args, call.name));
    TAKT_RETURN_IF_ERROR(g.set_alias(call.by, call.name, alias, id.number));
    return track::mlflow_empty();
  });
  add(Method::kDelete, "registered-models/alias", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string alias = call.args.text("alias");
    TAKT_RETURN_IF_ERROR(call.args.done());
    TAKT_RETURN_IF_ERROR(g.delete_alias(call.by, call.name, alias));
    return track::mlflow_empty();
  });
}

void add_version_routes(const AddRoute& add, ModelRegistry& g, access::Policy& p) {
  add(Method::kPost, "model-versions/create", [&](Request& r) { return create_version(g, p, r); });
  add(Method::kGet, "model-versions/search",
      [&](Request& r) { return search_version_route(g, p, r); });
  add(Method::kGet, "model-versions/get", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kRead>(p, r));
    TAKT_ASSIGN(const ModelVersionId id, version_argument(call.args, call.name));
    TAKT_ASSIGN(const ModelVersion version, version_of(g, call.by, id));
    return version_response(version);
  });
  add(Method::kGet, "model-versions/get-download-uri", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kRead>(p, r));
    TAKT_ASSIGN(const ModelVersionId id, version_argument(call.args, call.name));
    TAKT_ASSIGN(const ModelVersion version, version_of(g, call.by, id));
    return Response::json(Object{{"artifact_uri", download_uri(version)}});
  });
  add(Method::kPatch, "model-versions/update", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string description = call.args.text("description", "");
    TAKT_ASSIGN(const ModelVersionId id, version_argument(call.args, call.name));
    TAKT_ASSIGN(const ModelVersion version, g.describe_version(call.by, id, description));
    return version_response(version);
  });
  add(Method::kPost, "model-versions/transition-stage", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string stage = call.args.text("stage");
    const bool archives = call.args.boolean("archive_existing_versions", false);
    TAKT_ASSIGN(const ModelVersionId id, version_argument(call.args, call.name));
    TAKT_ASSIGN(const ModelVersion version, g.set_stage(call.by, id, stage, archives));
    return version_response(version);
  });
  add(Method::kDelete, "model-versions/delete", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    TAKT_ASSIGN(const ModelVersionId id, version_argument(call.args, call.name));
    TAKT_RETURN_IF_ERROR(g.remove_version(call.by, id, true));
    return track::mlflow_empty();
  });
  add(Method::kPost, "model-versions/set-tag", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string key = call.args.text("key");
    const std::string value = call.args.text("value", "");
    TAKT_ASSIGN(const ModelVersionId id, version_argument(call.args, call.name));
    TAKT_RETURN_IF_ERROR(g.set_version_tag(call.by, id, key, value));
    return track::mlflow_empty();
  });
  add(Method::kDelete, "model-versions/delete-tag", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(auto call, named_call<Right::kWrite>(p, r));
    const std::string key = call.args.text("key");
    TAKT_ASSIGN(const ModelVersionId id, version_argument(call.args, call.name));
    TAKT_RETURN_IF_ERROR(g.delete_version_tag(call.by, id, key));
    return track::mlflow_empty();
  });
}

}  // namespace

void register_mlflow_registry(net::Router& router, ModelRegistry& registry,
                              access::Policy& policy) {
  const AddRoute add = [&](Method method, std::string_view path, const net::Handler& handler) {
    track::add_mlflow_route(router, method, path, handler);
  };
  add_model_routes(add, registry, policy);
  add_model_word_routes(add, registry, policy);
  add_version_routes(add, registry, policy);
  router.add(Method::kGet, "/model-versions/get-artifact",
             [&](Request& r) { return get_version_artifact(registry, policy, r); },
             {.error_form = track::mlflow_error});
}

}  // namespace takt::models
