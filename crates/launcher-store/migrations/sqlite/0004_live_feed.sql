-- Who comes to the event stream is told of what has not ended, in the order of the changes, part by part; of the line
-- apart from that.
CREATE INDEX workshop_instances_live_feed ON workshop_instances (revision)
    WHERE state <> 'terminated' AND state <> 'queued';
