// SPDX-License-Identifier: Apache-2.0
// The reading half of ModelRegistry.
#include "takt/models/model_registry.h"
#include "takt/models/model_search_store.h"
#include "takt/models/model_store.h"

namespace takt::models {
namespace {

std::string hint_of_names(const std::vector<Model>& models, std::string_view wanted) {
  std::vector<std::string> names;
  for (const Model& model : models) names.push_back(model.name);
  const std::string near = nearest_name(wanted, names);
  if (!near.empty()) return "did you mean '" + near + "'?";
  return names.empty() ? "register one with `takt models register NAME --run RUN`"
                       : "see `takt models ls`";
}

std::string hint_of_version(const Model& model, const std::vector<ModelVersion>& versions) {
  std::string text;
  for (auto version = versions.rbegin(); version != versions.rend(); ++version)
    text += (text.empty() ? "versions that exist: " : ", ") + std::to_string(version->id.number);
  if (text.empty()) text = "it has no versions";
  if (!model.aliases.empty()) {
    std::string aliases;
    for (const auto& [alias, number] : model.aliases)
      aliases += (aliases.empty() ? "" : ", ") + alias + " (" + std::to_string(number) + ")";
    text += "; aliases: " + aliases;
  }
  return text;
}

}  // namespace

Result<std::vector<Model>> ModelRegistry::list(const access::CanRead& by) {
  std::vector<Model> models;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(models, load_models(reader, by.project()));
    return {};
  }));
  return models;
}

Result<Model> ModelRegistry::get(const access::CanRead& by, std::string_view name) {
  Model model;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    auto found = load_model(reader, by.project(), name);
    if (!found) {
      TAKT_ASSIGN(const auto models, load_models(reader, by.project()));
      return fail(std::move(found).error().with_hint(hint_of_names(models, name)));
    }
    model = std::move(*found);
    return {};
  }));
  return model;
}

Result<std::vector<ModelVersion>> ModelRegistry::versions(const access::CanRead& by,
                                                          std::string_view name) {
  TAKT_RETURN_IF_ERROR(get(by, name));
  std::vector<ModelVersion> versions;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(versions, load_versions(reader, by.project(), name));
    return {};
  }));
  return versions;
}

Result<ModelPage> ModelRegistry::search(const access::CanRead& by, const RegistrySearch& search) {
  ModelPage page;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(page, search_models(reader, by.project(), search));
    return {};
  }));
  return page;
}

Result<VersionPage> ModelRegistry::search_versions(const access::CanRead& by,
                                                   const RegistrySearch& search) {
  VersionPage page;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(page, models::search_versions(reader, by.project(), search));
    return {};
  }));
  return page;
}

Result<ModelVersion> ModelRegistry::resolve(const access::CanRead& by,
                                            const VersionSelector& selector) {
  TAKT_ASSIGN(const Model model, get(by, selector.name));
  TAKT_ASSIGN(const auto all, versions(by, selector.name));
  std::int64_t number = selector.number == 0 ? model.latest : selector.number;
  std::string asked =
      model.name + (selector.number == 0 ? "" : "@" + std::to_string(selector.number));
  if (!selector.alias.empty() && selector.alias != "latest") {
    const auto alias = model.aliases.find(selector.alias);
    number = alias == model.aliases.end() ? -1 : alias->second;
    asked = model.name + "@" + selector.alias;
  }
  for (const ModelVersion& version : all)
    if (version.id.number == number) return version;
  return fail(Code::kNotFound, "no model version " + asked, hint_of_version(model, all));
}

Result<ModelRegistry::Counts> ModelRegistry::counts(const access::CanRead& by, UnixMs since_ms) {
  Counts counts;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(counts, count_versions(reader, by.project(), since_ms));
    return {};
  }));
  return counts;
}

}  // namespace takt::models
