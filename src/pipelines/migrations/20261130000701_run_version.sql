-- Counts the changes of a run and its nodes: who holds a copy asks it whether the copy still holds.
ALTER TABLE pipeline_runs ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
