-- A quiet project's events are found without reading those of the busy ones.
CREATE INDEX events_by_project ON events (project, sequence);
