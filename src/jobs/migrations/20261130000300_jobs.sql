-- Numbers come from the counter "jobs". Times are unix ms, 0: not yet. spec, inputs and outputs are JSON.
CREATE TABLE jobs (
  id INTEGER NOT NULL PRIMARY KEY,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  priority INTEGER NOT NULL,
  cpu_millicores INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  gpus INTEGER NOT NULL,
  spec TEXT NOT NULL,
  submitted_by TEXT NOT NULL,
  run TEXT NOT NULL,
  owner TEXT NOT NULL,
  inputs TEXT NOT NULL,
  outputs TEXT NOT NULL,
  reason TEXT NOT NULL,
  submitted_ms INTEGER NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL,
  not_before_ms INTEGER NOT NULL,
  cancel_ms INTEGER NOT NULL,
  grace_ms INTEGER NOT NULL,
  retries_used INTEGER NOT NULL,
  lost_count INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX jobs_by_owner ON jobs (project, owner) WHERE owner <> '';
CREATE INDEX jobs_by_project ON jobs (project, kind, id);
CREATE INDEX jobs_open ON jobs (priority, id) WHERE ended_ms = 0;

-- The lease: written before the attempt is started. `token` fences it.
CREATE TABLE job_attempts (
  job INTEGER NOT NULL REFERENCES jobs (id),
  number INTEGER NOT NULL,
  state TEXT NOT NULL,
  token TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  signal INTEGER NOT NULL,
  failure TEXT NOT NULL,
  reason TEXT NOT NULL,
  placed_ms INTEGER NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL,
  cpu_ms INTEGER NOT NULL,
  memory_bytes_peak INTEGER NOT NULL,
  PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
