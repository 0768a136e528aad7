-- name: upsert_dataset
INSERT INTO datasets (project, name, last_number, created_ms, updated_ms) VALUES (?1, ?2, 1, ?3, ?3)
ON CONFLICT (project, name)
DO UPDATE SET last_number = datasets.last_number + 1, updated_ms = excluded.updated_ms
RETURNING last_number;

-- name: insert_version
INSERT INTO dataset_versions (project, name, number, tree, files, size_bytes, row_count, profile, checks,
                              note, created_by, created_ms, made_by)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '', ?9, ?10, ?11, ?12);

-- name: find_version_by_tree
SELECT name, number, tree, files, size_bytes, row_count, profile, checks, note, created_by, created_ms, made_by
FROM dataset_versions WHERE project = ?1 AND name = ?2 AND tree = ?3 AND removed_ms = 0;

-- name: find_version
SELECT name, number, tree, files, size_bytes, row_count, profile, checks, note, created_by, created_ms, made_by,
       removed_ms, removed_by
FROM dataset_versions WHERE project = ?1 AND name = ?2 AND number = ?3;

-- name: list_versions
SELECT name, number, tree, files, size_bytes, row_count, profile, checks, note, created_by, created_ms, made_by
FROM dataset_versions WHERE project = ?1 AND name = ?2 AND removed_ms = 0 ORDER BY number DESC;

-- name: list_datasets
SELECT d.name, COALESCE(MAX(v.number), 0), COUNT(v.number), d.created_ms, d.updated_ms
FROM datasets d
LEFT JOIN dataset_versions v ON v.project = d.project AND v.name = d.name AND v.removed_ms = 0
WHERE d.project = ?1 AND (?2 = '' OR d.name = ?2)
GROUP BY d.name, d.created_ms, d.updated_ms ORDER BY d.name COLLATE "C";

-- name: mark_removed
UPDATE dataset_versions SET removed_ms = ?4, removed_by = ?5
WHERE project = ?1 AND name = ?2 AND number = ?3 AND removed_ms = 0;

-- name: save_checks
UPDATE dataset_versions SET checks = ?4 WHERE project = ?1 AND name = ?2 AND number = ?3;

-- name: count_versions_since
SELECT COUNT(*) FROM dataset_versions WHERE project = ?1 AND created_ms >= ?2 AND removed_ms = 0;
