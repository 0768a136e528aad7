-- Names are unique in the server: they are the model names on the gateway's ports.
CREATE TABLE services (
  name TEXT NOT NULL PRIMARY KEY,
  project TEXT NOT NULL,
  stopped INTEGER NOT NULL,
  stable INTEGER NOT NULL,
  candidate INTEGER NOT NULL,
  previous INTEGER NOT NULL,
  rollout INTEGER NOT NULL,
  share_wanted REAL NOT NULL,
  share REAL NOT NULL,
  last_revision INTEGER NOT NULL,
  candidate_ms INTEGER NOT NULL,
  keep_until_ms INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  updated_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX services_by_project ON services (project);

CREATE TABLE service_revisions (
  service TEXT NOT NULL,
  number INTEGER NOT NULL,
  model TEXT NOT NULL,
  tree TEXT NOT NULL,
  spec TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  owner TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (service, number)
) STRICT;

CREATE UNIQUE INDEX service_revisions_by_owner ON service_revisions (owner) WHERE owner <> '';

-- A place that a replica's jobs fill one after another. The gateway's own has the service ''.
CREATE TABLE service_replicas (
  service TEXT NOT NULL,
  revision INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  restarts INTEGER NOT NULL,
  not_before_ms INTEGER NOT NULL,
  job INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (service, revision, slot)
) STRICT;

CREATE TABLE service_decisions (
  service TEXT NOT NULL,
  number INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  verb TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (service, number)
) STRICT;
