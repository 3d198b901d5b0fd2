-- Suspended instances: the Workshop is deleted, and created again when the instance is resumed.

-- SQLite cannot change the CHECK of a column. A new column replaces it, with the same indexes.
DROP INDEX workshop_instances_state;
DROP INDEX workshop_instances_live;
DROP INDEX workshop_instances_owner_state;
DROP INDEX workshop_instances_owner_live;
DROP INDEX workshop_instances_template_state;
DROP INDEX workshop_instances_template_live;
DROP INDEX workshop_instances_queue;
DROP INDEX workshop_instances_ended;
DROP INDEX workshop_instances_live_feed;
DROP INDEX workshop_instances_withdrawn;
DROP INDEX workshop_instances_outdated;
DROP INDEX workshop_instances_volume;
DROP INDEX workshop_instances_left_secrets;

ALTER TABLE workshop_instances ADD COLUMN new_state TEXT NOT NULL DEFAULT 'queued' CHECK (new_state IN
    ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating', 'terminated', 'failed'));
UPDATE workshop_instances SET new_state = state;
ALTER TABLE workshop_instances DROP COLUMN state;
ALTER TABLE workshop_instances RENAME COLUMN new_state TO state;

ALTER TABLE workshop_instances ADD COLUMN suspended_at BIGINT;
ALTER TABLE workshop_instances ADD COLUMN resumed_at BIGINT;
-- UID of the Workshop from before the last resume.
ALTER TABLE workshop_instances ADD COLUMN former_uid TEXT;

CREATE INDEX workshop_instances_state ON workshop_instances (state, instance_id);
CREATE INDEX workshop_instances_live ON workshop_instances (instance_id) WHERE state <> 'terminated';
CREATE INDEX workshop_instances_owner_state ON workshop_instances (owner_email, state, instance_id);
CREATE INDEX workshop_instances_owner_live ON workshop_instances (owner_email, instance_id)
    WHERE state <> 'terminated';
CREATE INDEX workshop_instances_template_state ON workshop_instances (template_id, state, instance_id);
CREATE INDEX workshop_instances_template_live ON workshop_instances (template_id, instance_id)
    WHERE state <> 'terminated';
CREATE INDEX workshop_instances_queue ON workshop_instances (state, launch_number) WHERE state = 'queued';
CREATE INDEX workshop_instances_ended ON workshop_instances (state, ended_at) WHERE state = 'terminated';
CREATE INDEX workshop_instances_live_feed ON workshop_instances (revision)
    WHERE state <> 'terminated' AND state <> 'queued';
CREATE INDEX workshop_instances_withdrawn ON workshop_instances (state, ended_at)
    WHERE state = 'terminated' AND dispatched_at IS NULL;
CREATE INDEX workshop_instances_outdated ON workshop_instances (state, instance_id) WHERE outdated = 1;
CREATE INDEX workshop_instances_volume ON workshop_instances (volume)
    WHERE volume IS NOT NULL AND state IN ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating');
CREATE INDEX workshop_instances_left_secrets ON workshop_instances (state)
    WHERE secrets IS NOT NULL AND state IN ('terminating', 'terminated', 'failed');
