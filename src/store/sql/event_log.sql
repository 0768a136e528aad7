-- name: insert_event
INSERT INTO events (sequence, time_ms, project, actor, verb, subject, before_digest, after_digest,
                    details)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

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
