-- name: upsert_pipeline
INSERT INTO pipelines (project, name, definition, digest, code, environment, armed, on_dataset, created_by,
                       updated_ms, last_run)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0)
ON CONFLICT (project, name) DO UPDATE SET definition = excluded.definition, digest = excluded.digest,
  code = excluded.code, environment = excluded.environment, armed = excluded.armed,
  on_dataset = excluded.on_dataset, created_by = excluded.created_by, updated_ms = excluded.updated_ms;

-- name: find_pipeline
SELECT name, definition, digest, code, environment, armed, on_dataset, created_by, updated_ms, last_run
FROM pipelines WHERE project = ?1 AND name = ?2;

-- name: list_pipelines
SELECT name, definition, digest, code, environment, armed, on_dataset, created_by, updated_ms, last_run
FROM pipelines WHERE project = ?1 ORDER BY name COLLATE "C";

-- name: list_armed
SELECT name, definition, digest, code, environment, armed, on_dataset, created_by, updated_ms, last_run
FROM pipelines WHERE project = ?1 AND on_dataset = ?2 AND armed = 1 ORDER BY name COLLATE "C";

-- name: take_run_number
UPDATE pipelines SET last_run = last_run + 1 WHERE project = ?1 AND name = ?2 RETURNING last_run;

-- name: insert_run
INSERT INTO pipeline_runs (project, pipeline, number, state, reason, definition, code, environment, params,
                           bindings, trigger_text, request_key, started_by, started_ms)
VALUES (?1, ?2, ?3, 'running', '', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);

-- name: find_run
SELECT project, pipeline, number, state, reason, definition, code, environment, params, bindings, trigger_text,
       started_by, cancel_asked, started_ms, ended_ms, version
FROM pipeline_runs WHERE project = ?1 AND pipeline = ?2 AND number = ?3;

-- name: find_run_by_key
SELECT number FROM pipeline_runs WHERE project = ?1 AND pipeline = ?2 AND request_key = ?3;

-- name: list_runs
SELECT project, pipeline, number, state, reason, definition, code, environment, params, bindings, trigger_text,
       started_by, cancel_asked, started_ms, ended_ms, version
FROM pipeline_runs WHERE project = ?1 AND pipeline = ?2 AND (?3 = 0 OR number < ?3)
ORDER BY number DESC LIMIT ?4;

-- name: list_open_runs
SELECT project, pipeline, number, state, reason, definition, code, environment, params, bindings, trigger_text,
       started_by, cancel_asked, started_ms, ended_ms, version
FROM pipeline_runs WHERE state = 'running' ORDER BY started_ms, pipeline COLLATE "C", number;

-- name: list_open_versions
SELECT project, pipeline, number, version FROM pipeline_runs
WHERE state = 'running' ORDER BY started_ms, pipeline COLLATE "C", number;

-- name: touch_run
UPDATE pipeline_runs SET version = version + 1 WHERE project = ?1 AND pipeline = ?2 AND number = ?3;

-- name: find_run_version
SELECT version FROM pipeline_runs WHERE project = ?1 AND pipeline = ?2 AND number = ?3;

-- name: list_ended_since
SELECT project, pipeline, number, state, reason, definition, code, environment, params, bindings, trigger_text,
       started_by, cancel_asked, started_ms, ended_ms, version
FROM pipeline_runs WHERE project = ?1 AND state = 'failed' AND ended_ms >= ?2 ORDER BY ended_ms DESC LIMIT 20;

-- name: count_runs_since
SELECT COUNT(*) FROM pipeline_runs WHERE project = ?1 AND started_ms >= ?2;

-- name: end_run
UPDATE pipeline_runs SET state = ?4, reason = ?5, ended_ms = ?6
WHERE project = ?1 AND pipeline = ?2 AND number = ?3 AND state = 'running';

-- name: ask_cancel
UPDATE pipeline_runs SET cancel_asked = 1, version = version + 1
WHERE project = ?1 AND pipeline = ?2 AND number = ?3 AND state = 'running';

-- name: insert_node
INSERT INTO pipeline_nodes (project, pipeline, number, position, name, state, attempt, reason, inputs, outputs,
                            cache_key, work, approver, note, asked_ms, retry_ms, started_ms, ended_ms)
VALUES (?1, ?2, ?3, ?4, ?5, 'pending', 0, '', '{}', '{}', '', '', '', '', 0, 0, 0, 0);

-- name: list_nodes
SELECT name, state, attempt, reason, inputs, outputs, cache_key, work, approver, note, asked_ms, retry_ms,
       started_ms, ended_ms
FROM pipeline_nodes WHERE project = ?1 AND pipeline = ?2 AND number = ?3 ORDER BY position;

-- name: update_node
UPDATE pipeline_nodes SET state = ?6, attempt = ?7, reason = ?8, inputs = ?9, outputs = ?10, cache_key = ?11,
  work = ?12, approver = ?13, note = ?14, asked_ms = ?15, retry_ms = ?16, started_ms = ?17, ended_ms = ?18
WHERE project = ?1 AND pipeline = ?2 AND number = ?3 AND name = ?4 AND state = ?5;

-- name: update_node_work
UPDATE pipeline_nodes SET work = ?5, reason = ?6
WHERE project = ?1 AND pipeline = ?2 AND number = ?3 AND name = ?4 AND state = 'running';

-- name: find_result
SELECT outputs, node FROM pipeline_results WHERE project = ?1 AND cache_key = ?2;

-- name: save_result
INSERT INTO pipeline_results (project, cache_key, outputs, node, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (project, cache_key) DO UPDATE SET outputs = excluded.outputs, node = excluded.node,
  created_ms = excluded.created_ms;
