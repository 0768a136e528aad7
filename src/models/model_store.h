// SPDX-License-Identifier: Apache-2.0
// The tables of models.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "takt/models/model_registry.h"
#include "takt/store/database.h"

namespace takt::models {

/// False when a model of that name is there. Numbers go on where a removed one of the name ended.
Result<bool> insert_model(store::Tx& tx, const ProjectId& project, std::string_view name,
                          std::string_view description);
/// All of them, or the one called `name`.
Result<std::vector<Model>> load_models(store::Reader& reader, const ProjectId& project,
                                       std::string_view name = "");
/// "Registered Model with name=… not found".
Result<Model> load_model(store::Reader& reader, const ProjectId& project, std::string_view name);
/// Was there ever a model of that name?
Result<bool> is_name_used(store::Reader& reader, const ProjectId& project, std::string_view name);
Status store_model_description(store::Tx& tx, const ProjectId& project, std::string_view name,
                               std::string_view description);
Status store_model_name(store::Tx& tx, const ProjectId& project, std::string_view name,
                        std::string_view new_name);
/// With versions, tags and aliases.
Status mark_model_removed(store::Tx& tx, const ProjectId& project, std::string_view name);
Status store_model_tag(store::Tx& tx, const ProjectId& project, std::string_view name,
                       std::string_view key, std::string_view value);
Status remove_model_tag(store::Tx& tx, const ProjectId& project, std::string_view name,
                        std::string_view key);

/// Takes the model's next number. The model has to be there.
Result<ModelVersion> insert_version(store::Tx& tx, const ProjectId& project, ModelVersion version,
                                    std::string_view owner);
/// Newest first; of all models when `name` is empty.
Result<std::vector<ModelVersion>> load_versions(store::Reader& reader, const ProjectId& project,
                                                std::string_view name);
/// From the sixteen columns of sql's list_versions, without tags and aliases.
Result<ModelVersion> version_from_row(const store::Row& row);
/// "Model Version (name=…, version=…) not found".
Result<ModelVersion> load_version(store::Reader& reader, const ProjectId& project,
                                  const ModelVersionId& id);
Result<std::optional<ModelVersionId>> find_version_by_tree(store::Reader& reader,
                                                           const ProjectId& project,
                                                           std::string_view name,
                                                           const Digest& tree);
Result<std::optional<ModelVersionId>> find_version_by_owner(store::Reader& reader,
                                                            const ProjectId& project,
                                                            std::string_view owner);
/// Saves description and stage.
Status store_version(store::Tx& tx, const ProjectId& project, const ModelVersion& version);
/// With its aliases.
Status mark_version_removed(store::Tx& tx, const ProjectId& project, const ModelVersionId& id);
Status store_version_tag(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                         std::string_view key, std::string_view value);
Status remove_version_tag(store::Tx& tx, const ProjectId& project, const ModelVersionId& id,
                          std::string_view key);

Status store_alias(store::Tx& tx, const ProjectId& project, std::string_view name,
                   std::string_view alias, std::int64_t number);
/// False when there was none.
Result<bool> remove_alias(store::Tx& tx, const ProjectId& project, std::string_view name,
                          std::string_view alias);
Result<ModelRegistry::Counts> count_versions(store::Reader& reader, const ProjectId& project,
                                             UnixMs since_ms);

}  // namespace takt::models
