-- Instances that ended before they left the queue are purged early.
CREATE INDEX workshop_instances_withdrawn ON workshop_instances (ended_at)
    WHERE state = 'terminated' AND dispatched_at IS NULL;
