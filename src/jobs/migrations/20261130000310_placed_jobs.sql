-- What holds resources is looked at in every pass, however many wait.
CREATE INDEX jobs_placed ON jobs (id) WHERE ended_ms = 0 AND state <> 'waiting';
