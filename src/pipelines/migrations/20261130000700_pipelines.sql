CREATE TABLE pipelines (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  definition TEXT NOT NULL,
  digest TEXT NOT NULL,
  code TEXT NOT NULL,
  environment TEXT NOT NULL,
  armed INTEGER NOT NULL,
  on_dataset TEXT NOT NULL,
  created_by TEXT NOT NULL,
  updated_ms INTEGER NOT NULL,
  last_run INTEGER NOT NULL,
  PRIMARY KEY (project, name)
) STRICT;

CREATE INDEX pipelines_armed ON pipelines (project, on_dataset) WHERE armed = 1;

-- A run keeps the definition it runs: storing a new one changes no run.
CREATE TABLE pipeline_runs (
  project TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  number INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  definition TEXT NOT NULL,
  code TEXT NOT NULL,
  environment TEXT NOT NULL,
  params TEXT NOT NULL,
  bindings TEXT NOT NULL,
  trigger_text TEXT NOT NULL,
  request_key TEXT NOT NULL,
  started_by TEXT NOT NULL,
  cancel_asked INTEGER NOT NULL DEFAULT 0,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project, pipeline, number)
) STRICT;

CREATE INDEX pipeline_runs_open ON pipeline_runs (state) WHERE state = 'running';
CREATE UNIQUE INDEX pipeline_runs_by_key ON pipeline_runs (project, pipeline, request_key)
WHERE request_key <> '';

CREATE TABLE pipeline_nodes (
  project TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  number INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  reason TEXT NOT NULL,
  inputs TEXT NOT NULL,
  outputs TEXT NOT NULL,
  cache_key TEXT NOT NULL,
  work TEXT NOT NULL,
  approver TEXT NOT NULL,
  note TEXT NOT NULL,
  asked_ms INTEGER NOT NULL,
  retry_ms INTEGER NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL,
  PRIMARY KEY (project, pipeline, number, position)
) STRICT;

-- What a key gave, and where first.
CREATE TABLE pipeline_results (
  project TEXT NOT NULL,
  cache_key TEXT NOT NULL,
  outputs TEXT NOT NULL,
  node TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (project, cache_key)
) STRICT;
