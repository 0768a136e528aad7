// SPDX-License-Identifier: Apache-2.0
// From anything a person may paste to the page that shows it.
#pragma once

#include <string>

#include "takt/base/ids.h"

namespace takt::spine {

/// Path in the console, below /p/PROJECT ("/jobs/41"); kinds without a page lead to /why/REF.
std::string console_path(const Ref& ref);

}  // namespace takt::spine
