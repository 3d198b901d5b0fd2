-- Times are milliseconds since the epoch, identifiers are hyphenated lower-case text, JSON is text, truth is 0 or 1:
-- the same on every engine.
--
-- COLLATE "C": what is ordered, compared or in an index is compared byte by byte, whatever the database's language, and
-- no index breaks when an operating system changes its rules of sorting.

CREATE TABLE workshop_templates (
    template_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    settings TEXT NOT NULL,
    active BIGINT NOT NULL CHECK (active IN (0, 1)),
    version BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX workshop_templates_newest ON workshop_templates (created_at, template_id);
CREATE INDEX workshop_templates_active ON workshop_templates (created_at, template_id) WHERE active = 1;

-- No cascade: a template that an instance refers to cannot be removed.
CREATE TABLE workshop_instances (
    instance_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    k8s_name TEXT COLLATE "C" NOT NULL UNIQUE,
    owner_email TEXT COLLATE "C" NOT NULL,
    template_id TEXT COLLATE "C" NOT NULL REFERENCES workshop_templates (template_id),
    settings TEXT NOT NULL,
    state TEXT COLLATE "C" NOT NULL
        CHECK (state IN ('queued', 'starting', 'running', 'terminating', 'terminated', 'failed')),
    reason TEXT,
    log_tail TEXT,
    url TEXT,
    created_at BIGINT NOT NULL,
    dispatched_at BIGINT,
    started_at BIGINT,
    expires_at BIGINT,
    ended_at BIGINT,
    end_reason TEXT,
    spec_version BIGINT NOT NULL,
    applied_version BIGINT NOT NULL,
    workshop_uid TEXT,
    -- The change of this row in the one order of all changes.
    revision BIGINT NOT NULL,
    -- The revision of the launch: the order of the queue.
    launch_number BIGINT NOT NULL UNIQUE
);

-- Lists, newest first: everybody's, one owner's, one template's; each for all rows, one state, and what has not ended.
CREATE INDEX workshop_instances_state ON workshop_instances (state, instance_id);
CREATE INDEX workshop_instances_live ON workshop_instances (instance_id) WHERE state <> 'terminated';
CREATE INDEX workshop_instances_owner ON workshop_instances (owner_email, instance_id);
CREATE INDEX workshop_instances_owner_state ON workshop_instances (owner_email, state, instance_id);
CREATE INDEX workshop_instances_owner_live ON workshop_instances (owner_email, instance_id)
    WHERE state <> 'terminated';
CREATE INDEX workshop_instances_template ON workshop_instances (template_id, instance_id);
CREATE INDEX workshop_instances_template_state ON workshop_instances (template_id, state, instance_id);
CREATE INDEX workshop_instances_template_live ON workshop_instances (template_id, instance_id)
    WHERE state <> 'terminated';

-- The loops: who is next, what the fleet has not been told, what changed, what is old enough to go. Here two of these do
-- not name their state as a column, as they do on SQLite: PostgreSQL takes the condition of an index for granted, and
-- could then enter it by its second column only.
CREATE INDEX workshop_instances_queue ON workshop_instances (launch_number) WHERE state = 'queued';
CREATE INDEX workshop_instances_pending ON workshop_instances (revision) WHERE applied_version < spec_version;
CREATE UNIQUE INDEX workshop_instances_feed ON workshop_instances (revision);
CREATE INDEX workshop_instances_owner_feed ON workshop_instances (owner_email, revision);
CREATE INDEX workshop_instances_ended ON workshop_instances (ended_at) WHERE state = 'terminated';

-- A key is useful only as long as its instance's row exists.
CREATE TABLE idempotency_keys (
    owner_email TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    body_hash TEXT NOT NULL,
    k8s_name TEXT COLLATE "C" NOT NULL REFERENCES workshop_instances (k8s_name) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (owner_email, idempotency_key)
);

CREATE INDEX idempotency_keys_instance ON idempotency_keys (k8s_name);

-- One row an owner: writing it first makes one owner's launches wait for each other, so that limits hold exactly on an
-- engine that locks rows instead of the whole database.
CREATE TABLE launch_gate (
    owner_email TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    launches BIGINT NOT NULL
);

-- One row: the last revision that was given away.
CREATE TABLE change_counter (
    counter_id BIGINT NOT NULL PRIMARY KEY CHECK (counter_id = 1),
    revision BIGINT NOT NULL
);

INSERT INTO change_counter (counter_id, revision) VALUES (1, 0);

-- One row at most: the fleet that the instances belong to. Another fleet does not have their Workshops.
CREATE TABLE fleet_binding (
    binding_id BIGINT NOT NULL PRIMARY KEY CHECK (binding_id = 1),
    fleet TEXT NOT NULL
);
