// SPDX-License-Identifier: Apache-2.0
// The search filter and order parsers on any bytes: no crash, and what they accept can be applied.
#include <cstdint>
#include <string_view>

#include "takt/track/filter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt::track;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const FilterRules* rules : {&run_filter_rules(), &model_version_filter_rules()}) {
    if (const auto filter = parse_filter(text, *rules))
      for (const Clause& clause : *filter)
        (void)(clause_holds(clause, std::string("x")) || clause_holds(clause, 1.0) ||
               clause_holds(clause, {}));
    (void)parse_order({std::string(text)}, *rules).has_value();
  }
  return 0;
}
