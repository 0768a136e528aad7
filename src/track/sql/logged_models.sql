-- name: insert_logged_model
INSERT INTO logged_models (id, project, experiment, name, model_type, run, artifact_uri, status, creator,
                           created_ms, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10);

-- name: find_logged_model
SELECT id, experiment, name, model_type, run, artifact_uri, status, status_message, creator, is_deleted,
       created_ms, updated_ms
FROM logged_models WHERE project = ?1 AND id = ?2;

-- name: find_logged_model_of_run
SELECT id, experiment, name, model_type, run, artifact_uri, status, status_message, creator, is_deleted,
       created_ms, updated_ms
FROM logged_models WHERE project = ?1 AND run = ?2 AND name = ?3 AND is_deleted = 0
ORDER BY created_ms DESC LIMIT 1;

-- name: update_logged_model
UPDATE logged_models SET status = ?3, status_message = ?4, updated_ms = ?5 WHERE project = ?1 AND id = ?2;

-- name: mark_logged_model_deleted
UPDATE logged_models SET is_deleted = 1, updated_ms = ?3 WHERE project = ?1 AND id = ?2;

-- name: insert_model_param
INSERT INTO logged_model_words (model, kind, key, value) VALUES (?1, 'param', ?2, ?3)
ON CONFLICT (model, kind, key) DO NOTHING;

-- name: find_model_param
SELECT value FROM logged_model_words WHERE model = ?1 AND kind = 'param' AND key = ?2;

-- name: set_model_tag
INSERT INTO logged_model_words (model, kind, key, value) VALUES (?1, 'tag', ?2, ?3)
ON CONFLICT (model, kind, key) DO UPDATE SET value = excluded.value;

-- name: delete_model_tag
DELETE FROM logged_model_words WHERE model = ?1 AND kind = 'tag' AND key = ?2;

-- name: model_words
SELECT kind, key, value FROM logged_model_words WHERE model = ?1;

-- name: set_model_metric
INSERT INTO logged_model_metrics (model, key, run, dataset_name, dataset_digest, timestamp_ms, step, is_nan,
                                  value)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (model, key, run, dataset_name, dataset_digest) DO UPDATE
SET timestamp_ms = excluded.timestamp_ms, step = excluded.step, is_nan = excluded.is_nan,
    value = excluded.value
WHERE (logged_model_metrics.step, logged_model_metrics.timestamp_ms) <= (excluded.step, excluded.timestamp_ms);

-- name: model_metrics
SELECT key, run, dataset_name, dataset_digest, timestamp_ms, step, is_nan, value FROM logged_model_metrics
WHERE model = ?1 ORDER BY key, run, dataset_name;
