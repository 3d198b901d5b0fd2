-- Latest announced time of the deletion, in milliseconds: a shorter retention deletes nothing earlier.
-- 0 for rows of an earlier version: nothing was recorded, and the current retention counts. NULL: kept without end.
ALTER TABLE volumes ADD COLUMN kept_until BIGINT DEFAULT 0;
ALTER TABLE snapshots ADD COLUMN kept_until BIGINT NOT NULL DEFAULT 0;
CREATE INDEX volumes_kept ON volumes ((kept_until - last_used_at)) WHERE deleted_at IS NULL;
CREATE INDEX snapshots_kept ON snapshots ((kept_until - created_at)) WHERE deleted_at IS NULL;
