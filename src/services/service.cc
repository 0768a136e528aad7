// SPDX-License-Identifier: Apache-2.0
#include "takt/services/service.h"

#include <array>
#include <charconv>

#include "takt/base/digest.h"
#include "takt/base/units.h"

namespace takt::services {
namespace {

constexpr std::array<std::string_view, 4> kStateNames = {"starting", "ready", "failed", "stopped"};
constexpr std::int64_t kReplicasMax = 64;
constexpr std::int64_t kBatchRowsMax = 65'536;
constexpr std::int64_t kBatchDelayUsMax = 10'000'000;
constexpr std::int64_t kMemoryBytesMin = 16 << 20;

void read_resource(Fields& fields, std::string_view key,
                   Result<std::int64_t> (*parse)(std::string_view), std::int64_t min,
                   std::int64_t& into) {
  const std::string text = fields.amount(key, "");
  if (text.empty()) return;
  const auto value = parse(text);
  if (!value)
    fields.reject(key, value.error().message, value.error().hint);
  else if (*value < min)
    fields.reject(key, "must be at least " + std::to_string(min) + ", got " + text);
  else
    into = *value;
}

}  // namespace

std::string_view revision_state_name(RevisionState state) {
  return kStateNames[static_cast<std::size_t>(state)];
}

Result<RevisionState> parse_revision_state(std::string_view name) {
  for (std::size_t i = 0; i < kStateNames.size(); ++i)
    if (kStateNames[i] == name) return static_cast<RevisionState>(i);
  return fail(Code::kInternal, "unknown revision state '" + std::string(name) + "'");
}

Result<ServiceSpec> parse_service_spec(const Value& value) {
  ServiceSpec spec;
  Fields fields(value, "spec");
  spec.model = fields.text("model");
  spec.replicas = static_cast<int>(fields.integer("replicas", 1, 1, kReplicasMax));
  const Value resources = fields.object("resources");
  const Value batching = fields.object("batching");
  TAKT_RETURN_IF_ERROR(fields.done());
  if (const auto selector = parse_version_selector(spec.model); !selector)
    return fail(Error(selector.error()).with_field("spec.model"));
  Fields amounts(resources, "spec.resources");
  read_resource(amounts, "cpu", parse_cpu, 1, spec.cpu_millicores);
  read_resource(amounts, "memory", parse_bytes, kMemoryBytesMin, spec.memory_bytes);
  TAKT_RETURN_IF_ERROR(amounts.done());
  Fields batch(batching, "spec.batching");
  spec.batch_rows_max = batch.integer("max_batch_size", spec.batch_rows_max, 0, kBatchRowsMax);
  spec.batch_delay_us = batch.integer("max_delay_us", 0, 0, kBatchDelayUsMax);
  TAKT_RETURN_IF_ERROR(batch.done());
  return spec;
}

Value to_value(const ServiceSpec& spec) {
  return Object{{"model", spec.model},
                {"replicas", spec.replicas},
                {"resources", Object{{"cpu", std::to_string(spec.cpu_millicores) + "m"},
                                     {"memory", std::to_string(spec.memory_bytes)}}},
                {"batching", Object{{"max_batch_size", spec.batch_rows_max},
                                    {"max_delay_us", spec.batch_delay_us}}}};
}

Ref service_ref(std::string_view service) { return {"service", std::string(service)}; }

Ref revision_ref(std::string_view service, std::int64_t number) {
  return {"revision", std::string(service) + "/" + std::to_string(number)};
}

Digest service_digest(std::string_view service, std::int64_t revision) {
  return sha256(revision_ref(service, revision).text());
}

double share_of(const ServiceRow& service, std::int64_t revision) {
  if (service.is_stopped || revision == 0) return 0;
  if (revision == service.candidate) return service.share;
  return revision == service.stable ? 100 - service.share : 0;
}

std::string_view role_of(const ServiceRow& service, std::int64_t revision) {
  if (revision == service.stable) return "stable";
  if (revision == service.candidate) return "candidate";
  return revision == service.previous ? "previous" : "none";
}

std::string share_text(double share) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, share).ptr;
  return std::string(buffer, end) + " %";
}

}  // namespace takt::services
