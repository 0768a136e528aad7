-- name: insert_event
INSERT INTO events (sequence, time_ms, project, actor, verb, subject, before_digest, after_digest,
                    details, hash)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)

-- name: next_event
INSERT INTO counters (name, value) VALUES ('events', 1)
ON CONFLICT (name) DO UPDATE SET value = counters.value + 1
RETURNING value, (SELECT hash FROM events WHERE sequence = value - 1)

-- name: chained_events_after
SELECT sequence, time_ms, project, actor, verb, subject, before_digest, after_digest, details, hash
FROM events WHERE sequence > ?1 ORDER BY sequence LIMIT ?2

-- name: set_event_hash
UPDATE events SET hash = ?2 WHERE sequence = ?1

-- name: first_unchained_event
SELECT COALESCE(MIN(sequence), 0) FROM events WHERE hash = ''

-- name: event_hash
SELECT hash FROM events WHERE sequence = ?1

-- name: counted_events
SELECT COALESCE(MAX(value), 0) FROM counters WHERE name = 'events'

-- name: audit_events
SELECT sequence, time_ms, project, actor, verb, subject, before_digest, after_digest, details
FROM events
WHERE sequence < ?1 AND (?3 = '' OR project = ?3) AND (?4 = '' OR actor = ?4)
  AND verb >= ?5 AND verb < ?6 AND subject >= ?7 AND subject < ?8 AND time_ms >= ?9 AND time_ms < ?10
ORDER BY sequence DESC LIMIT ?2

-- name: events_after
SELECT sequence, time_ms, project, actor, verb, subject, before_digest, after_digest, details
FROM events WHERE sequence > ?1 ORDER BY sequence LIMIT ?2

-- name: project_events_after
SELECT sequence, time_ms, project, actor, verb, subject, before_digest, after_digest, details
FROM events WHERE sequence > ?1 AND project = ?3 ORDER BY sequence LIMIT ?2

-- name: recent_events
SELECT sequence, time_ms, project, actor, verb, subject, before_digest, after_digest, details
FROM events WHERE sequence < ?1 ORDER BY sequence DESC LIMIT ?2

-- name: recent_project_events
SELECT sequence, time_ms, project, actor, verb, subject, before_digest, after_digest, details
FROM events WHERE sequence < ?1 AND project = ?3 ORDER BY sequence DESC LIMIT ?2

-- name: recent_events_of_subject
SELECT sequence, time_ms, project, actor, verb, subject, before_digest, after_digest, details
FROM events
WHERE sequence < ?1 AND (?3 = '' OR project = ?3) AND subject >= ?4 AND subject < ?5
ORDER BY sequence DESC LIMIT ?2

-- name: last_event_sequence
SELECT COALESCE(MAX(sequence), 0) FROM events

-- name: load_cursor
SELECT sequence FROM cursors WHERE name = ?1

-- name: save_cursor
INSERT INTO cursors (name, sequence) VALUES (?1, ?2)
ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence
