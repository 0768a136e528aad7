-- What searches begin with: the versions that changed last, and the newest of each stage.
CREATE INDEX model_versions_changed ON model_versions (project, updated_ms DESC, model, number DESC)
WHERE removed_ms = 0;
CREATE INDEX model_versions_by_stage ON model_versions (project, model, stage, number)
WHERE removed_ms = 0;
