// SPDX-License-Identifier: Apache-2.0
// Searches over registered models and their versions.
#pragma once

#include <string>
#include <vector>

#include "takt/models/model_registry.h"
#include "takt/store/database.h"

namespace takt::models {

/// By name when nothing else orders. `latest_of_stages` are the newest versions of each stage.
Result<ModelPage> search_models(store::Reader& reader, const ProjectId& project,
                                const RegistrySearch& search);
/// Last changed first, then by name and number, when nothing else orders.
Result<VersionPage> search_versions(store::Reader& reader, const ProjectId& project,
                                    const RegistrySearch& search);

}  // namespace takt::models
