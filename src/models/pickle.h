// SPDX-License-Identifier: Apache-2.0
// Walks the opcodes of a pickle without ever running one: which names would loading it import?
// Memory is bounded whatever the file's size. Formats: docs/formats/code-scan.md.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "takt/base/error.h"

namespace takt::models {

/// Fills the span from the file's offset; how many bytes came, 0 behind the end.
using ReadAt = std::function<Result<std::size_t>(std::int64_t, std::span<char>)>;

struct PickleScan {
  std::set<std::string> globals;  // "module name", as pickle looks them up
  std::string trouble;            // why the walk stopped early; "" when it reached the end
  int pickles = 0;                // how many whole ones were walked: files may hold several
};
/// Of the file's pickles, one behind the other. An error only when `read` gives one.
Result<PickleScan> scan_pickle(const ReadAt& read, std::int64_t size);

/// Does importing and calling this name do nothing but build a value?
bool is_harmless(std::string_view global);

}  // namespace takt::models
