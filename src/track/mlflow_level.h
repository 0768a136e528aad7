// SPDX-License-Identifier: Apache-2.0
// The level of MLflow's server that takt's REST routes behave as; GET /version says it. Clients
// compare it (spans are exported from 3.4 on), so it is a release of theirs, never takt's own
// version.
#pragma once

#include <string_view>

namespace takt::track {

inline constexpr std::string_view kMlflowLevel = "3.11.1";

}  // namespace takt::track
