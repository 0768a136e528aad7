// SPDX-License-Identifier: Apache-2.0
// The tables of logged models.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "takt/store/database.h"
#include "takt/track/logged_model.h"

namespace takt::track {

/// The row, with params and tags.
Status insert_logged_model(store::Tx& tx, const ProjectId& project, const LoggedModel& model);
/// Whole, deleted ones too.
Result<std::optional<LoggedModel>> find_logged_model(store::Reader& reader,
                                                     const ProjectId& project, std::string_view id);
/// The newest of that name that the run made.
Result<std::optional<LoggedModel>> find_logged_model_of_run(store::Reader& reader,
                                                            const ProjectId& project,
                                                            const RunId& run,
                                                            std::string_view name);
/// From the twelve columns of sql's find_logged_model: without params, tags and metrics.
LoggedModel logged_model_from_row(const store::Row& row);
Status store_logged_model_status(store::Tx& tx, const ProjectId& project, std::string_view id,
                                 std::string_view status, std::string_view message);
Status mark_logged_model_deleted(store::Tx& tx, const ProjectId& project, std::string_view id);
/// The value that it has under the key already, when that is another one; it stays.
Result<std::optional<std::string>> store_logged_model_param(store::Tx& tx, std::string_view id,
                                                            std::string_view key,
                                                            std::string_view value);
Status store_logged_model_tag(store::Tx& tx, std::string_view id, std::string_view key,
                              std::string_view value);
Result<bool> remove_logged_model_tag(store::Tx& tx, std::string_view id, std::string_view key);
/// Keeps the later one per run and dataset.
Status store_logged_model_metric(store::Tx& tx, const RunId& run, const Metric& metric);

}  // namespace takt::track
