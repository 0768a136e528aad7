// SPDX-License-Identifier: Apache-2.0
#include "takt/store/event_chain.h"

#include <limits>

#include "takt/base/digest.h"
#include "takt/base/log.h"
#include "takt/store/event_log.h"
#include "takt/store/sql.h"

namespace takt::store {
namespace {

constexpr std::int64_t kChainBatch = 2000;
/// Its place is one after the last event that was chained later than it was appended.
constexpr std::string_view kChainCursor = "event-chain";

/// Length first, so that no two events read alike.
void append_field(std::string& text, std::string_view field) {
  text += std::to_string(field.size());
  text += ':';
  text += field;
}

EventText text_of(const Row& row) {
  return {row.integer(0), row.integer(1), row.text(2), row.text(3), row.text(4),
          row.text(5),    row.text(6),    row.text(7), row.text(8)};
}

/// Chains one batch after `after`, whose hash is `head`; both move on. True at the end of the log.
Result<bool> chain_batch(Tx& tx, std::int64_t& after, std::string& head) {
  TAKT_ASSIGN(const Rows rows, tx.query(sql::kChainedEventsAfter, {after, kChainBatch}));
  for (const Row& row : rows) {
    head = chain_hash(head, text_of(row));
    after = row.integer(0);
    TAKT_RETURN_IF_ERROR(tx.exec(sql::kSetEventHash, {after, head}));
  }
  if (static_cast<std::int64_t>(rows.size()) == kChainBatch) return false;
  TAKT_RETURN_IF_ERROR(save_cursor(tx, kChainCursor, after + 1));
  return true;
}

/// Where chaining has to go on: the last chained event and its hash; none when it was done before.
Result<std::optional<EventPlace>> find_unchained(Reader& reader) {
  TAKT_ASSIGN(const std::int64_t done, load_cursor(reader, kChainCursor));
  if (done != 0) return std::nullopt;
  TAKT_ASSIGN(const Rows first, reader.query(sql::kFirstUnchainedEvent));
  EventPlace place{first.at(0).integer(0) - 1, ""};
  if (place.sequence < 0) {  // all are chained, but a crash came before the mark
    TAKT_ASSIGN(place.sequence, last_event_sequence(reader));
  }
  TAKT_ASSIGN(const auto row, reader.find(sql::kEventHash, {place.sequence}));
  if (row) place.previous_hash = row->text(0);
  return place;
}

}  // namespace

std::string chain_hash(std::string_view previous_hash, const EventText& event) {
  std::string text;
  text.reserve(160 + event.verb.size() + event.subject.size() + event.details.size());
  text += "takt event 1\n";
  append_field(text, previous_hash);
  append_field(text, std::to_string(event.sequence));
  append_field(text, std::to_string(event.time_ms));
  for (const std::string_view field : {event.project, event.actor, event.verb, event.subject,
                                       event.before_digest, event.after_digest, event.details})
    append_field(text, field);
  return sha256(text).value;
}

void ChainWalk::break_at(std::int64_t sequence, std::string reason) {
  found_.broken_sequence = sequence;
  found_.broken_reason = std::move(reason);
}

bool ChainWalk::take(const Row& row) {
  const std::int64_t sequence = row.integer(0);
  const std::int64_t wanted = found_.head_sequence + 1;
  if (sequence != wanted) {
    const bool is_gap = sequence > wanted;
    break_at(is_gap ? wanted : sequence,
             "event " + std::to_string(is_gap ? wanted : sequence) +
                 (is_gap ? " is missing" : " was put in before the first"));
    return false;
  }
  if (row.text(9) != chain_hash(found_.head, text_of(row))) {
    break_at(sequence, "event " + std::to_string(sequence) +
                           (row.text(9).empty() ? " has no hash"
                                                : " is not what was appended: its hash does not "
                                                  "fit its content and the event before it"));
    return false;
  }
  found_.head = row.text(9);
  found_.head_sequence = sequence;
  ++found_.events;
  if (found_.head == expected_) found_.expected_sequence = sequence;
  return true;
}

Result<bool> ChainWalk::step(Reader& reader) {
  // From the lowest number on: something may have been put in before the first event.
  const std::int64_t after =
      found_.events == 0 ? std::numeric_limits<std::int64_t>::min() : found_.head_sequence;
  TAKT_ASSIGN(const Rows rows, reader.query(sql::kChainedEventsAfter, {after, kChainBatch}));
  for (const Row& row : rows)
    if (!take(row)) return true;
  if (static_cast<std::int64_t>(rows.size()) == kChainBatch) return false;
  TAKT_ASSIGN(const Rows counted, reader.query(sql::kCountedEvents));
  const std::int64_t count = counted.at(0).integer(0);
  if (count > found_.head_sequence) {
    break_at(found_.head_sequence + 1, "event " + std::to_string(found_.head_sequence + 1) +
                                           " is missing, and all up to " + std::to_string(count));
  } else if (count < found_.head_sequence) {
    break_at(count + 1, "event " + std::to_string(count + 1) + " was put in: only " +
                            std::to_string(count) + " were appended");
  }
  return true;
}

Result<ChainCheck> verify_event_chain(Database& db, std::string expected) {
  ChainWalk walk(std::move(expected));
  bool is_done = false;
  while (!is_done) {
    TAKT_RETURN_IF_ERROR(db.read([&](Reader& reader) -> Status {
      TAKT_ASSIGN(is_done, walk.step(reader));
      return {};
    }));
  }
  return walk.found();
}

Status chain_old_events(Database& db) {
  std::optional<EventPlace> place;
  TAKT_RETURN_IF_ERROR(db.read([&](Reader& reader) -> Status {
    TAKT_ASSIGN(place, find_unchained(reader));
    return {};
  }));
  if (!place) return {};
  const std::int64_t first = place->sequence;
  bool is_done = false;
  while (!is_done) {
    EventPlace next;
    TAKT_RETURN_IF_ERROR(db.write([&](Tx& tx) -> Status {
      next = *place;  // the closure may run again
      TAKT_ASSIGN(is_done, chain_batch(tx, next.sequence, next.previous_hash));
      return {};
    }));
    place = next;
  }
  if (place->sequence > first)
    log_info("chained the events of an older version", {{"events", place->sequence - first}});
  return {};
}

}  // namespace takt::store
