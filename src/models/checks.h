// SPDX-License-Identifier: Apache-2.0
// Names and tags that MLflow's clients may give to models; specs refer only to plainer names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "takt/base/error.h"

namespace takt::models {

/// Any text without `/`, `:` and `@`, so that models:/NAME/N and NAME@N stay readable.
Status check_model_name(std::string_view name);
/// Letters, digits, `_` and `-`; not `latest`, not a number, not v<number>.
Status check_model_alias(std::string_view alias);
Status check_registry_tag(std::string_view key, std::string_view value);
/// The stage in its canonical case.
Result<std::string> parse_stage(std::string_view stage);
/// "3" -> 3; the message is the peer's.
Result<std::int64_t> parse_version_number(std::string_view text);

}  // namespace takt::models
