// SPDX-License-Identifier: Apache-2.0
// Ids of requests that say by themselves who answered and when: `takt why request/ID` works for
// answers that nobody logged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "takt/base/clock.h"
#include "takt/base/error.h"
#include "takt/base/rng.h"

namespace takt::gateway {

/// What an id holds. 32 hex digits: service 8, revision 6, time 11, random 7.
struct RequestStamp {
  std::uint32_t service_hash = 0;
  std::int64_t revision = 0;  // below 2^24
  UnixMs time_ms = 0;
};

/// FNV-1a of the service's name.
std::uint32_t hash_service(std::string_view name);
std::string make_request_id(const RequestStamp& stamp, Rng& rng);
/// kInvalid when the text is no such id.
Result<RequestStamp> parse_request_id(std::string_view id);

}  // namespace takt::gateway
