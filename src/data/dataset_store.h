// SPDX-License-Identifier: Apache-2.0
// The tables of data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/data/dataset_service.h"
#include "takt/store/database.h"

namespace takt::data {

/// Takes the next number of the dataset (created when absent) and stores the version under it.
Result<DatasetVersion> insert_version(store::Tx& tx, const ProjectId& project,
                                      DatasetVersion version);
Result<std::optional<DatasetVersion>> find_version_by_tree(store::Reader& reader,
                                                           const ProjectId& project,
                                                           std::string_view name,
                                                           const Digest& tree);
/// kNotFound says who removed it and when, if it was.
Result<DatasetVersion> load_version(store::Reader& reader, const ProjectId& project,
                                    const DatasetVersionId& id);
Result<std::vector<DatasetVersion>> load_versions(store::Reader& reader, const ProjectId& project,
                                                  std::string_view name);
/// All of them, or the one called `name`.
Result<std::vector<Dataset>> load_datasets(store::Reader& reader, const ProjectId& project,
                                           std::string_view name = "");
Status mark_removed(store::Tx& tx, const ProjectId& project, const DatasetVersionId& id,
                    const UserId& by);
Status store_checks(store::Tx& tx, const ProjectId& project, const DatasetVersionId& id,
                    const Value& report);
Result<std::int64_t> count_versions_since(store::Reader& reader, const ProjectId& project,
                                          UnixMs since_ms);

}  // namespace takt::data
