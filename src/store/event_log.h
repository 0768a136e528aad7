// SPDX-License-Identifier: Apache-2.0
// The spine: every change of state appends one event in the same transaction. Readers keep durable
// cursors and are idempotent; sequence numbers follow commit order, so no reader ever skips.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/ids.h"
#include "takt/base/value.h"
#include "takt/store/database.h"

namespace takt::store {

struct Event {
  std::int64_t sequence = 0;  // given by append
  UnixMs time_ms = 0;         // given by append
  ProjectId project;
  UserId actor;
  std::string verb;  // "dataset.version-added", "job.ended"
  Ref subject;
  std::string before_digest, after_digest;  // of the thing, where it has one
  Value details;                            // small object
};

/// Appends; returns the sequence number.
Result<std::int64_t> append_event(Tx& tx, Event event);
/// Events after `after`, oldest first, at most `limit`; all projects when `project` is empty.
Result<std::vector<Event>> read_events(Reader& reader, std::int64_t after, int limit,
                                       const ProjectId& project = {});
/// Newest first, for people: filtered by subject text prefix when given.
Result<std::vector<Event>> recent_events(Reader& reader, const ProjectId& project,
                                         std::string_view subject, std::int64_t before, int limit);
/// What an auditor looks for; what is empty or 0 does not filter.
struct EventFilter {
  ProjectId project;
  UserId actor;
  std::string verb, subject;  // beginnings
  std::int64_t before = 0;    // a sequence
  UnixMs since_ms = 0, until_ms = 0;
};
/// Newest first, of all projects.
Result<std::vector<Event>> audit_events(Reader& reader, const EventFilter& filter, int limit);
Result<std::int64_t> last_event_sequence(Reader& reader);

/// Durable place of a reader in the log.
Result<std::int64_t> load_cursor(Reader& reader, std::string_view name);
Status save_cursor(Tx& tx, std::string_view name, std::int64_t sequence);

Value to_value(const Event& event);

}  // namespace takt::store
