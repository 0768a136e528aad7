-- name: insert_user
INSERT INTO users (name, role, created_ms) VALUES (?1, ?2, ?3);

-- name: insert_user_if_absent
INSERT INTO users (name, role, created_ms) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING;

-- name: list_users
SELECT name, role, created_ms, disabled FROM users ORDER BY name COLLATE "C";

-- name: insert_project
INSERT INTO projects (name, created_ms) VALUES (?1, ?2);

-- name: insert_project_if_absent
INSERT INTO projects (name, created_ms) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING;

-- name: list_projects
SELECT name, created_ms FROM projects ORDER BY name COLLATE "C";

-- name: insert_token
INSERT INTO tokens (id, kind, secret_hash, user_name, project, note, created_ms, expires_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: list_tokens
SELECT id, kind, secret_hash, user_name, project, note, created_ms, expires_ms
FROM tokens WHERE revoked = 0 ORDER BY created_ms, id COLLATE "C";

-- name: revoke_token
UPDATE tokens SET revoked = 1 WHERE id = ?1 AND revoked = 0;

-- name: find_server_key
SELECT secret FROM server_keys WHERE name = ?1;

-- name: insert_server_key
INSERT INTO server_keys (name, secret) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING;

-- name: insert_ended_job
INSERT INTO ended_job_tokens (job, ended_ms) VALUES (?1, ?2) ON CONFLICT (job) DO NOTHING;

-- name: list_ended_jobs
SELECT job FROM ended_job_tokens;

-- name: delete_ended_jobs_before
DELETE FROM ended_job_tokens WHERE ended_ms < ?1;
