-- Values of the launch parameters by name, as JSON. A secret value is null.
ALTER TABLE workshop_instances ADD COLUMN parameters TEXT;
-- Values of the secret launch parameters by name, as JSON. NULL without secrets, and once the end is decided.
ALTER TABLE workshop_instances ADD COLUMN secrets TEXT;
-- Ended instances whose secrets an earlier version of the launcher did not erase. Usually empty. The state is named twice:
-- only with it as a column SQLite prefers this index.
CREATE INDEX workshop_instances_left_secrets ON workshop_instances (state)
    WHERE secrets IS NOT NULL AND state IN ('terminating', 'terminated', 'failed');
