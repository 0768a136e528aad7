-- Newest runs first, of one experiment and of all of a project's, without sorting.
CREATE INDEX runs_newest ON runs (project, experiment, is_deleted, start_ms DESC, id);
CREATE INDEX runs_newest_of_all ON runs (project, is_deleted, start_ms DESC, id, experiment);
DROP INDEX runs_by_start;
CREATE INDEX experiments_newest ON experiments (project, created_ms DESC, id);
