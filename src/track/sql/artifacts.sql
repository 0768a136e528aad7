-- name: upsert_artifact
INSERT INTO artifacts (project, root, path, digest, size_bytes, is_executable, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (project, root, path) DO UPDATE
SET digest = excluded.digest, size_bytes = excluded.size_bytes, is_executable = excluded.is_executable,
    updated_ms = excluded.updated_ms;

-- name: find_artifact
SELECT path, digest, size_bytes, is_executable FROM artifacts
WHERE project = ?1 AND root = ?2 AND path = ?3;

-- name: artifacts_below
SELECT path, digest, size_bytes, is_executable FROM artifacts
WHERE project = ?1 AND root = ?2 AND path >= ?3 AND path < ?4 ORDER BY path LIMIT ?5;

-- name: artifacts_total
SELECT COUNT(*), COALESCE(SUM(size_bytes), 0) FROM artifacts WHERE project = ?1 AND root = ?2;

-- name: delete_artifact
DELETE FROM artifacts WHERE project = ?1 AND root = ?2 AND path = ?3;

-- name: delete_artifacts_below
DELETE FROM artifacts WHERE project = ?1 AND root = ?2 AND path >= ?3 AND path < ?4;
