// SPDX-License-Identifier: Apache-2.0
#include "takt/track/run.h"

#include <algorithm>
#include <array>

#include "takt/track/logged_model.h"

namespace takt::track {
namespace {

constexpr std::array<std::string_view, 5> kRunStatusNames{"RUNNING", "SCHEDULED", "FINISHED",
                                                          "FAILED", "KILLED"};

}  // namespace

std::string_view run_status_name(RunStatus status) {
  return kRunStatusNames[static_cast<std::size_t>(status)];
}

Result<RunStatus> parse_run_status(std::string_view name) {
  const auto found = std::ranges::find(kRunStatusNames, name);
  if (found == kRunStatusNames.end())
    return fail(Code::kInvalid, "unknown run status '" + std::string(name.substr(0, 80)) + "'",
                "use RUNNING, SCHEDULED, FINISHED, FAILED or KILLED", "status");
  return static_cast<RunStatus>(found - kRunStatusNames.begin());
}

bool is_logged_model_id(std::string_view text) {
  return text.size() == 34 && text.starts_with("m-") &&
         std::ranges::all_of(text.substr(2), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace takt::track
