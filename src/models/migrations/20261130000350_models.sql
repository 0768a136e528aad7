-- A removed model or version stays as a tombstone: its numbers never mean other bytes.
CREATE TABLE registered_models (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  last_number INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  removed_ms INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE model_tags (
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (project, model, key)
) STRICT, WITHOUT ROWID;

-- tree: the version's files; empty when its source holds none here. source: as the client gave it;
-- storage: where that is. metrics: JSON object. owner: idempotency key of who made it.
CREATE TABLE model_versions (
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  number INTEGER NOT NULL,
  tree TEXT NOT NULL,
  files INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  source TEXT NOT NULL,
  storage TEXT NOT NULL,
  run TEXT NOT NULL,
  logged_model TEXT NOT NULL,
  run_link TEXT NOT NULL,
  description TEXT NOT NULL,
  stage TEXT NOT NULL DEFAULT 'None',
  metrics TEXT NOT NULL,
  owner TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  removed_ms INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project, model, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX model_versions_by_tree ON model_versions (project, model, tree);
CREATE UNIQUE INDEX model_versions_by_owner ON model_versions (project, owner) WHERE owner <> '';

CREATE TABLE model_version_tags (
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  number INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (project, model, number, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE model_aliases (
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  alias TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (project, model, alias)
) STRICT, WITHOUT ROWID;
