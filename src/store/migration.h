// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace takt::store {

/// One forward step of the schema; `name` is its file name without `.sql` and orders them all.
struct Migration {
  std::string_view name;
  std::string_view sql;
};

}  // namespace takt::store
