// SPDX-License-Identifier: Apache-2.0
// The search filter and order parsers on any bytes: no crash, and what they accept can be applied
// and has one spelling.
#include <cstdint>
#include <string_view>

#include "takt/track/filter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt::track;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const FilterRules* rules :
       {&run_filter_rules(), &experiment_filter_rules(), &logged_model_filter_rules(),
        &registered_model_filter_rules(), &model_version_filter_rules()}) {
    if (const auto filter = parse_filter(text, *rules)) {
      for (const Held& held :
           {Held{}, Held{1.0}, Held{std::string("x")}, Held{std::string("-1e3")}})
        (void)filter_holds(*filter,
                           [&](const Clause& clause) { return clause_holds(clause, held); });
      if (text_of(*filter) != text_of(*parse_filter(text, *rules))) __builtin_trap();
    } else if (filter.error().field != "filter") {
      __builtin_trap();
    }
    (void)parse_order({std::string(text)}, *rules).has_value();
  }
  (void)number_in_text(text);
  return 0;
}
