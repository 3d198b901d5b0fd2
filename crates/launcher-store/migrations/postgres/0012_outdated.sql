-- True (1) if the workload of a running instance has an older version of sidecar or settings, and the time of the last
-- requested restart.
ALTER TABLE workshop_instances ADD COLUMN outdated BIGINT NOT NULL DEFAULT 0 CHECK (outdated IN (0, 1));
ALTER TABLE workshop_instances ADD COLUMN restarted_at BIGINT;

-- The list of outdated instances. The index has the state as a column, because SQLite otherwise prefers the index of all
-- states.
CREATE INDEX workshop_instances_outdated ON workshop_instances (state, instance_id) WHERE outdated = 1;
