-- name: insert_run
INSERT INTO runs (id, project, experiment, name, user_name, status, start_ms, end_ms, artifact_uri,
                  idempotency_key, created_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, -1, ?8, ?9, ?10) ON CONFLICT DO NOTHING;

-- name: find_run
SELECT r.id, r.experiment, r.name, r.user_name, r.status, r.is_deleted, r.start_ms, r.end_ms,
       r.artifact_uri, e.name
FROM runs r JOIN experiments e ON e.id = r.experiment WHERE r.project = ?1 AND r.id = ?2;

-- name: is_run_deleted
SELECT is_deleted FROM runs WHERE project = ?1 AND id = ?2;

-- name: find_run_by_idempotency_key
SELECT id FROM runs WHERE project = ?1 AND idempotency_key = ?2;

-- name: runs_by_tag
SELECT r.id FROM run_tags t JOIN runs r ON r.id = t.run
WHERE t.key = ?2 AND t.value = ?3 AND r.project = ?1 ORDER BY r.start_ms, r.id LIMIT 100;

-- name: update_run
UPDATE runs SET name = ?3, status = ?4, end_ms = ?5 WHERE project = ?1 AND id = ?2;

-- name: mark_run
UPDATE runs SET is_deleted = ?3, deleted_with_experiment = 0 WHERE project = ?1 AND id = ?2;

-- name: insert_param
INSERT INTO run_params (run, key, value) VALUES (?1, ?2, ?3) ON CONFLICT (run, key) DO NOTHING;

-- name: find_param
SELECT value FROM run_params WHERE run = ?1 AND key = ?2;

-- name: set_tag
INSERT INTO run_tags (run, key, value) VALUES (?1, ?2, ?3)
ON CONFLICT (run, key) DO UPDATE SET value = excluded.value;

-- name: find_tag
SELECT value FROM run_tags WHERE run = ?1 AND key = ?2;

-- name: delete_tag
DELETE FROM run_tags WHERE run = ?1 AND key = ?2;

-- name: insert_input
INSERT INTO run_inputs (run, name, digest, source_type, source, schema, profile, context, tags)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (run, name, digest) DO UPDATE SET context = excluded.context, tags = excluded.tags;

-- name: insert_run_model
INSERT INTO run_models (run, direction, model, step) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (run, direction, model) DO UPDATE SET step = excluded.step;

-- name: running_runs
SELECT id FROM runs WHERE project = ?1 AND status = 'RUNNING' AND is_deleted = 0
ORDER BY start_ms DESC LIMIT 20;

-- name: count_runs
SELECT COUNT(*), COALESCE(SUM(CASE WHEN status = 'RUNNING' THEN 1 ELSE 0 END), 0),
       COALESCE(SUM(CASE WHEN created_ms >= ?2 THEN 1 ELSE 0 END), 0),
       COALESCE(SUM(CASE WHEN created_ms >= ?2 AND status = 'FAILED' THEN 1 ELSE 0 END), 0)
FROM runs WHERE project = ?1 AND is_deleted = 0;
