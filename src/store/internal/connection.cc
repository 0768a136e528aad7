// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/connection.h"

#include <cmath>

namespace takt::store::internal {

Status check_params(const Params& params) {
  for (std::size_t i = 0; i < params.size(); ++i) {
    const auto* number = std::get_if<double>(&params[i]);
    if (number != nullptr && std::isnan(*number)) {
      return fail(Code::kInvalid,
                  "not-a-number cannot be stored (parameter " + std::to_string(i + 1) + ")");
    }
    const auto* text = std::get_if<std::string>(&params[i]);
    if (text != nullptr && text->find('\0') != std::string::npos) {
      return fail(Code::kInvalid,
                  "text must not hold a NUL character (parameter " + std::to_string(i + 1) + ")");
    }
  }
  return {};
}

}  // namespace takt::store::internal
