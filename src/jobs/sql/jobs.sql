-- name: insert_job
INSERT INTO jobs (id, project, name, kind, state, priority, cpu_millicores, memory_bytes, gpus, spec, submitted_by,
  run, owner, inputs, outputs, reason, submitted_ms, started_ms, ended_ms, not_before_ms, cancel_ms, grace_ms,
  retries_used, lost_count)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24);

-- name: update_job
UPDATE jobs SET state = ?2, outputs = ?3, reason = ?4, started_ms = ?5, ended_ms = ?6, not_before_ms = ?7,
  cancel_ms = ?8, grace_ms = ?9, retries_used = ?10, lost_count = ?11
WHERE id = ?1;

-- name: find_job
SELECT id, project, name, kind, state, spec, submitted_by, run, owner, inputs, outputs, reason, submitted_ms,
  started_ms, ended_ms, not_before_ms, cancel_ms, grace_ms, retries_used, lost_count
FROM jobs WHERE id = ?1;

-- name: find_job_by_owner
SELECT id FROM jobs WHERE project = ?1 AND owner = ?2 AND owner <> '';

-- name: list_jobs
SELECT id, project, name, kind, state, spec, submitted_by, run, owner, inputs, outputs, reason, submitted_ms,
  started_ms, ended_ms, not_before_ms, cancel_ms, grace_ms, retries_used, lost_count
FROM jobs
WHERE project = ?1 AND kind = ?2 AND (?3 = 0 OR id < ?3)
  AND (?4 = '' OR ?4 LIKE '%,' || state || ',%')
  AND (?5 = '' OR lower(name) LIKE ?5 ESCAPE '\' OR CAST(id AS TEXT) = ?6)
ORDER BY id DESC LIMIT ?7;

-- name: list_placed_jobs
SELECT id, state, priority, cpu_millicores, memory_bytes, gpus, submitted_ms, not_before_ms, cancel_ms
FROM jobs WHERE ended_ms = 0 AND state <> 'waiting' ORDER BY id;

-- name: list_waiting_jobs
SELECT id, state, priority, cpu_millicores, memory_bytes, gpus, submitted_ms, not_before_ms, cancel_ms
FROM jobs WHERE ended_ms = 0 AND state = 'waiting' ORDER BY priority DESC, id LIMIT ?1;

-- name: count_jobs_by_state
SELECT state, COUNT(*) FROM jobs WHERE project = ?1 AND kind = 'task' GROUP BY state;

-- name: list_failed_jobs
SELECT id, project, name, kind, state, spec, submitted_by, run, owner, inputs, outputs, reason, submitted_ms,
  started_ms, ended_ms, not_before_ms, cancel_ms, grace_ms, retries_used, lost_count
FROM jobs WHERE project = ?1 AND kind = 'task' AND state = 'failed' AND ended_ms >= ?2
ORDER BY id DESC LIMIT ?3;

-- name: insert_attempt
INSERT INTO job_attempts (job, number, state, token, exit_code, signal, failure, reason, placed_ms, started_ms,
  ended_ms, cpu_ms, memory_bytes_peak)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13);

-- name: update_attempt
UPDATE job_attempts SET state = ?3, exit_code = ?4, signal = ?5, failure = ?6, reason = ?7, started_ms = ?8,
  ended_ms = ?9, cpu_ms = ?10, memory_bytes_peak = ?11
WHERE job = ?1 AND number = ?2;

-- name: list_attempts
SELECT number, state, token, exit_code, signal, failure, reason, placed_ms, started_ms, ended_ms, cpu_ms,
  memory_bytes_peak
FROM job_attempts WHERE job = ?1 ORDER BY number;
