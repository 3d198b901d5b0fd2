-- The token bucket of an owner's launches: when it will be full again. 0: full. A full bucket needs no row.
ALTER TABLE launch_gate ADD COLUMN full_at BIGINT NOT NULL DEFAULT 0;
