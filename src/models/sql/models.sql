-- name: upsert_model
INSERT INTO registered_models (project, name, description, created_ms, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?4)
ON CONFLICT (project, name) DO UPDATE
SET description = excluded.description, created_ms = excluded.created_ms, updated_ms = excluded.updated_ms,
    removed_ms = 0
WHERE registered_models.removed_ms <> 0;

-- name: find_model
SELECT name, description, created_ms, updated_ms FROM registered_models
WHERE project = ?1 AND name = ?2 AND removed_ms = 0;

-- name: find_any_model
SELECT removed_ms FROM registered_models WHERE project = ?1 AND name = ?2;

-- name: list_models
SELECT name, description, created_ms, updated_ms FROM registered_models
WHERE project = ?1 AND removed_ms = 0 ORDER BY name;

-- name: update_model
UPDATE registered_models SET description = ?3, updated_ms = ?4 WHERE project = ?1 AND name = ?2;

-- name: touch_model
UPDATE registered_models SET updated_ms = ?3 WHERE project = ?1 AND name = ?2;

-- name: next_version_number
UPDATE registered_models SET last_number = last_number + 1, updated_ms = ?3
WHERE project = ?1 AND name = ?2 RETURNING last_number;

-- name: remove_model
UPDATE registered_models SET removed_ms = ?3 WHERE project = ?1 AND name = ?2;

-- name: rename_model
UPDATE registered_models SET name = ?3, updated_ms = ?4 WHERE project = ?1 AND name = ?2;

-- name: rename_versions
UPDATE model_versions SET model = ?3 WHERE project = ?1 AND model = ?2;

-- name: rename_tags
UPDATE model_tags SET model = ?3 WHERE project = ?1 AND model = ?2;

-- name: rename_version_tags
UPDATE model_version_tags SET model = ?3 WHERE project = ?1 AND model = ?2;

-- name: rename_aliases
UPDATE model_aliases SET model = ?3 WHERE project = ?1 AND model = ?2;

-- name: set_tag
INSERT INTO model_tags (project, model, key, value) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (project, model, key) DO UPDATE SET value = excluded.value;

-- name: delete_tag
DELETE FROM model_tags WHERE project = ?1 AND model = ?2 AND key = ?3;

-- name: delete_tags
DELETE FROM model_tags WHERE project = ?1 AND model = ?2;

-- name: list_tags
SELECT model, key, value FROM model_tags WHERE project = ?1 AND (?2 = '' OR model = ?2);

-- name: set_alias
INSERT INTO model_aliases (project, model, alias, number) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (project, model, alias) DO UPDATE SET number = excluded.number;

-- name: delete_alias
DELETE FROM model_aliases WHERE project = ?1 AND model = ?2 AND alias = ?3;

-- name: delete_aliases_of_version
DELETE FROM model_aliases WHERE project = ?1 AND model = ?2 AND number = ?3;

-- name: delete_aliases
DELETE FROM model_aliases WHERE project = ?1 AND model = ?2;

-- name: list_aliases
SELECT model, alias, number FROM model_aliases WHERE project = ?1 AND (?2 = '' OR model = ?2)
ORDER BY model, alias;

-- name: insert_version
INSERT INTO model_versions (project, model, number, tree, files, size_bytes, source, storage, run, logged_model,
                            run_link, description, metrics, owner, created_by, created_ms, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?16);

-- name: list_versions
SELECT model, number, tree, files, size_bytes, source, storage, run, logged_model, run_link, description, stage,
       metrics, created_by, created_ms, updated_ms
FROM model_versions WHERE project = ?1 AND (?2 = '' OR model = ?2) AND removed_ms = 0
ORDER BY model, number DESC;

-- name: find_version_by_tree
SELECT number FROM model_versions
WHERE project = ?1 AND model = ?2 AND tree = ?3 AND removed_ms = 0 ORDER BY number LIMIT 1;

-- name: find_version_by_owner
SELECT model, number FROM model_versions WHERE project = ?1 AND owner = ?2 AND removed_ms = 0;

-- name: update_version
UPDATE model_versions SET description = ?4, stage = ?5, updated_ms = ?6
WHERE project = ?1 AND model = ?2 AND number = ?3;

-- name: remove_version
UPDATE model_versions SET removed_ms = ?4, owner = '' WHERE project = ?1 AND model = ?2 AND number = ?3;

-- name: remove_versions
UPDATE model_versions SET removed_ms = ?3, owner = '' WHERE project = ?1 AND model = ?2 AND removed_ms = 0;

-- name: set_version_tag
INSERT INTO model_version_tags (project, model, number, key, value) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (project, model, number, key) DO UPDATE SET value = excluded.value;

-- name: delete_version_tag
DELETE FROM model_version_tags WHERE project = ?1 AND model = ?2 AND number = ?3 AND key = ?4;

-- name: list_version_tags
SELECT model, number, key, value FROM model_version_tags WHERE project = ?1 AND (?2 = '' OR model = ?2);

-- name: count_versions
SELECT COUNT(*), COALESCE(SUM(CASE WHEN created_ms >= ?2 THEN 1 ELSE 0 END), 0)
FROM model_versions WHERE project = ?1 AND removed_ms = 0;

-- Beginnings of what searches load: model_search_store.cc adds which models or versions.

-- name: select_model_tags
SELECT model, key, value FROM model_tags

-- name: select_version_tags
SELECT model, number, key, value FROM model_version_tags

-- name: select_aliases
SELECT model, number, alias FROM model_aliases

-- name: select_versions
SELECT model, number, tree, files, size_bytes, source, storage, run, logged_model, run_link, description, stage,
       metrics, created_by, created_ms, updated_ms
FROM model_versions

-- name: select_newest_of_stages
SELECT model, MAX(number) FROM model_versions GROUP BY model, stage
