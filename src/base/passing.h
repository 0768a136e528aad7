// SPDX-License-Identifier: Apache-2.0
// Which failures are worth waiting out.
#pragma once

#include "takt/base/error.h"

namespace takt {

/// May pass by itself, so that the same call is worth repeating later: nobody did anything wrong.
inline bool is_passing(Code code) { return code == Code::kUnavailable || code == Code::kTimeout; }

}  // namespace takt
