-- Instances that ended before they left the queue are purged early. The state is named twice, as in the index of all ended
-- ones: only with it as a column SQLite prefers this index.
CREATE INDEX workshop_instances_withdrawn ON workshop_instances (state, ended_at)
    WHERE state = 'terminated' AND dispatched_at IS NULL;
