-- Suspended instances: the Workshop is deleted, and created again when the instance is resumed.
ALTER TABLE workshop_instances DROP CONSTRAINT workshop_instances_state_check;
ALTER TABLE workshop_instances ADD CONSTRAINT workshop_instances_state_check CHECK (state IN
    ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating', 'terminated', 'failed'));

ALTER TABLE workshop_instances ADD COLUMN suspended_at BIGINT;
ALTER TABLE workshop_instances ADD COLUMN resumed_at BIGINT;
-- UID of the Workshop from before the last resume.
ALTER TABLE workshop_instances ADD COLUMN former_uid TEXT;

DROP INDEX workshop_instances_volume;
CREATE INDEX workshop_instances_volume ON workshop_instances (volume)
    WHERE volume IS NOT NULL AND state IN ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating');
