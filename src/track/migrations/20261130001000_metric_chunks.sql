-- Points come in as rows of metric_head and are folded in the background into chunks of one series
-- (docs/formats/metric-chunk.md). A point is in the head or in one chunk, never in both.

-- series: the number by which head and chunks name it. folded: how many of its points are in
-- chunks; folded_ms: the greatest time among those, -1 when there are none.
ALTER TABLE metric_latest ADD COLUMN series INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metric_latest ADD COLUMN folded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metric_latest ADD COLUMN folded_ms INTEGER NOT NULL DEFAULT -1;
UPDATE metric_latest SET series = n.number
FROM (SELECT run, key, ROW_NUMBER() OVER (ORDER BY run, key) AS number FROM metric_latest) AS n
WHERE n.run = metric_latest.run AND n.key = metric_latest.key;

-- One row: the last number given to a series.
CREATE TABLE metric_series_last (number INTEGER NOT NULL) STRICT;
INSERT INTO metric_series_last (number) SELECT COUNT(*) FROM metric_latest;

-- The key is a point's identity, so the same point twice is one row. A not-a-number has is_nan 1
-- and value 0; infinities are exact.
CREATE TABLE metric_head (
  series INTEGER NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  step INTEGER NOT NULL,
  is_nan INTEGER NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (series, timestamp_ms, step, is_nan, value)
) STRICT, WITHOUT ROWID;
INSERT INTO metric_head (series, timestamp_ms, step, is_nan, value)
SELECT l.series, p.timestamp_ms, p.step, p.is_nan, p.value
FROM metric_points p JOIN metric_latest l ON l.run = p.run AND l.key = p.key;
DROP TABLE metric_points;

-- Chunks of a series follow each other without overlap; last_* is the last point of one. Not
-- WITHOUT ROWID: such a table sends blobs of this size to pages of their own, half empty.
CREATE TABLE metric_chunks (
  id INTEGER PRIMARY KEY,
  series INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  last_is_nan INTEGER NOT NULL,
  last_value REAL NOT NULL,
  points INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX metric_chunks_by_end
ON metric_chunks (series, last_ms, last_step, last_is_nan, last_value);

-- Series whose head is to be folded.
CREATE TABLE metric_folds (
  series INTEGER NOT NULL PRIMARY KEY,
  run TEXT NOT NULL,
  key TEXT NOT NULL
) STRICT;
INSERT INTO metric_folds (series, run, key)
SELECT series, run, key FROM metric_latest WHERE points >= 16;
