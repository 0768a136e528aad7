-- name: insert_user
INSERT INTO users (name, role, created_ms) VALUES (?1, ?2, ?3);

-- name: insert_user_if_absent
INSERT INTO users (name, role, created_ms) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING;

-- name: list_users
SELECT name, role, created_ms, disabled FROM users ORDER BY name COLLATE "C";

-- name: update_user
UPDATE users SET role = ?2, disabled = ?3 WHERE name = ?1;

-- name: list_members
SELECT project, user_name, role FROM project_members
ORDER BY project COLLATE "C", user_name COLLATE "C";

-- name: put_member
INSERT INTO project_members (project, user_name, role) VALUES (?1, ?2, ?3)
ON CONFLICT (project, user_name) DO UPDATE SET role = excluded.role;

-- name: delete_member
DELETE FROM project_members WHERE project = ?1 AND user_name = ?2;

-- name: insert_project
INSERT INTO projects (name, created_ms) VALUES (?1, ?2);

-- name: insert_project_if_absent
INSERT INTO projects (name, created_ms) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING;

-- name: list_projects
SELECT name, created_ms FROM projects ORDER BY name COLLATE "C";

-- name: insert_token
INSERT INTO tokens (id, kind, secret_hash, user_name, project, note, created_ms, expires_ms,
                    role_max, only_project)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: list_tokens
SELECT id, kind, secret_hash, user_name, project, note, created_ms, expires_ms, role_max,
       only_project
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
