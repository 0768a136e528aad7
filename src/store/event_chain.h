// SPDX-License-Identifier: Apache-2.0
// The event log as evidence: each event's hash covers its content and the hash before it, so that
// no event can be changed, removed, moved or put in without all later hashes changing too. Who
// keeps one hash elsewhere can prove what came before it. docs/formats/event-log.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "takt/store/database.h"

namespace takt::store {

/// An event's columns as they are stored.
struct EventText {
  std::int64_t sequence = 0;
  UnixMs time_ms = 0;
  std::string_view project, actor, verb, subject, before_digest, after_digest, details;
};
/// The hash of an event that follows one with `previous_hash` ("" for the first); hexadecimal.
std::string chain_hash(std::string_view previous_hash, const EventText& event);

/// What a walk over the log found.
struct ChainCheck {
  std::int64_t events = 0;             // that fit, from the first on
  std::int64_t head_sequence = 0;      // of the last that fits
  std::string head;                    // its hash
  std::int64_t broken_sequence = 0;    // of the first that does not fit; 0 when all do
  std::string broken_reason;           // "" when all fit
  std::int64_t expected_sequence = 0;  // of the event with the expected hash; 0 when none has it
  bool is_intact() const { return broken_reason.empty(); }
};

/// Walks the log from its first event to its last, batch by batch, so that no snapshot is held for
/// long. The log may grow meanwhile.
class ChainWalk {
 public:
  /// `expected`: a hash that some event must have, kept from an earlier look; may be empty.
  explicit ChainWalk(std::string expected = {}) : expected_(std::move(expected)) {}
  /// True at the end of the log, or at the first event that does not fit.
  Result<bool> step(Reader& reader);
  const ChainCheck& found() const { return found_; }

 private:
  bool take(const Row& row);
  void break_at(std::int64_t sequence, std::string reason);

  std::string expected_;
  ChainCheck found_;
};
Result<ChainCheck> verify_event_chain(Database& db, std::string expected = {});

/// Chains the events that an older version appended; once per database, resumable.
Status chain_old_events(Database& db);

}  // namespace takt::store
