-- name: find_rules
SELECT rules, updated_by, updated_ms FROM model_rules WHERE project = ?1 AND model = ?2;

-- name: store_rules
INSERT INTO model_rules (project, model, rules, updated_by, updated_ms) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (project, model) DO UPDATE
SET rules = excluded.rules, updated_by = excluded.updated_by, updated_ms = excluded.updated_ms;

-- name: store_approval
INSERT INTO model_approvals (project, model, number, alias, user_name, verdict, comment, decided_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (project, model, number, alias, user_name) DO UPDATE
SET verdict = excluded.verdict, comment = excluded.comment, decided_ms = excluded.decided_ms;

-- name: list_approvals
SELECT alias, user_name, verdict, comment, decided_ms FROM model_approvals
WHERE project = ?1 AND model = ?2 AND number = ?3 ORDER BY decided_ms DESC, alias, user_name;

-- name: last_alias_move
SELECT COALESCE(MAX(sequence), 0) FROM model_alias_moves WHERE project = ?1 AND model = ?2 AND alias = ?3;

-- name: insert_alias_move
INSERT INTO model_alias_moves (project, model, alias, sequence, number, kind, moved_by, reason, moved_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: list_alias_moves
SELECT sequence, number, kind, moved_by, reason, moved_ms FROM model_alias_moves
WHERE project = ?1 AND model = ?2 AND alias = ?3 ORDER BY sequence;

-- name: store_measurement
INSERT INTO model_measurements (project, model, number, data, metric, value, source, measured_by, measured_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (project, model, number, data, metric) DO UPDATE
SET value = excluded.value, source = excluded.source, measured_by = excluded.measured_by,
    measured_ms = excluded.measured_ms;

-- name: list_measurements
SELECT data, metric, value, source, measured_by, measured_ms FROM model_measurements
WHERE project = ?1 AND model = ?2 AND number = ?3 ORDER BY measured_ms DESC, metric, data;

-- name: store_report
INSERT INTO model_reports (project, model, number, kind, report, reported_by, reported_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (project, model, number, kind) DO UPDATE
SET report = excluded.report, reported_by = excluded.reported_by, reported_ms = excluded.reported_ms;

-- name: list_reports
SELECT kind, report, reported_by, reported_ms FROM model_reports
WHERE project = ?1 AND model = ?2 AND number = ?3 ORDER BY kind;

-- name: list_reports_of_kind
SELECT model, number, report FROM model_reports WHERE project = ?1 AND (?2 = '' OR model = ?2) AND kind = ?3;

-- name: clear_rules
DELETE FROM model_rules WHERE project = ?1 AND model = ?2;

-- name: rename_rules
UPDATE model_rules SET model = ?3 WHERE project = ?1 AND model = ?2;

-- name: rename_approvals
UPDATE model_approvals SET model = ?3 WHERE project = ?1 AND model = ?2;

-- name: rename_alias_moves
UPDATE model_alias_moves SET model = ?3 WHERE project = ?1 AND model = ?2;

-- name: rename_measurements
UPDATE model_measurements SET model = ?3 WHERE project = ?1 AND model = ?2;

-- name: rename_reports
UPDATE model_reports SET model = ?3 WHERE project = ?1 AND model = ?2;
