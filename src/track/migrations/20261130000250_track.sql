-- Ids are decimal and count over all projects; 0 is the default project's Default, as clients expect.
CREATE TABLE experiments (
  id INTEGER NOT NULL PRIMARY KEY,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  artifact_location TEXT NOT NULL,
  is_deleted INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX experiments_by_name ON experiments (project, name);
INSERT INTO experiments (id, project, name, artifact_location, created_ms, updated_ms)
VALUES (0, 'default', 'Default', 'mlflow-artifacts:/0', 0, 0);

CREATE TABLE experiment_tags (
  experiment INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (experiment, key)
) STRICT, WITHOUT ROWID;

-- end_ms is -1 while the run has no end. idempotency_key: of the create that made it.
CREATE TABLE runs (
  id TEXT NOT NULL PRIMARY KEY,
  project TEXT NOT NULL,
  experiment INTEGER NOT NULL,
  name TEXT NOT NULL,
  user_name TEXT NOT NULL,
  status TEXT NOT NULL,
  is_deleted INTEGER NOT NULL DEFAULT 0,
  deleted_with_experiment INTEGER NOT NULL DEFAULT 0,
  start_ms INTEGER NOT NULL,
  end_ms INTEGER NOT NULL DEFAULT -1,
  artifact_uri TEXT NOT NULL,
  idempotency_key TEXT NOT NULL DEFAULT '',
  created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_start ON runs (project, experiment, is_deleted, start_ms, id);
CREATE UNIQUE INDEX runs_by_idempotency_key ON runs (project, idempotency_key)
WHERE idempotency_key <> '';

CREATE TABLE run_params (
  run TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_tags (
  run TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_tags_by_link ON run_tags (key, value)
WHERE key IN ('takt.job', 'mlflow.parentRunId');

-- One row per point; the key is the point's identity, so the same point twice is one row.
-- A not-a-number has is_nan 1 and value 0; infinities are exact.
CREATE TABLE metric_points (
  run TEXT NOT NULL,
  key TEXT NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  step INTEGER NOT NULL,
  is_nan INTEGER NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (run, key, timestamp_ms, step, is_nan, value)
) STRICT, WITHOUT ROWID;

-- The greatest (step, timestamp, value) of each series: what lists and searches read.
CREATE TABLE metric_latest (
  run TEXT NOT NULL,
  key TEXT NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  step INTEGER NOT NULL,
  is_nan INTEGER NOT NULL,
  value REAL NOT NULL,
  points INTEGER NOT NULL,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

-- tags is a JSON object; context is its mlflow.data.context, for searches.
CREATE TABLE run_inputs (
  run TEXT NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  source_type TEXT NOT NULL,
  source TEXT NOT NULL,
  schema TEXT NOT NULL,
  profile TEXT NOT NULL,
  context TEXT NOT NULL,
  tags TEXT NOT NULL,
  PRIMARY KEY (run, name, digest)
) STRICT, WITHOUT ROWID;

-- direction: in or out.
CREATE TABLE run_models (
  run TEXT NOT NULL,
  direction TEXT NOT NULL,
  model TEXT NOT NULL,
  step INTEGER NOT NULL,
  PRIMARY KEY (run, direction, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE logged_models (
  id TEXT NOT NULL PRIMARY KEY,
  project TEXT NOT NULL,
  experiment INTEGER NOT NULL,
  name TEXT NOT NULL,
  model_type TEXT NOT NULL,
  run TEXT NOT NULL,
  artifact_uri TEXT NOT NULL,
  status TEXT NOT NULL,
  status_message TEXT NOT NULL DEFAULT '',
  creator TEXT NOT NULL,
  is_deleted INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX logged_models_by_experiment ON logged_models (project, experiment, created_ms);
CREATE INDEX logged_models_by_run ON logged_models (run, name);

-- kind: param or tag.
CREATE TABLE logged_model_words (
  model TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (model, kind, key)
) STRICT, WITHOUT ROWID;

-- The latest per run and dataset; the whole history is the run's.
CREATE TABLE logged_model_metrics (
  model TEXT NOT NULL,
  key TEXT NOT NULL,
  run TEXT NOT NULL,
  dataset_name TEXT NOT NULL,
  dataset_digest TEXT NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  step INTEGER NOT NULL,
  is_nan INTEGER NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (model, key, run, dataset_name, dataset_digest)
) STRICT, WITHOUT ROWID;

-- root: run/ID, logged-model/ID, or other. Bytes are in the blob store.
CREATE TABLE artifacts (
  project TEXT NOT NULL,
  root TEXT NOT NULL,
  path TEXT NOT NULL,
  digest TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  is_executable INTEGER NOT NULL DEFAULT 0,
  updated_ms INTEGER NOT NULL,
  PRIMARY KEY (project, root, path)
) STRICT, WITHOUT ROWID;
