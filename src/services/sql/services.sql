-- name: find_service
SELECT name, project, stopped, stable, candidate, previous, rollout, share_wanted, share, last_revision,
       candidate_ms, keep_until_ms, created_by, updated_ms
FROM services WHERE name = ?1;

-- name: list_services
SELECT name, project, stopped, stable, candidate, previous, rollout, share_wanted, share, last_revision,
       candidate_ms, keep_until_ms, created_by, updated_ms
FROM services WHERE (?1 = '' OR project = ?1) ORDER BY name COLLATE "C";

-- name: save_service
INSERT INTO services (name, project, stopped, stable, candidate, previous, rollout, share_wanted, share,
                      last_revision, candidate_ms, keep_until_ms, created_by, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
ON CONFLICT (name) DO UPDATE SET stopped = excluded.stopped, stable = excluded.stable,
  candidate = excluded.candidate, previous = excluded.previous, rollout = excluded.rollout,
  share_wanted = excluded.share_wanted, share = excluded.share, last_revision = excluded.last_revision,
  candidate_ms = excluded.candidate_ms, keep_until_ms = excluded.keep_until_ms, updated_ms = excluded.updated_ms;

-- name: insert_revision
INSERT INTO service_revisions (service, number, model, tree, spec, state, reason, owner, created_by, created_ms)
VALUES (?1, ?2, ?3, ?4, ?5, 'starting', '', ?6, ?7, ?8);

-- name: find_revision
SELECT service, number, model, tree, spec, state, reason, owner, created_by, created_ms
FROM service_revisions WHERE service = ?1 AND number = ?2;

-- name: find_revision_by_owner
SELECT service, number, model, tree, spec, state, reason, owner, created_by, created_ms
FROM service_revisions WHERE owner = ?1;

-- name: list_revisions
SELECT service, number, model, tree, spec, state, reason, owner, created_by, created_ms
FROM service_revisions WHERE service = ?1 ORDER BY number DESC LIMIT ?2;

-- name: list_live_revisions
SELECT service, number, model, tree, spec, state, reason, owner, created_by, created_ms
FROM service_revisions
WHERE service = ?1 AND (number IN (?2, ?3, ?4) OR state IN ('starting', 'ready')
  OR number IN (SELECT revision FROM service_replicas WHERE service = ?1))
ORDER BY number DESC;

-- name: save_revision_state
UPDATE service_revisions SET state = ?3, reason = ?4 WHERE service = ?1 AND number = ?2;

-- name: list_replicas
SELECT service, revision, slot, generation, failures, restarts, not_before_ms, job, reason
FROM service_replicas WHERE service = ?1 ORDER BY revision, slot;

-- name: list_replica_services
SELECT DISTINCT service FROM service_replicas;

-- name: save_replica
INSERT INTO service_replicas (service, revision, slot, generation, failures, restarts, not_before_ms, job, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (service, revision, slot) DO UPDATE SET generation = excluded.generation,
  failures = excluded.failures, restarts = excluded.restarts, not_before_ms = excluded.not_before_ms, job = excluded.job,
  reason = excluded.reason;

-- name: remove_replica
DELETE FROM service_replicas WHERE service = ?1 AND revision = ?2 AND slot = ?3;

-- name: insert_decision
INSERT INTO service_decisions (service, number, time_ms, actor, verb, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: list_decisions
SELECT time_ms, actor, verb, body FROM service_decisions WHERE service = ?1 ORDER BY number DESC LIMIT ?2;
