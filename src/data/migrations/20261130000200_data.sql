CREATE TABLE datasets (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  last_number INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  PRIMARY KEY (project, name)
) STRICT;

-- A removed version stays as a tombstone, so that its number never means other bytes.
CREATE TABLE dataset_versions (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  number INTEGER NOT NULL,
  tree TEXT NOT NULL,
  files INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  row_count INTEGER NOT NULL,
  profile TEXT NOT NULL,
  checks TEXT NOT NULL,
  note TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  removed_ms INTEGER NOT NULL DEFAULT 0,
  removed_by TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (project, name, number)
) STRICT;

CREATE UNIQUE INDEX dataset_versions_by_tree ON dataset_versions (project, name, tree)
WHERE removed_ms = 0;
