// SPDX-License-Identifier: Apache-2.0
// Job specs from YAML: what is taken can be written and read again as the same spec.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "takt/jobs/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = takt::parse_yaml(text);
  if (!document || !document->is_object()) return 0;
  const auto spec = takt::jobs::parse_job_spec("fuzz", (*document)["spec"]);
  if (!spec) return 0;
  const takt::Value stored = takt::jobs::to_value(*spec);
  const auto again = takt::jobs::parse_job_spec("fuzz", stored);
  TAKT_CHECK(again.has_value(), "a stored job spec cannot be read");
  TAKT_CHECK(takt::jobs::to_value(*again) == stored, "a job spec changed when it was stored");
  return 0;
}
