// SPDX-License-Identifier: Apache-2.0
#include "takt/store/event_log.h"

#include <algorithm>
#include <limits>

#include "takt/store/event_chain.h"
#include "takt/store/sql.h"

namespace takt::store {
namespace {

constexpr std::size_t kDetailsBytesMax = 64 << 10;
constexpr int kEventsMax = 10'000;
// Follows every other character, so prefix + this is an upper bound of what starts with prefix.
constexpr std::string_view kLastCharacter = "\U0010FFFF";

std::int64_t clamp_limit(int limit) { return std::clamp(limit, 1, kEventsMax); }

Result<Event> event_from_row(const Row& row) {
  TAKT_ASSIGN(Ref subject, parse_ref(row.text(5)));
  TAKT_ASSIGN(Value details, parse_json(row.text(8)));
  return Event{.sequence = row.integer(0),
               .time_ms = row.integer(1),
               .project = {row.text(2)},
               .actor = {row.text(3)},
               .verb = row.text(4),
               .subject = std::move(subject),
               .before_digest = row.text(6),
               .after_digest = row.text(7),
               .details = std::move(details)};
}

Result<std::vector<Event>> query_events(Reader& reader, std::string_view sql,
                                        const Params& params) {
  TAKT_ASSIGN(const Rows rows, reader.query(sql, params));
  std::vector<Event> events;
  events.reserve(rows.size());
  for (const Row& row : rows) {
    TAKT_ASSIGN(Event event, event_from_row(row).transform_error(
                                 while_("event " + std::to_string(row.integer(0)))));
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace

Result<std::int64_t> append_event(Tx& tx, Event event) {
  if (event.details.is_null()) event.details = Object{};
  std::string details = dump_json(event.details);
  if (details.size() > kDetailsBytesMax) {
    return fail(Code::kTooLarge, "the details of event " + event.verb + " take " +
                                     std::to_string(details.size()) + " bytes, at most " +
                                     std::to_string(kDetailsBytesMax) + " are kept");
  }
  TAKT_ASSIGN(const EventPlace place, tx.next_event());
  const std::string subject = event.subject.text();
  std::string hash = chain_hash(
      place.previous_hash, {place.sequence, tx.now_ms(), event.project.value, event.actor.value,
                            event.verb, subject, event.before_digest, event.after_digest, details});
  TAKT_RETURN_IF_ERROR(tx.exec(
      sql::kInsertEvent,
      {place.sequence, tx.now_ms(), std::move(event.project.value), std::move(event.actor.value),
       std::move(event.verb), subject, std::move(event.before_digest),
       std::move(event.after_digest), std::move(details), std::move(hash)}));
  return place.sequence;
}

Result<std::vector<Event>> read_events(Reader& reader, std::int64_t after, int limit,
                                       const ProjectId& project) {
  if (project.empty()) return query_events(reader, sql::kEventsAfter, {after, clamp_limit(limit)});
  return query_events(reader, sql::kProjectEventsAfter, {after, clamp_limit(limit), project.value});
}

Result<std::vector<Event>> recent_events(Reader& reader, const ProjectId& project,
                                         std::string_view subject, std::int64_t before, int limit) {
  if (before <= 0) before = std::numeric_limits<std::int64_t>::max();
  if (subject.empty() && project.empty())
    return query_events(reader, sql::kRecentEvents, {before, clamp_limit(limit)});
  if (subject.empty())
    return query_events(reader, sql::kRecentProjectEvents,
                        {before, clamp_limit(limit), project.value});
  const std::string prefix(subject);
  return query_events(
      reader, sql::kRecentEventsOfSubject,
      {before, clamp_limit(limit), project.value, prefix, prefix + std::string(kLastCharacter)});
}

Result<std::vector<Event>> audit_events(Reader& reader, const EventFilter& filter, int limit) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return query_events(
      reader, sql::kAuditEvents,
      {filter.before > 0 ? filter.before : kEnd, clamp_limit(limit), filter.project.value,
       filter.actor.value, filter.verb, filter.verb + std::string(kLastCharacter), filter.subject,
       filter.subject + std::string(kLastCharacter), filter.since_ms,
       filter.until_ms > 0 ? filter.until_ms : kEnd});
}

Result<std::int64_t> last_event_sequence(Reader& reader) {
  TAKT_ASSIGN(const Rows rows, reader.query(sql::kLastEventSequence));
  return rows.at(0).integer(0);
}

Result<std::int64_t> load_cursor(Reader& reader, std::string_view name) {
  TAKT_ASSIGN(const std::optional<Row> row, reader.find(sql::kLoadCursor, {std::string(name)}));
  return row ? row->integer(0) : 0;
}

Status save_cursor(Tx& tx, std::string_view name, std::int64_t sequence) {
  return tx.exec(sql::kSaveCursor, {std::string(name), sequence}).transform([](std::int64_t) {});
}

Value to_value(const Event& event) {
  Object value{{"sequence", event.sequence},
               {"time_at", format_time(event.time_ms)},
               {"project", event.project.value},
               {"actor", event.actor.value},
               {"verb", event.verb},
               {"subject", event.subject.text()},
               {"details", event.details}};
  if (!event.before_digest.empty()) value["before_digest"] = event.before_digest;
  if (!event.after_digest.empty()) value["after_digest"] = event.after_digest;
  return value;
}

}  // namespace takt::store
