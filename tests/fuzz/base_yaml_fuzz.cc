// SPDX-License-Identifier: Apache-2.0
// YAML specs: no input crashes, hangs, throws, or grows beyond its size; the result is plain data.
#include <cstddef>
#include <cstdint>

#include "takt/base/units.h"
#include "takt/base/value.h"

namespace {

// The readers that every spec goes through.
void read_as_spec(const takt::Value& document) {
  takt::Fields fields(document, "");
  fields.text("kind", "");
  fields.text("name", "");
  fields.texts("command");
  (void)takt::parse_cpu(fields.amount("cpu", "1"));
  (void)takt::parse_bytes(fields.amount("memory", "1MiB"));
  (void)takt::parse_duration_ms(fields.text("timeout", "1s"));
  fields.integer("seed", 0, 0, 100);
  (void)fields.done();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto documents = takt::parse_yaml_documents(text);
  if (!documents) {
    TAKT_CHECK(!documents.error().message.empty(), "an error without words");
    return 0;
  }
  for (const takt::Value& document : *documents) {
    const std::string dumped = takt::dump_json(document);
    TAKT_CHECK(dumped.size() <= 64 + 32 * size, "the result outgrew its text");
    TAKT_CHECK(takt::parse_json(dumped).has_value(), "the dump is no JSON");
    read_as_spec(document);
  }
  return 0;
}
