-- name: next_number
INSERT INTO counters (name, value) VALUES (?1, 1)
ON CONFLICT (name) DO UPDATE SET value = counters.value + 1
RETURNING value

-- name: list_migrations
SELECT name, digest FROM schema_migrations

-- name: insert_migration
INSERT INTO schema_migrations (name, applied_at, digest) VALUES (?1, ?2, ?3)
