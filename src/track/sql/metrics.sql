-- name: insert_point
INSERT INTO metric_points (run, key, timestamp_ms, step, is_nan, value)
VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING;

-- name: upsert_latest
INSERT INTO metric_latest (run, key, timestamp_ms, step, is_nan, value, points)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (run, key) DO UPDATE SET points = metric_latest.points + excluded.points;

-- name: move_latest
UPDATE metric_latest SET timestamp_ms = ?3, step = ?4, is_nan = ?5, value = ?6
WHERE run = ?1 AND key = ?2 AND (step, timestamp_ms, 1 - is_nan, value) < (?4, ?3, 1 - ?5, ?6);

-- name: count_points
SELECT points FROM metric_latest WHERE run = ?1 AND key = ?2;

-- name: first_points
SELECT timestamp_ms, step, is_nan, value FROM metric_points WHERE run = ?1 AND key = ?2
ORDER BY timestamp_ms, step, is_nan, value LIMIT ?3;

-- name: points_after
SELECT timestamp_ms, step, is_nan, value FROM metric_points
WHERE run = ?1 AND key = ?2 AND (timestamp_ms, step, is_nan, value) > (?4, ?5, ?6, ?7)
ORDER BY timestamp_ms, step, is_nan, value LIMIT ?3;
