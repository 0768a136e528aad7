// SPDX-License-Identifier: Apache-2.0
#include "takt/gateway/request_id.h"

#include <charconv>

namespace takt::gateway {
namespace {

constexpr std::size_t kServiceDigits = 8, kRevisionDigits = 6, kTimeDigits = 11, kRandomDigits = 7;
constexpr std::size_t kIdDigits = kServiceDigits + kRevisionDigits + kTimeDigits + kRandomDigits;

void put_hex(std::string& out, std::uint64_t value, std::size_t digits) {
  for (std::size_t i = digits; i-- > 0;) out += "0123456789abcdef"[(value >> (4 * i)) & 15];
}

bool take_hex(std::string_view& text, std::size_t digits, std::uint64_t& value) {
  const std::string_view part = text.substr(0, digits);
  text.remove_prefix(digits);
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, 16);
  return error == std::errc() && end == part.data() + part.size();
}

}  // namespace

std::uint32_t hash_service(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

std::string make_request_id(const RequestStamp& stamp, Rng& rng) {
  std::string id;
  id.reserve(kIdDigits);
  put_hex(id, stamp.service_hash, kServiceDigits);
  put_hex(id, static_cast<std::uint64_t>(stamp.revision), kRevisionDigits);
  put_hex(id, static_cast<std::uint64_t>(stamp.time_ms), kTimeDigits);
  put_hex(id, rng.next(), kRandomDigits);
  return id;
}

Result<RequestStamp> parse_request_id(std::string_view id) {
  std::uint64_t service = 0, revision = 0, time = 0, random = 0;
  std::string_view rest = id;
  if (id.size() != kIdDigits || !take_hex(rest, kServiceDigits, service) ||
      !take_hex(rest, kRevisionDigits, revision) || !take_hex(rest, kTimeDigits, time) ||
      !take_hex(rest, kRandomDigits, random))
    return fail(Code::kInvalid, "'" + std::string(id.substr(0, 64)) + "' is no request id",
                "take the header Takt-Request-Id of an answer of the gateway: 32 hex digits");
  return RequestStamp{static_cast<std::uint32_t>(service), static_cast<std::int64_t>(revision),
                      static_cast<UnixMs>(time)};
}

}  // namespace takt::gateway
