-- Values of the launch parameters by name, as JSON. A secret value is null.
ALTER TABLE workshop_instances ADD COLUMN parameters TEXT;
-- Values of the secret launch parameters by name, as JSON. NULL without secrets, and once the end is decided.
ALTER TABLE workshop_instances ADD COLUMN secrets TEXT;
-- Ended instances whose secrets an earlier version of the launcher did not erase. Usually empty.
CREATE INDEX workshop_instances_left_secrets ON workshop_instances (instance_id)
    WHERE secrets IS NOT NULL AND state IN ('terminating', 'terminated', 'failed');
