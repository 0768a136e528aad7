// SPDX-License-Identifier: Apache-2.0
// The verbs that data writes into the event log.
#pragma once

#include <string_view>

namespace takt::data {

/// details: {created_by_tree, files, size_bytes, rows}; after_digest is the tree.
inline constexpr std::string_view kVersionAdded = "dataset.version-added";
inline constexpr std::string_view kVersionRemoved = "dataset.removed";
inline constexpr std::string_view kVersionValidated = "dataset.validated";

}  // namespace takt::data
