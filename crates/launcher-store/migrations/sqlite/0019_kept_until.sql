-- Latest announced time of the deletion, in milliseconds: a shorter retention deletes nothing earlier.
-- A volume with NULL is kept until a time is recorded, as are the volumes of an earlier version: what their owners were shown
-- is unknown. For a snapshot of an earlier version, 0 stands for the current retention.
ALTER TABLE volumes ADD COLUMN kept_until BIGINT;
ALTER TABLE snapshots ADD COLUMN kept_until BIGINT NOT NULL DEFAULT 0;
CREATE INDEX volumes_kept ON volumes ((kept_until - last_used_at)) WHERE deleted_at IS NULL;
CREATE INDEX snapshots_kept ON snapshots ((kept_until - created_at)) WHERE deleted_at IS NULL;
