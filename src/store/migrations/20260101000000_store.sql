-- Numbers given in commit order, one row per series ("events", "jobs" …).
CREATE TABLE counters (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The event log.
CREATE TABLE events (
  sequence INTEGER NOT NULL PRIMARY KEY,
  time_ms INTEGER NOT NULL,
  project TEXT NOT NULL,
  actor TEXT NOT NULL,
  verb TEXT NOT NULL,
  subject TEXT NOT NULL,
  before_digest TEXT NOT NULL,
  after_digest TEXT NOT NULL,
  details TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_subject ON events (subject, sequence);

-- How far each reader of the log has come.
CREATE TABLE cursors (
  name TEXT NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- from_ref stands on the side of the result; *_word is the part of the ref after its last slash.
CREATE TABLE lineage_edges (
  project TEXT NOT NULL,
  from_ref TEXT NOT NULL,
  relation TEXT NOT NULL,
  to_ref TEXT NOT NULL,
  from_word TEXT NOT NULL,
  to_word TEXT NOT NULL,
  time_ms INTEGER NOT NULL,
  PRIMARY KEY (project, from_ref, relation, to_ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX lineage_edges_by_to ON lineage_edges (project, to_ref);
CREATE INDEX lineage_edges_by_from_word ON lineage_edges (project, from_word);
CREATE INDEX lineage_edges_by_to_word ON lineage_edges (project, to_word);

-- Files with many small objects.
CREATE TABLE packs (
  id INTEGER NOT NULL PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  stored_bytes INTEGER NOT NULL
) STRICT;

-- Where the bytes of a digest lie: at pack_offset of a pack, or alone when pack is 0.
CREATE TABLE blobs (
  digest TEXT NOT NULL PRIMARY KEY,
  pack INTEGER NOT NULL,
  pack_offset INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL,
  raw_bytes INTEGER NOT NULL,
  added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which projects may see a digest.
CREATE TABLE blob_projects (
  project TEXT NOT NULL,
  digest TEXT NOT NULL REFERENCES blobs (digest),
  PRIMARY KEY (project, digest)
) STRICT, WITHOUT ROWID;
