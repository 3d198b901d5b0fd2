-- Who launched, extended, ended, changed what. A line holds names as they were then and refers to no other row, because
-- it outlives what it tells of.
CREATE TABLE activities (
    -- The revision that the change took: the change's place in the one order of all changes.
    activity_id BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    -- NULL: the service itself.
    actor_email TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_name TEXT NOT NULL,
    -- NULL: of a template.
    owner_email TEXT,
    detail TEXT
);

-- Lists, newest first: what one person did, what happened to one person's, what happened to one thing.
CREATE INDEX activities_actor ON activities (actor_email, activity_id);
CREATE INDEX activities_owner ON activities (owner_email, activity_id);
CREATE INDEX activities_subject ON activities (subject, activity_id);
