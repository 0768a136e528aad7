// SPDX-License-Identifier: Apache-2.0
// Amounts as people write them: "500m" of CPU, "512MiB", "10m".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "takt/base/error.h"

namespace takt {

/// "500m" or "0.5" or "2" -> millicores.
Result<std::int64_t> parse_cpu(std::string_view text);
/// "512MiB", "1GiB", "100MB", "4096" (bytes) -> bytes.
Result<std::int64_t> parse_bytes(std::string_view text);
/// "90s", "10m", "2h", "1h30m", "250ms" -> milliseconds.
Result<std::int64_t> parse_duration_ms(std::string_view text);
std::string format_cpu(std::int64_t millicores);  // "500m", "2"
std::string format_bytes(std::int64_t bytes);     // "1.5 GiB"
std::string format_duration_ms(std::int64_t ms);  // "31 min 52 s"

}  // namespace takt
