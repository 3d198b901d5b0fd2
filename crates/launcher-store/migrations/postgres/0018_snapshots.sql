-- Snapshots: archives of the files of workshops without a volume, saved at their planned end. The object store has the
-- archives, this table has their owners.
CREATE TABLE snapshots (
    -- Identifier of the instance, and name of the object.
    snapshot_id TEXT PRIMARY KEY NOT NULL,
    owner_email TEXT NOT NULL,
    template_id TEXT NOT NULL,
    template_name TEXT NOT NULL,
    k8s_name TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- Set once the deletion is decided. The row is removed when the object is deleted.
    deleted_at BIGINT
);
CREATE INDEX snapshots_owner ON snapshots (owner_email, snapshot_id) WHERE deleted_at IS NULL;
CREATE INDEX snapshots_old ON snapshots (created_at) WHERE deleted_at IS NULL;
CREATE INDEX snapshots_deleted ON snapshots (deleted_at) WHERE deleted_at IS NOT NULL;

-- JSON with the state of the instance's snapshot; NULL if none is planned.
ALTER TABLE workshop_instances ADD COLUMN snapshot TEXT;
CREATE INDEX workshop_instances_snapshot ON workshop_instances (state, expires_at) WHERE snapshot IS NOT NULL;
