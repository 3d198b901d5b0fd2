-- Volumes: the kept files of users. The fleet has the files, this table has their owners.
CREATE TABLE volumes (
    volume_id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE,
    owner_email TEXT NOT NULL,
    -- Empty for a volume that all templates of the kind home share.
    template_id TEXT NOT NULL,
    template_name TEXT,
    size TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    -- Set once the deletion is decided. The row is removed when the fleet has deleted the files.
    deleted_at BIGINT
);
-- At most one volume per user and template.
CREATE UNIQUE INDEX volumes_owner ON volumes (owner_email, template_id) WHERE deleted_at IS NULL;
CREATE INDEX volumes_owner_list ON volumes (owner_email, volume_id) WHERE deleted_at IS NULL;
CREATE INDEX volumes_unused ON volumes (last_used_at) WHERE deleted_at IS NULL;
CREATE INDEX volumes_deleted ON volumes (deleted_at) WHERE deleted_at IS NOT NULL;

-- Name of the volume that the instance uses.
ALTER TABLE workshop_instances ADD COLUMN volume TEXT;
CREATE INDEX workshop_instances_volume ON workshop_instances (volume)
    WHERE volume IS NOT NULL AND state IN ('queued', 'starting', 'running', 'terminating');
