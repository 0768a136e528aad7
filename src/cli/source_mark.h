// SPDX-License-Identifier: Apache-2.0
// Shows where in a text the server found a mistake.
#pragma once

#include <string>
#include <string_view>

namespace takt::cli {

/// "\n  TEXT\n     ^" for a hint that begins "at character N"; "" for others. A long text is cut
/// around the mark. Pure.
std::string mark_under(std::string_view text, std::string_view hint);

}  // namespace takt::cli
