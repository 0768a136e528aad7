-- What decides whether an alias may move. rules: JSON array, in the order of the file. They guard the name: a
-- model that is removed and made anew has them still.
CREATE TABLE model_rules (
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  rules TEXT NOT NULL,
  updated_by TEXT NOT NULL,
  updated_ms INTEGER NOT NULL,
  PRIMARY KEY (project, model)
) STRICT, WITHOUT ROWID;

-- What people said of a version for an alias: approved or rejected. A person's last word counts.
CREATE TABLE model_approvals (
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  number INTEGER NOT NULL,
  alias TEXT NOT NULL,
  user_name TEXT NOT NULL,
  verdict TEXT NOT NULL,
  comment TEXT NOT NULL,
  decided_ms INTEGER NOT NULL,
  PRIMARY KEY (project, model, number, alias, user_name)
) STRICT, WITHOUT ROWID;

-- Who held an alias, in order. kind: set, rolled-back, removed.
CREATE TABLE model_alias_moves (
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  alias TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  moved_by TEXT NOT NULL,
  reason TEXT NOT NULL,
  moved_ms INTEGER NOT NULL,
  PRIMARY KEY (project, model, alias, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO model_alias_moves (project, model, alias, sequence, number, kind, moved_by, reason, moved_ms)
SELECT project, model, alias, 1, number, 'set', '', '', 0 FROM model_aliases;

-- data: NAME@N that the metric was measured on, '' when nobody said. source: what measured it (run/ID), or ''.
CREATE TABLE model_measurements (
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  number INTEGER NOT NULL,
  data TEXT NOT NULL,
  metric TEXT NOT NULL,
  value REAL NOT NULL,
  source TEXT NOT NULL,
  measured_by TEXT NOT NULL,
  measured_ms INTEGER NOT NULL,
  PRIMARY KEY (project, model, number, data, metric)
) STRICT, WITHOUT ROWID;

-- kind: parity, load-test, code. report: JSON object; the newest of its kind.
CREATE TABLE model_reports (
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  report TEXT NOT NULL,
  reported_by TEXT NOT NULL,
  reported_ms INTEGER NOT NULL,
  PRIMARY KEY (project, model, number, kind)
) STRICT, WITHOUT ROWID;
