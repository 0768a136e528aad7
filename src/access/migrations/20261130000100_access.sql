CREATE TABLE users (
  name TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE projects (
  name TEXT PRIMARY KEY,
  created_ms INTEGER NOT NULL
) STRICT;

-- Only the hash of a token's secret is kept. `kind` is token or session.
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  user_name TEXT NOT NULL REFERENCES users (name),
  project TEXT NOT NULL REFERENCES projects (name),
  note TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  revoked INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One row: the key that job tokens are derived from.
CREATE TABLE server_keys (
  name TEXT PRIMARY KEY,
  secret TEXT NOT NULL
) STRICT;

-- Jobs whose tokens no longer count, kept until the longest token would have expired.
CREATE TABLE ended_job_tokens (
  job INTEGER PRIMARY KEY,
  ended_ms INTEGER NOT NULL
) STRICT;
