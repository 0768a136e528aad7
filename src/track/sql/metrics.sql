-- Statements with VALUES are run with many rows too (many_rows.h).

-- name: reserve_series
UPDATE metric_series_last SET number = number + ?1 RETURNING number;

-- name: find_series
SELECT key, series, timestamp_ms, step, is_nan, value, points, folded, folded_ms
FROM metric_latest WHERE run = ?1 AND key = ?2;

-- name: find_many_series
SELECT key, series, timestamp_ms, step, is_nan, value, points, folded, folded_ms
FROM metric_latest WHERE (run, key) IN (VALUES (?1, ?2));

-- name: insert_head
INSERT INTO metric_head (series, timestamp_ms, step, is_nan, value) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO NOTHING RETURNING series;

-- name: store_latest
INSERT INTO metric_latest (run, key, series, timestamp_ms, step, is_nan, value, points)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (run, key) DO UPDATE SET timestamp_ms = excluded.timestamp_ms, step = excluded.step,
  is_nan = excluded.is_nan, value = excluded.value, points = excluded.points;

-- name: first_head
SELECT timestamp_ms, step, is_nan, value FROM metric_head WHERE series = ?1
ORDER BY timestamp_ms, step, is_nan, value LIMIT ?2;

-- name: head_after
SELECT timestamp_ms, step, is_nan, value FROM metric_head
WHERE series = ?1 AND (timestamp_ms, step, is_nan, value) > (?3, ?4, ?5, ?6)
ORDER BY timestamp_ms, step, is_nan, value LIMIT ?2;

-- name: delete_head
DELETE FROM metric_head
WHERE series = ?1 AND (timestamp_ms, step, is_nan, value) <= (?2, ?3, ?4, ?5);

-- name: first_chunks
SELECT id, data FROM metric_chunks WHERE series = ?1
ORDER BY last_ms, last_step, last_is_nan, last_value LIMIT ?2;

-- name: chunks_after
SELECT id, data FROM metric_chunks
WHERE series = ?1 AND (last_ms, last_step, last_is_nan, last_value) > (?3, ?4, ?5, ?6)
ORDER BY last_ms, last_step, last_is_nan, last_value LIMIT ?2;

-- name: chunk_around
SELECT id, data FROM metric_chunks
WHERE series = ?1 AND (last_ms, last_step, last_is_nan, last_value) >= (?2, ?3, ?4, ?5)
ORDER BY last_ms, last_step, last_is_nan, last_value LIMIT 1;

-- name: last_chunk
SELECT id, points, data FROM metric_chunks WHERE series = ?1
ORDER BY last_ms DESC, last_step DESC, last_is_nan DESC, last_value DESC LIMIT 1;

-- name: insert_chunk
INSERT INTO metric_chunks (series, last_ms, last_step, last_is_nan, last_value, points, data)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: delete_chunk
DELETE FROM metric_chunks WHERE id = ?1;

-- name: add_fold
INSERT INTO metric_folds (series, run, key) VALUES (?1, ?2, ?3) ON CONFLICT (series) DO NOTHING;

-- name: add_folds_of_run
INSERT INTO metric_folds (series, run, key)
SELECT series, run, key FROM metric_latest WHERE run = ?1 AND points - folded >= ?2
ON CONFLICT (series) DO NOTHING;

-- name: next_folds
SELECT series, run, key FROM metric_folds ORDER BY series LIMIT ?1;

-- name: delete_fold
DELETE FROM metric_folds WHERE series = ?1;

-- name: store_folded
UPDATE metric_latest SET points = ?3, folded = ?4, folded_ms = ?5 WHERE run = ?1 AND key = ?2;

-- name: delete_head_of_run
DELETE FROM metric_head WHERE series IN (SELECT series FROM metric_latest WHERE run = ?1);

-- name: delete_chunks_of_run
DELETE FROM metric_chunks WHERE series IN (SELECT series FROM metric_latest WHERE run = ?1);

-- name: delete_folds_of_run
DELETE FROM metric_folds WHERE run = ?1;

-- name: delete_latest_of_run
DELETE FROM metric_latest WHERE run = ?1;
