-- name: insert_experiment
INSERT INTO experiments (id, project, name, artifact_location, created_ms, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (project, name) DO NOTHING;

-- name: find_experiment
SELECT id, name, artifact_location, is_deleted, created_ms, updated_ms FROM experiments
WHERE project = ?1 AND id = ?2;

-- name: find_experiment_by_name
SELECT id, name, artifact_location, is_deleted, created_ms, updated_ms FROM experiments
WHERE project = ?1 AND name = ?2;

-- name: list_experiments
SELECT id, name, artifact_location, is_deleted, created_ms, updated_ms FROM experiments
WHERE project = ?1 ORDER BY id;

-- name: count_runs_by_experiment
SELECT experiment, COUNT(*), SUM(CASE WHEN status = 'RUNNING' THEN 1 ELSE 0 END), MAX(start_ms)
FROM runs WHERE project = ?1 AND is_deleted = 0 GROUP BY experiment;

-- name: count_runs_of_experiment
SELECT experiment, COUNT(*), SUM(CASE WHEN status = 'RUNNING' THEN 1 ELSE 0 END), MAX(start_ms)
FROM runs WHERE project = ?1 AND experiment = ?2 AND is_deleted = 0 GROUP BY experiment;

-- name: rename_experiment
UPDATE experiments SET name = ?3, updated_ms = ?4 WHERE project = ?1 AND id = ?2;

-- name: mark_experiment
UPDATE experiments SET is_deleted = ?3, updated_ms = ?4 WHERE project = ?1 AND id = ?2;

-- name: delete_runs_of_experiment
UPDATE runs SET is_deleted = 1, deleted_with_experiment = 1
WHERE project = ?1 AND experiment = ?2 AND is_deleted = 0;

-- name: restore_runs_of_experiment
UPDATE runs SET is_deleted = 0, deleted_with_experiment = 0
WHERE project = ?1 AND experiment = ?2 AND deleted_with_experiment = 1;

-- name: set_experiment_tag
INSERT INTO experiment_tags (experiment, key, value) VALUES (?1, ?2, ?3)
ON CONFLICT (experiment, key) DO UPDATE SET value = excluded.value;

-- name: delete_experiment_tag
DELETE FROM experiment_tags WHERE experiment = ?1 AND key = ?2;

-- name: experiment_tags
SELECT t.experiment, t.key, t.value FROM experiment_tags t JOIN experiments e ON e.id = t.experiment
WHERE e.project = ?1 AND (?2 < 0 OR e.id = ?2);
