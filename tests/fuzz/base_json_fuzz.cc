// SPDX-License-Identifier: Apache-2.0
// What parses as JSON is written as JSON that parses to an equal value.
#include <cstddef>
#include <cstdint>

#include "takt/base/value.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const takt::Result<takt::Value> value = takt::parse_json(text);
  if (!value) {
    TAKT_CHECK(!value.error().message.empty(), "an error without words");
    return 0;
  }
  const std::string dumped = takt::dump_json(*value);
  const takt::Result<takt::Value> again = takt::parse_json(dumped);
  TAKT_CHECK(again && *again == *value, "JSON does not round trip");
  TAKT_CHECK(takt::parse_json(takt::dump_json_pretty(*value)).has_value(),
             "pretty JSON is no JSON");
  return 0;
}
