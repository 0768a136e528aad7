// SPDX-License-Identifier: Apache-2.0
#include "takt/access/audit.h"

namespace takt::access {

Result<std::vector<store::Event>> AuditService::list(const CanAdminister&,
                                                     const store::EventFilter& filter, int limit) {
  std::vector<store::Event> events;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(events, store::audit_events(reader, filter, limit));
    return {};
  }));
  return events;
}

Result<store::ChainCheck> AuditService::verify(const CanAdminister&, const std::string& expected) {
  if (!expected.empty() && !is_digest(expected))
    return fail(Code::kInvalid, "'" + expected.substr(0, 100) + "' is no hash of an event",
                "give the 64 hexadecimal digits that `takt audit verify` printed", "expect");
  return store::verify_event_chain(db_, expected);
}

}  // namespace takt::access
